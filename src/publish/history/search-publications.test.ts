import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { serveFhir } from '../../../test-support/fhir-server/start.ts';
import { documentedCalls } from '../../../test-support/http/documented-answers.ts';
import { createClinic, type PublishClinic } from '../../../test-support/publish/publish-records.ts';
import { seedRecords } from '../../../test-support/records/seed-tenant.ts';
import { type Answer, startTestApi } from '../../../test-support/service/api.ts';
import { publishError } from '../errors.ts';
import { createFhirServer } from '../servers/manage-fhir-servers.ts';
import { listTargets } from './list-targets.ts';

const FIRST = '/investigations/lab/orders';

const api = await startTestApi();
const documented = await documentedCalls(api);
const server = await serveFhir('--no-integrity');
after(async () => {
  await server.stop();
  await api.close();
});
const tenant = await api.createTenant();
const account = await api.createAccount(tenant);
const scope = { ...tenant, timeZone: 'UTC' };
const clinics: PublishClinic[] = [
  await createClinic(api.database.pool, { results: 2, scope }),
  await createClinic(api.database.pool, { results: 1, scope }),
];

const addTarget = (name: string, base: string, organisationId: string | null = tenant.organisationId) =>
  createFhirServer(
    { db: api.database.pool, keys: api.keys },
    { organisationId, settings: { name, base, auth: 'none' }, secret: undefined, makeDefault: false },
  );
await addTarget('main', server.base);
await addTarget('away', 'http://127.0.0.1:9');
const publish = (clinic: PublishClinic | undefined, query = '') =>
  api.call(`${FIRST}/${clinic?.orderId}/clinical/publish-fhir${query}`, {
    method: 'POST',
    token: account.token,
  });
const PATH = '/publish/publications';
async function list(query = '', { token } = account): Promise<Answer> {
  return documented('GET', PATH, await api.call(PATH + query, { token }));
}
async function targets(token = account.token): Promise<Answer> {
  return documented('GET', '/publish/targets', await api.call('/publish/targets', { token }));
}
const recordsOf = ({ json, text }: Answer): string[] => {
  assert.ok(Array.isArray(json.items), text);
  return json.items.map((item: { recordId: string }) => item.recordId);
};

test('lists publishes across records, newest first, in pages, with their state and count [ADM-43]', async () => {
  for (const clinic of clinics) assert.equal((await publish(clinic)).status, 200);
  const all = await list();
  assert.deepEqual(recordsOf(all), [clinics[1]?.orderId, clinics[0]?.orderId]);
  const [newest] = all.json.items;
  assert.deepEqual([newest.kind, newest.target, newest.state, newest.failure], ['lab', 'main', 'done', null]);
  assert.equal(newest.stored, 3);
  const first = await list('?limit=1');
  const second = await list(`?limit=1&cursor=${first.json.nextCursor}`);
  assert.deepEqual([...recordsOf(first), ...recordsOf(second)], recordsOf(all));
  assert.equal(second.json.nextCursor, null);
  assert.equal((await list(`?limit=1&state=done&cursor=${first.json.nextCursor}`)).status, 400);
});

test('filters by kind, state, target and time [ADM-43]', async () => {
  const [, newest] = (await list()).json.items;
  assert.equal(recordsOf(await list('?kind=vitals')).length, 0);
  assert.equal(recordsOf(await list('?kind=lab&state=done&target=main')).length, 2);
  assert.equal(recordsOf(await list('?state=failed')).length, 0);
  assert.equal(recordsOf(await list('?target=away')).length, 0);
  assert.ok(newest);
  for (const none of ['since=2999-01-01', 'until=2000-01-01', 'kind=imaging'])
    assert.equal(recordsOf(await list(`?${none}`)).length, 0, none);
  // From the moment on that the newest began, and before it.
  const { rows } = await api.database.pool.query('select max(begun_at) as begun from publish_run');
  const begun = rows[0].begun.toISOString();
  assert.deepEqual(recordsOf(await list(`?since=${begun}`)), [clinics[1]?.orderId]);
  assert.deepEqual(recordsOf(await list(`?until=${begun}`)), [clinics[0]?.orderId]);
  assert.equal(recordsOf(await list('?until=2999-01-01&since=2000-01-01')).length, 2);
  for (const bad of ['kind=blood', 'state=lost', 'since=yesterday', 'limit=0', 'cursor=x'])
    assert.equal((await list(`?${bad}`)).status, 400, bad);
});

