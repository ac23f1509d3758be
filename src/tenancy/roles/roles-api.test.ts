/** Roles as an administrator manages them over HTTP. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { useTestApi } from '../../../test-support/service/use-api.ts';
import { PERMISSIONS } from './permissions.ts';

const { api, tenant, account: admin } = await useTestApi();

const call = (path: string, options: { method?: string; body?: unknown; token?: string } = {}) =>
  api.call(path, { token: admin.token, ...options });

test('roles are listed by name with their holders, page by page [ADM-11]', async () => {
  const t = await api.createTenant();
  const { token } = await api.createAccount(t);
  const { json } = await call('/roles', {
    token,
    body: { name: 'a reader', permissions: ['encounters.access'] },
  });
  await api.database.pool.query(`update role set name = 'b all' where organisation_id = $1 and id <> $2`, [
    t.organisationId,
    json.id,
  ]);
  const first = await call('/roles?limit=1', { token });
  assert.deepEqual(first.json.items, [
    {
      id: json.id,
      name: 'a reader',
      permissions: ['encounters.access'],
      requiresSecondFactor: false,
      holders: { EHR: 0, STAFF: 0 },
    },
  ]);
  const second = await call(`/roles?limit=1&cursor=${first.json.nextCursor}`, { token });
  assert.deepEqual([second.json.items[0].holders, second.json.nextCursor], [{ EHR: 1, STAFF: 0 }, null]);
  assert.equal((await call('/roles?search=READ', { token })).json.items.length, 1);
});

test('each permission tells the calls that it opens, and presets hold known ones [ADM-12]', async () => {
  const { json } = await call('/roles/permissions');
  assert.deepEqual(
    json.items.map(({ name }: { name: string }) => name),
    Object.keys(PERMISSIONS),
  );
  const opened = new Map(json.items.map(({ name, opens }: never) => [name, JSON.stringify(opens)]));
  for (const { method, path, route } of api.api.routes) {
    if (route.access.kind !== 'facility') continue;
    const shown = JSON.stringify({ method, path: path.replace('/api/v1', ''), summary: route.docs.summary });
    for (const name of route.access.permissions) assert.ok(String(opened.get(name)).includes(shown), shown);
  }
  assert.deepEqual(
    json.presets.map(({ name }: { name: string }) => name),
    ['read-only', 'laboratory-partner', 'full'],
  );
  const [reading, , full] = json.presets;
  assert.deepEqual(full.permissions, Object.keys(PERMISSIONS));
  for (const { permissions } of json.presets)
    for (const name of permissions) assert.ok(name in PERMISSIONS, name);
  for (const name of reading.permissions) assert.match(name, /\.(?:list|get|read|access)$/);
});

test('the refusal of a name that is taken does not repeat it [HTTP-4]', async () => {
  const body = { name: `role ${randomUUID()}`, permissions: ['roles.manage'] };
  await call('/roles', { body });
  const { status, text } = await call('/roles', { body });
  assert.deepEqual([status, text.includes(body.name)], [409, false], text);
});

test('a role is made, and changed from the next call on in every process [ADM-14]', async () => {
  const name = `role ${randomUUID()}`;
  const made = await call('/roles', { body: { name, permissions: ['roles.manage', 'accounts.manage'] } });
  assert.equal(made.status, 201, made.text);
  assert.equal((await call('/roles', { body: { name, permissions: ['roles.manage'] } })).status, 409);
  const holder = await api.createAccount(tenant, { permissions: [] });
  const path = `/roles/${made.json.id}`;
  await call(`/accounts/${holder.userId}`, { method: 'PATCH', body: { roleId: made.json.id } });
  const other = `role ${randomUUID()}`;
  await call('/roles', { body: { name: other, permissions: ['roles.manage'] } });
  assert.equal(
    (await call(path, { method: 'PATCH', body: { name: other } })).status,
    409,
    'the name is taken',
  );
  const node = await api.addNode();
  assert.equal((await node.call('/roles', { token: holder.token })).status, 200);
  const body = { permissions: ['records.import'], requiresSecondFactor: true };
  const changed = await call(path, { method: 'PATCH', body });
  assert.deepEqual(changed.json, { id: made.json.id, name, ...body });
  assert.equal((await node.call('/roles', { token: holder.token })).status, 403);
  await node.close();
  for (const bad of [
    { permissions: [] },
    { permissions: ['everything'] },
    { name: '' },
    { name: ' ' },
    { name: 'two\nlines' },
    { holders: 1 },
  ])
    assert.equal((await call(path, { method: 'PATCH', body: bad })).status, 400, JSON.stringify(bad));
});

test('a role is deleted only when no account holds it [ADM-13]', async () => {
  const role = async () =>
    (await call('/roles', { body: { name: `role ${randomUUID()}`, permissions: ['records.import'] } })).json
      .id;
  const [held, free] = [await role(), await role()];
  const holder = await api.createAccount(tenant, { permissions: [] });
  await call(`/accounts/${holder.userId}`, { method: 'PATCH', body: { roleId: held } });
  const refused = await call(`/roles/${held}`, { method: 'DELETE' });
  assert.deepEqual([refused.status, /Accounts hold/.test(refused.json.message)], [409, true]);
  assert.equal((await call(`/roles/${free}`, { method: 'DELETE' })).status, 204);
  assert.equal((await call(`/roles/${free}`, { method: 'DELETE' })).status, 404);
});
