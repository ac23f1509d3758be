/** Facilities as an administrator sees and changes them over HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useEmptyApi } from '../../../test-support/service/api.ts';

const api = await useEmptyApi();
const here = await api.createTenant({ modules: ['patients'] });
const otherId = await api.createFacility(here.organisationId);
const admin = await api.createAccount(here);

const patch = (facilityId: string, body: unknown, token = admin.token) =>
  api.call(`/facilities/${facilityId}`, { method: 'PATCH', token, body });

test('the facilities of the own account are listed, and no others [ADM-20]', async () => {
  const { json } = await api.call('/facilities', { token: admin.token });
  assert.deepEqual(json, {
    items: [{ id: here.facilityId, name: 'Test Facility', timeZone: 'UTC', modules: ['patients'] }],
    nextCursor: null,
  });
  const facilityIds = [here.facilityId, otherId];
  const { token } = await api.createAccount(here, { permissions: ['roles.manage'], facilityIds });
  const first = await api.call('/facilities?limit=1', { token });
  assert.equal(first.json.items[0].id, otherId);
  const second = await api.call(`/facilities?limit=1&cursor=${first.json.nextCursor}`, { token });
  assert.equal(second.json.items[0].id, here.facilityId);
});

test('a facility is changed from the next call on in every process [ADM-21]', async () => {
  const node = await api.addNode();
  const { token } = await api.createAccount(here);
  assert.equal((await node.call('/patients/base', { token })).status, 200);
  const body = { name: ' Ward ', timeZone: 'Africa/Lagos', modules: ['lab', 'encounters', 'lab'] };
  const changed = await patch(here.facilityId, body);
  const expected = {
    id: here.facilityId,
    name: 'Ward',
    timeZone: 'Africa/Lagos',
    modules: ['encounters', 'lab'],
  };
  assert.deepEqual(changed.json, expected);
  assert.equal((await node.call('/patients/base', { token })).status, 403);
  await node.close();
  const again = await patch(here.facilityId, { modules: ['patients'] });
  assert.deepEqual(again.json, { ...expected, modules: ['patients'] });
});

test('a change that is not valid, and a facility of somebody else, are refused whole [ADM-20, ADM-21]', async () => {
  const before = await api.call('/facilities', { token: admin.token });
  for (const bad of [
    { name: 'new', timeZone: 'Nowhere/None' },
    { name: '' },
    { name: 'new', modules: ['everything'] },
    { name: 'a\nb' },
    { owner: 'me' },
  ])
    assert.equal((await patch(here.facilityId, bad)).status, 400, JSON.stringify(bad));
  const foreign = await api.createTenant();
  for (const id of [otherId, foreign.facilityId, 'nonsense'])
    assert.equal((await patch(id, { name: 'mine' })).status, 404, id);
  const { token } = await api.createAccount(here, { permissions: ['roles.manage'] });
  assert.equal((await patch(here.facilityId, { name: 'mine' }, token)).status, 403);
  assert.deepEqual((await api.call('/facilities', { token: admin.token })).json, before.json);
});