test('of one patient: only theirs, logged, and closed when the patient refuses [ADM-44]', async () => {
  const [clinic] = clinics;
  const patientId = clinic?.patientId;
  assert.deepEqual(recordsOf(await list(`?patient=Patient/${patientId}`)), [clinic?.orderId]);
  const log = await api.call(`/patients/base/${patientId}/access-log?action=publication.list`, {
    token: account.token,
  });
  assert.equal(log.json.items[0].outcome, 'allowed');
  assert.equal((await list(`?patient=${randomUUID()}`)).status, 404);
  assert.equal((await list('?patient=nobody')).status, 404);
  const refuse = (refusedPurposes: string[]) =>
    api.call(`/patients/base/${patientId}/privacy`, {
      method: 'PUT',
      token: account.token,
      body: { refusedPurposes },
    });
  await refuse(['RESEARCH']);
  assert.equal((await list(`?patient=${patientId}&purposeOfUse=RESEARCH`)).status, 403);
  await refuse([]);
});

test('publishes of every kind of record are listed, also as those of their patient [ADM-43, ADM-44]', async () => {
  const place = await api.createTenant();
  const reader = await api.createAccount(place);
  const { patientId, labOrderId, imagingOrderId, vitalSetId } = await seedRecords(api.database.pool, place);
  await addTarget('theirs', server.base, place.organisationId);
  const records = { lab: labOrderId, imaging: imagingOrderId, vitals: vitalSetId };
  const kinds = { lab: 'lab-order', imaging: 'imaging-order', vitals: 'vital-set' };
  for (const [kind, id] of Object.entries(records))
    await api.database.pool.query(
      `insert into publish_run (organisation_id, facility_id, id, subject_kind, subject_id, target_id, chain_id,
         account_id, purpose_of_use, correlation_id, started_at, outcome)
       select $1, $2, gen_random_uuid(), $3, $4, t.id, $4, $5, 'OPS', 'c', now(), 'running'
       from publish_target t where t.organisation_id = $1`,
      [place.organisationId, place.facilityId, kinds[kind as keyof typeof kinds], id, reader.userId],
    );
  const all = Object.values(records).sort();
  assert.deepEqual(recordsOf(await list('', reader)).sort(), all);
  assert.deepEqual(recordsOf(await list(`?patient=${patientId}`, reader)).sort(), all);
  for (const [kind, id] of Object.entries(records))
    assert.deepEqual(recordsOf(await list(`?kind=${kind}`, reader)), [id], kind);
});

test('without a patient no local code is told [ADM-45]', async () => {
  const [clinic] = clinics;
  const secret = 'http://hospital.example/lab|HIV-1';
  const failure = publishError('unmapped_codes', { codes: [secret] }).message;
  await api.database.pool.query(
    `update publish_run set outcome = 'failed', failure = $2 where subject_id = $1`,
    [clinic?.orderId, failure],
  );
  const told = await list('?state=failed');
  assert.equal(told.json.items.length, 1);
  assert.match(told.json.items[0].failure, /Local codes/);
  assert.ok(!told.text.includes('HIV-1'));
  assert.ok(!(await targets()).text.includes('HIV-1'));
  assert.ok((await list(`?patient=${clinic?.patientId}`)).text.includes('HIV-1'));
  await api.database.pool.query(
    `update publish_run set outcome = 'done', failure = null where subject_id = $1`,
    [clinic?.orderId],
  );
});

