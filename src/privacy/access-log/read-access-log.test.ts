import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { connect } from '../../../test-support/exchange/exchange-records.ts';
import {
  insertEncounter,
  insertPatient,
  registerPatient,
} from '../../../test-support/records/clinical-records.ts';
import { useEmptyApi } from '../../../test-support/service/api.ts';
import { createPool } from '../../platform/db/database.ts';

const api = await useEmptyApi({ now: new Date('2026-03-10T09:00:00Z') });
const tenant = await api.createTenant({ timeZone: 'Europe/Berlin' });
const auditor = await api.createAccount(tenant, { permissions: ['patients.access-log.read'] });
const reader = await api.createAccount(tenant, {
  permissions: ['encounters.access', 'patients.patients.get'],
});

const log = (patientId: string, query = '', token = auditor.token) =>
  api.call(`/patients/base/${patientId}/access-log${query}`, { token });
const readPatient = (id: string, purposeOfUse: string) =>
  api.call(`/patients/base/${id}?purposeOfUse=${purposeOfUse}`, { token: reader.token });

/** A moment later, so that entries differ in time. */
function tick(ms = 1_000): void {
  api.clock.now = new Date(api.clock.now.getTime() + ms);
}

test('what was done is listed newest first, and reading it is listed from then on [LOG-18]', async () => {
  const patient = await insertPatient(api.database.pool, tenant, { refusedPurposes: ['RESEARCH'] });
  const encounter = await insertEncounter(api.database.pool, tenant, { patientId: patient });
  await api.call(`/encounters/fhir/Encounter/${encounter}?purposeOfUse=TREATMENT`, {
    token: reader.token,
    headers: { 'x-correlation-id': 'call-1' },
  });
  const readAt = api.clock.now.toISOString().replace('.000Z', 'Z');
  tick();
  await readPatient(patient, 'RESEARCH');
  tick();
  const first = await log(patient.toUpperCase());
  assert.equal(first.status, 200);
  assert.equal(first.json.nextCursor, null);
  const [refused, read] = first.json.items;
  assert.equal(first.json.items.length, 2);
  assert.deepEqual(read, {
    occurredAt: readAt,
    accountId: reader.userId,
    accountEmail: reader.email,
    connectionName: null,
    action: 'encounter.read',
    resourceType: 'Encounter',
    resourceId: encounter,
    purposeOfUse: 'TREATMENT',
    outcome: 'allowed',
    correlationId: 'call-1',
  });
  assert.equal(refused.action, 'patient.read');
  assert.equal(refused.outcome, 'refused');
  tick();
  const second = (await log(patient)).json.items;
  assert.deepEqual(second.slice(1), first.json.items);
  assert.equal(second[0].action, 'access-log.read');
  assert.equal(second[0].accountId, auditor.userId);
  assert.equal(second[0].purposeOfUse, 'OPS');
});

test('a delivery is shown with the name of the exchange that it was for', async () => {
  const patient = await insertPatient(api.database.pool, tenant);
  const deps = { pool: api.database.pool, keys: api.keys };
  const address = 'https://hie.example.org';
  await connect(deps, tenant, { address, name: 'Abuja HIE' });
  const { id } = await connect(deps, tenant, { address, name: 'Lagos HIE' });
  await api.runtime.accessLog.record([
    {
      ...tenant,
      patientId: patient,
      accountId: id,
      action: 'patient.deliver',
      resourceType: 'Patient',
      resourceId: patient,
      purposeOfUse: 'OPS',
      outcome: 'allowed',
      correlationId: 'delivery-1',
    },
  ]);
  const [shown] = (await log(patient)).json.items;
  assert.deepEqual([shown.accountId, shown.accountEmail, shown.connectionName], [id, null, 'Lagos HIE']);
});

test('it is filtered by time, account, action and outcome, and paged', async () => {
  const patient = await insertPatient(api.database.pool, tenant, { refusedPurposes: ['RESEARCH'] });
  api.clock.now = new Date('2026-03-10T09:01:00Z');
  for (const purpose of ['TREATMENT', 'RESEARCH', 'PAYMENT']) await readPatient(patient, purpose);
  const of = async (query: string) => (await log(patient, query)).json.items.length;
  assert.equal(await of('?action=patient.read'), 3);
  assert.equal(await of('?action=patient.read&outcome=refused'), 1);
  assert.equal(await of(`?account=${reader.userId.toUpperCase()}`), 3);
  assert.equal(await of(`?account=${randomUUID()}`), 0);
  assert.equal(await of(`?account=${reader.email.toUpperCase()}`), 3);
  assert.equal(await of(`?account=${auditor.email}&action=patient.read`), 0);
  assert.equal(await of('?account=nobody@example.org'), 0);
  assert.equal(await of('?action=patient.read&from=2026-03-10&to=2026-03-10'), 3);
  assert.equal(await of('?action=patient.read&from=2026-03-10T09:01:01Z'), 0);
  assert.equal(await of('?action=patient.read&from=2026-03-10T09:01Z&to=2026-03-10T09:01Z'), 3);
  assert.equal(await of('?action=patient.read&to=2026-03-10T09:00:59Z'), 0);
  assert.equal(await of('?action=patient.read&from=2026-03-11'), 0);
  const seen: string[] = [];
  let cursor = '';
  do {
    const { json } = await log(patient, `?action=patient.read&limit=1${cursor}`);
    assert.equal(json.items.length, 1);
    seen.push(json.items[0].purposeOfUse);
    cursor = json.nextCursor === null ? '' : `&cursor=${json.nextCursor}`;
  } while (cursor !== '');
  assert.deepEqual(seen, ['PAYMENT', 'RESEARCH', 'TREATMENT'], 'entries of one moment too, once each');
});

