/** A dry run of a publish: what would be sent, and who may see it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isError, usePublishApi } from '../../../test-support/publish/publish-api.ts';
import { CLINICAL_MARKS } from '../../../test-support/publish/publish-records.ts';
import { setModules } from '../../tenancy/organisations/facilities.ts';
import { MODULES } from '../../tenancy/organisations/modules.ts';

const t = usePublishApi();

test('a dry run answers what would be sent, in order, and sends nothing [PUB-47]', async () => {
  await t.addTarget({ idPolicy: 'server', allowLocalCodes: true });
  await t.clinic.change({ observation: { code: { coding: [{ system: 'urn:lab', code: 'GLU-L' }] } } });
  const { status, json } = await t.post('?dryRun=true');
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json), ['orderId', 'target', 'dryRun', 'requests', 'unmapped', 'faults']);
  assert.equal((await t.server.state()).seen.length, 0);
  assert.deepEqual(
    json.requests.map(({ method, url, id }: { method: string; url: string; id: null }) => [method, url, id]),
    [
      ['POST', `${t.server.base}/ServiceRequest`, null],
      ['POST', `${t.server.base}/Observation`, null],
      ['POST', `${t.server.base}/Observation`, null],
      ['POST', `${t.server.base}/Observation`, null],
      ['POST', `${t.server.base}/DiagnosticReport`, null],
    ],
  );
  assert.deepEqual(
    json.unmapped.map(({ system, code }: { system: string; code: string }) => `${system}|${code}`),
    ['urn:lab|GLU-L'],
  );
  assert.deepEqual(
    json.faults.map(({ code, reference }: { code: string; reference: null }) => [code, reference]),
    [['code-allowed', null]],
  );
  assert.deepEqual((await t.get()).json.items, []);
  await t.post();
  const planned = await t.post('?dryRun=true');
  assert.ok(
    planned.json.requests.every(({ method, id }: { method: string; id: string }) => method === 'PUT' && id),
  );
  isError(await t.post('?dryRun=yes'), 400);
});

test('a dry run shows what its caller could read by another call, and the access log names it [PUB-48]', async () => {
  await t.addTarget({ referencePolicy: 'send' });
  const release = 'investigations.lab.release';
  const shown = async (permissions: string[], modules = [...MODULES]) => {
    await setModules(t.api.database.pool, { ...t.tenant, modules });
    const caller = await t.api.createAccount(t.tenant, { permissions: [release, ...permissions] });
    const { status, json, text } = await t.post('?dryRun=true', caller);
    assert.equal(status, 200, text);
    for (const { resourceType, localId, method, url } of json.requests)
      assert.deepEqual([method, url], ['PUT', `${t.server.base}/${resourceType}/${localId}`]);
    assert.equal(json.requests.length, 9);
    const { rows } = await t.api.database.pool.query(
      'select resource_type from access_log where account_id = $1 order by sequence',
      [caller.userId],
    );
    const types = json.requests.flatMap((one: { resourceType: string; resource?: object }) =>
      one.resource === undefined ? [] : [one.resourceType],
    );
    const marks = [...CLINICAL_MARKS, '1984-05-01'].filter((mark) => text.includes(mark));
    return { types: [...new Set(types)], marks, logged: rows.map(({ resource_type }) => resource_type) };
  };
  const nothing = { types: [], marks: [], logged: ['ServiceRequest'] };
  const reads = ['patients.patients.get', 'investigations.lab.list', 'encounters.fhir.encounter.read'];
  assert.deepEqual(await shown([]), nothing);
  assert.deepEqual((await shown(['investigations.lab.list'])).types, [
    'ServiceRequest',
    'Observation',
    'DiagnosticReport',
  ]);
  const patient = await shown(['patients.patients.get']);
  assert.deepEqual([patient.types, patient.logged], [['Patient'], ['ServiceRequest', 'Patient']]);
  assert.deepEqual((await shown(reads, ['lab', 'publish'])).logged, ['ServiceRequest']);
  const all = await shown(reads);
  assert.deepEqual(all.logged.toSorted(), ['Encounter', 'Patient', 'ServiceRequest']);
  assert.deepEqual(all.types.toSorted(), [
    'DiagnosticReport',
    'Encounter',
    'Observation',
    'Patient',
    'ServiceRequest',
  ]);
});

test('a dry run of what is sent later than what refers to it says so', async () => {
  await t.addTarget();
  const [first = '', second = ''] = t.clinic.observationIds;
  await t.clinic.change({ observation: { hasMember: [{ reference: `Observation/${second}` }] } });
  const { json } = await t.post('?dryRun=true');
  const step = (id: string) => json.requests.find(({ localId }: { localId: string }) => localId === id).step;
  assert.ok(step(second) < step(first));
  assert.deepEqual(json.faults, []);
});