test('is closed to other facilities and organisations, and without its permission [ADM-43]', async () => {
  const elsewhere = { ...tenant, facilityId: await api.createFacility(tenant.organisationId) };
  const neighbour = await api.createAccount(elsewhere);
  const stranger = await api.createAccount(await api.createTenant());
  for (const other of [neighbour, stranger]) {
    assert.deepEqual(recordsOf(await list('', other)), []);
    assert.equal((await list(`?patient=${clinics[0]?.patientId}`, other)).status, 404);
  }
  const powerless = await api.createAccount(tenant, { permissions: ['investigations.lab.release'] });
  assert.equal((await list('', powerless)).status, 403);
  assert.equal((await api.call(PATH)).status, 401);
  const publisher = await targets(powerless.token);
  assert.deepEqual(
    publisher.json.items.map(({ name }: { name: string }) => name),
    ['away', 'main'],
  );
});

test('targets: without secrets, the own one before that of all, with the default [ADM-41]', async () => {
  await addTarget('main', 'https://fhir.example.org/all', null);
  await addTarget('shared', 'https://fhir.example.org/shared', null);
  const { json, text } = await targets();
  const shown = json.items.map((item: Record<string, unknown>) => [item.name, item.scope, item.default]);
  assert.deepEqual(shown, [
    ['away', 'organisation', false],
    ['main', 'organisation', true],
    ['shared', 'deployment', false],
  ]);
  assert.equal(json.items[1].base, server.base);
  assert.doesNotMatch(text, /secret/i);
  const stranger = await api.createAccount(await api.createTenant());
  const theirs = (await targets(stranger.token)).json.items;
  assert.deepEqual(
    theirs.map((item: Record<string, unknown>) => [item.name, item.scope, item.default, item.lastSuccessAt]),
    [
      ['main', 'deployment', true, null],
      ['shared', 'deployment', false, null],
    ],
  );
});

test('targets: the state, the last success and the last failure [ADM-42]', async () => {
  const stateOf = async (name: string) =>
    (await targets()).json.items.find((item: { name: string }) => item.name === name);
  const good = await stateOf('main');
  assert.deepEqual([good.state, good.enabled, good.lastFailure], ['closed', true, null]);
  assert.match(good.lastSuccessAt, /^20/);
  assert.equal((await stateOf('away')).lastFailure, null);
  const { rows } = await api.database.pool.query(`select id from publish_target where name = 'away'`);
  const fail = (at: string, failure: string) =>
    api.database.pool.query(
      `insert into publish_run (organisation_id, facility_id, id, subject_kind, subject_id, target_id, chain_id,
         account_id, purpose_of_use, correlation_id, started_at, begun_at, finished_at, outcome, failure)
       values ($1, $2, $3, 'lab-order', $3, $4, $3, $3, 'OPS', 'c', $5, $5, $5, 'failed', $6)`,
      [tenant.organisationId, tenant.facilityId, randomUUID(), rows[0]?.id, at, failure],
    );
  await fail('2026-01-10T11:00:00Z', 'It broke.');
  await fail('2026-01-10T10:00:00Z', 'It broke before.');
  assert.deepEqual((await stateOf('away')).lastFailure, {
    at: '2026-01-10T11:00:00.000Z',
    message: 'It broke.',
  });
  const elsewhere = { ...tenant, facilityId: await api.createFacility(tenant.organisationId) };
  const theirs = (await targets((await api.createAccount(elsewhere)).token)).json.items;
  for (const { lastSuccessAt, lastFailure } of theirs)
    assert.deepEqual([lastSuccessAt, lastFailure], [null, null], 'of the facility alone');
  const publisher = { stateOf: (id: string) => (id === rows[0]?.id ? 'open' : 'closed') } as const;
  const scope = { ...tenant, timeZone: 'UTC' };
  const states = (await listTargets({ db: api.database.pool, publisher }, scope)).map((one) => one.state);
  assert.deepEqual(states, ['open', 'closed', 'closed'], 'as the process knows it');
});