test('a day is a day of the facility', async () => {
  const patient = await insertPatient(api.database.pool, tenant);
  const before = api.clock.now;
  api.clock.now = new Date('2026-03-10T23:30:00Z');
  const late = await api.createAccount(tenant);
  await api.call(`/patients/base/${patient}`, { token: late.token });
  const of = async (day: string) =>
    (await log(patient, `?action=patient.read&from=${day}&to=${day}`, late.token)).json.items.length;
  assert.equal(await of('2026-03-11'), 1, 'it is half past midnight in Berlin');
  assert.equal(await of('2026-03-10'), 0);
  api.clock.now = before;
});

test('what was done at another facility stays there', async () => {
  const patient = await insertPatient(api.database.pool, tenant);
  const facilityId = await api.createFacility(tenant.organisationId);
  await registerPatient(api.database.pool, { ...tenant, facilityId }, patient);
  await readPatient(patient, 'OPS');
  const elsewhere = await api.createAccount({ ...tenant, facilityId });
  assert.deepEqual((await log(patient, '', elsewhere.token)).json.items, []);
});

test('a refused purpose is 403 and logged', async () => {
  const patient = await insertPatient(api.database.pool, tenant, { refusedPurposes: ['OPS'] });
  assert.equal((await log(patient)).status, 403);
  const { items } = (await log(patient, '?purposeOfUse=TREATMENT')).json;
  assert.deepEqual(
    items.map((item: { action: string; outcome: string }) => [item.action, item.outcome]),
    [['access-log.read', 'refused']],
  );
});

test('faulty filters and cursors are 400', async () => {
  const patient = await insertPatient(api.database.pool, tenant);
  await readPatient(patient, 'OPS');
  await readPatient(patient, 'OPS');
  const cursor = (await log(patient, '?limit=1')).json.nextCursor;
  const another = await insertPatient(api.database.pool, tenant);
  for (const query of [
    '?from=yesterday',
    '?to=2026-13-01',
    '?account=me',
    '?outcome=maybe',
    '?action=encounter.reads',
    '?limit=0',
    '?limit=101',
    '?cursor=x',
    '?action=a&action=b',
    '?purposeOfUse=NONE',
    `?cursor=${cursor}&outcome=allowed`,
  ])
    assert.equal((await log(patient, query)).status, 400, query);
  assert.equal((await log(another, `?cursor=${cursor}`)).status, 400);
  const misspelt = await log(patient, '?action=encounter.reads');
  assert.match(misspelt.json.message, /access-log\.read.*encounter\.read.*vital-set\.read/);
});

test('one 404 for what is not there, 401 and 403 before it [LOG-18]', async () => {
  const patient = await insertPatient(api.database.pool, tenant);
  const facilityId = await api.createFacility(tenant.organisationId);
  const elsewhere = await api.createAccount({ ...tenant, facilityId });
  const stranger = await api.createAccount(await api.createTenant());
  const answers = [
    await log(randomUUID()),
    await log('smith'),
    await log(patient, '', elsewhere.token),
    await log(patient, '', stranger.token),
  ];
  for (const answer of answers) {
    assert.equal(answer.status, 404);
    assert.deepEqual(answer.json, answers[0]?.json);
  }
  assert.equal((await api.call(`/patients/base/${patient}/access-log`)).status, 401);
  assert.equal((await log(patient, '', reader.token)).status, 403);
});

test('the answer says from when entries are in the database', async () => {
  const patient = await insertPatient(api.database.pool, tenant);
  assert.equal((await log(patient)).json.keptFrom, null);
  const owner = createPool({ url: api.database.adminUrl, max: 1, applicationName: 'owner' }, () => undefined);
  for (const month of ['2025-11', '2025-12'])
    await owner.query(`insert into access_log_archive values ($1, 1, '{"runs":[]}', now())`, [month]);
  await owner.end();
  assert.equal((await log(patient)).json.keptFrom, '2026-01-01T00:00:00Z');
});
