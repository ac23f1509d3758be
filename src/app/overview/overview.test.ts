import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { startFhirServer } from '../../../test-support/fhir-server/start.ts';
import { documentedCalls } from '../../../test-support/http/documented-answers.ts';
import { createClinic } from '../../../test-support/publish/publish-records.ts';
import { seedRecords } from '../../../test-support/records/seed-tenant.ts';
import {
  type AccountOptions,
  startTestApi,
  type Tenant,
  type TestAccount,
  type TestApi,
} from '../../../test-support/service/api.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createFhirServer } from '../../publish/servers/manage-fhir-servers.ts';
import { ACTIVITY_RETENTION } from '../../tenancy/activity/activity.store.ts';
import { createActivityRecorder } from '../../tenancy/activity/record-activity.ts';
import { setModules } from '../../tenancy/organisations/facilities.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { runRetention } from '../../tenancy/organisations/retention.ts';

const NOW = new Date('2026-01-10T11:20:00Z');
let api: TestApi;
let tenant: Tenant;
let documented: Awaited<ReturnType<typeof documentedCalls>>;
before(async () => {
  api = await startTestApi({ now: NOW });
  documented = await documentedCalls(api);
  tenant = await api.createTenant();
});
after(() => api.close());

const run = (text: string, values: unknown[]) => api.database.pool.query({ text, values });
async function overviewOf({ token }: { token: string }): Promise<Record<string, number>> {
  const answer = documented('GET', '/overview', await api.call('/overview', { token }));
  assert.equal(answer.status, 200, answer.text);
  return Object.fromEntries(
    answer.json.attention.map(({ kind, count }: { kind: string; count: number }) => [kind, count]),
  );
}
const accountWith = (options: AccountOptions) => api.createAccount(tenant, options);
const activityOf = async ({ token }: { token: string }, query = '') =>
  documented('GET', '/overview/activity', await api.call(`/overview/activity${query}`, { token }));

async function trouble(): Promise<void> {
  const { organisationId, facilityId } = tenant;
  const { connectionId } = await seedRecords(api.database.pool, tenant);
  await run('update exchange_connection set disabled_at = null where id = $1', [connectionId]);
  await run(
    'insert into exchange_circuit (organisation_id, connection_id, opened_at) values ($1, $2, now()) on conflict (organisation_id, connection_id) do update set opened_at = now()',
    [organisationId, connectionId],
  );
  for (const [state, alive, started] of [
    ['rejected', 'now()', 'now()'],
    ['failed', 'now()', 'now()'],
    ['running', `now() - interval '2 minutes'`, 'now()'],
    ['running', 'now()', 'now()'],
    ['rejected', 'now()', `now() - interval '8 days'`],
  ])
    await run(
      `insert into import_run (organisation_id, facility_id, id, source, state, alive_at, started_at)
       values ($1, $2, $3, 'http', $4, ${alive}, ${started})`,
      [organisationId, facilityId, randomUUID(), state],
    );
  for (const code of ['GLU', 'HB'])
    await run(
      `insert into terminology_unmapped (organisation_id, facility_id, local_system, local_code, place, met_count,
         first_met_at, last_met_at) values ($1, $2, 'urn:lab', $3, 'lab.result', 4, now(), now())`,
      [organisationId, facilityId, code],
    );
  await accountWith({ mustChangePassword: true });
  await accountWith({ mustChangePassword: true, userType: 'STAFF' });
  const { userId } = await accountWith({});
  await run('update account set requires_password_setup = true where id = $1', [userId]);
  await createFhirServer(
    { db: api.database.pool, keys: api.keys },
    {
      organisationId,
      settings: { name: 'away', base: 'http://127.0.0.1:9', auth: 'none' },
      secret: undefined,
      makeDefault: false,
    },
  );
  const { rows } = await run('select id from publish_target where organisation_id = $1', [organisationId]);
  await run(
    `insert into publish_run (organisation_id, facility_id, id, subject_kind, subject_id, target_id, chain_id, account_id,
       purpose_of_use, correlation_id, started_at, finished_at, outcome, failure)
     values ($1, $2, $3, 'lab-order', $3, $4, $3, $3, 'OPS', 'c', now(), now(), 'failed', 'It broke.')`,
    [organisationId, facilityId, randomUUID(), rows[0]?.id],
  );
}

test('each permission shows its kind, and no other [ADM-52]', async () => {
  await trouble();
  const wanted: Record<string, Record<string, number>> = {
    'exchange.deliveries.read': { 'held-deliveries': 1 },
    'exchange.connections.manage': { 'exchanges-down': 1 },
    'publish.publications.read': { 'failing-targets': 1 },
    'records.import': { 'rejected-imports': 3 },
    'terminology.maps.read': { 'unmapped-codes': 2 },
    'terminology.maps.manage': { 'unmapped-codes': 2 },
    'accounts.manage': { 'accounts-must-change-password': 1, 'accounts-require-password-setup': 1 },
    'people.manage': { 'accounts-must-change-password': 1 },
    'roles.manage': {},
  };
  for (const [permission, shown] of Object.entries(wanted))
    assert.deepEqual(await overviewOf(await accountWith({ permissions: [permission] })), shown, permission);
  const all = await overviewOf(await accountWith({ permissions: Object.keys(wanted) }));
  // Of a system and of a person.
  assert.deepEqual(all, {
    ...Object.assign({}, ...Object.values(wanted)),
    'accounts-must-change-password': 2,
  });
});

test('an account is counted once, by its state, and each kind says which types its accounts are of [ADM-52]', async () => {
  const tenant = await api.createTenant();
  const create = (options: AccountOptions) => api.createAccount(tenant, options);
  const reader = await create({ permissions: ['accounts.manage', 'people.manage'] });
  const { userId } = await create({ mustChangePassword: true });
  await create({ mustChangePassword: true, userType: 'STAFF' });
  await run('update account set requires_password_setup = true where id = $1', [userId]);
  const { json } = await api.call('/overview', { token: reader.token });
  assert.deepEqual(json.attention, [
    { kind: 'accounts-must-change-password', count: 1, more: false, userTypes: ['STAFF'] },
    { kind: 'accounts-require-password-setup', count: 1, more: false, userTypes: ['EHR'] },
  ]);
});

test('what is mended, or nobody waits for, is counted no more [ADM-52]', async () => {
  const reader = await accountWith({
    permissions: ['exchange.connections.manage', 'publish.publications.read', 'accounts.manage'],
  });
  const asked = 'where organisation_id = $1';
  for (const [kind, mend, undo] of [
    [
      'exchanges-down',
      `update exchange_circuit set opened_at = null ${asked}`,
      `update exchange_circuit set opened_at = now() ${asked}`,
    ],
    [
      'exchanges-down',
      `update exchange_connection set disabled_at = now() ${asked}`,
      `update exchange_connection set disabled_at = null ${asked}`,
    ],
    [
      'failing-targets',
      `update publish_target set disabled_at = now() ${asked}`,
      `update publish_target set disabled_at = null ${asked}`,
    ],
    [
      'failing-targets',
      `update publish_run set outcome = 'done', failure = null ${asked}`,
      `update publish_run set outcome = 'failed', failure = 'It broke.' ${asked}`,
    ],
    [
      'accounts-must-change-password',
      `update account set disabled_at = now() ${asked} and must_change_password`,
      `update account set disabled_at = null ${asked} and must_change_password`,
    ],
  ] as const) {
    assert.equal((await overviewOf(reader))[kind], 1, kind);
    await run(mend, [tenant.organisationId]);
    assert.equal((await overviewOf(reader))[kind], undefined, mend);
    await run(undo, [tenant.organisationId]);
  }
  await run(
    `insert into publish_run (organisation_id, facility_id, id, subject_kind, subject_id, target_id, chain_id, account_id,
       purpose_of_use, correlation_id, started_at, finished_at, outcome)
     select organisation_id, facility_id, gen_random_uuid(), subject_kind, gen_random_uuid(), target_id, gen_random_uuid(),
       account_id, 'OPS', 'c', now(), now() + interval '1 second', 'done' from publish_run ${asked}`,
    [tenant.organisationId],
  );
  assert.equal((await overviewOf(reader))['failing-targets'], undefined, 'it succeeded since');
});

test('a module that is off hides its kinds [ADM-52]', async () => {
  const account = await accountWith({ permissions: ['exchange.deliveries.read', 'records.import'] });
  await run(`delete from facility_module where facility_id = $1 and module = 'exchange'`, [
    tenant.facilityId,
  ]);
  const fresh = await api.addNode();
  const answer = await fresh.call('/overview', { token: account.token });
  assert.deepEqual(
    answer.json.attention.map(({ kind }: { kind: string }) => kind),
    ['rejected-imports'],
  );
  await run(
    `insert into facility_module (organisation_id, facility_id, module) values ($1, $2, 'exchange')`,
    [tenant.organisationId, tenant.facilityId],
  );
});

test('a kind is counted up to 1,000, and says that there are more [ADM-53]', async () => {
  const busy = await api.createTenant();
  const { token } = await api.createAccount(busy, { permissions: ['records.import'] });
  const add = (count: number) =>
    run(
      `insert into import_run (organisation_id, facility_id, id, source, state)
       select $1, $2, gen_random_uuid(), 'http', 'rejected' from generate_series(1, $3)`,
      [busy.organisationId, busy.facilityId, count],
    );
  const attention = async () => (await api.call('/overview', { token })).json.attention;
  await add(1_000);
  assert.deepEqual(await attention(), [{ kind: 'rejected-imports', count: 1_000, more: false }]);
  await add(5);
  assert.deepEqual(await attention(), [{ kind: 'rejected-imports', count: 1_000, more: true }]);
});

test('other facilities and organisations see nothing of it [ADM-52, ADM-55]', async () => {
  const elsewhere = { ...tenant, facilityId: await api.createFacility(tenant.organisationId) };
  for (const place of [elsewhere, await api.createTenant()]) {
    const other = await api.createAccount(place);
    assert.deepEqual(await overviewOf(other), {});
  }
  const reader = await accountWith({ permissions: ['patients.patients.get'] });
  for (const path of ['/overview', '/overview/activity']) {
    assert.equal((await api.call(path, { token: reader.token })).status, 403);
    assert.equal((await api.call(path)).status, 401);
  }
});

/** The points of a series that are not 0, by how many hours ago. */
async function pointsOf(account: TestAccount, name: string, query = ''): Promise<Record<number, number>> {
  const { json, text } = await activityOf(account, query);
  const series = json.series.find((one: { name: string }) => one.name === name);
  assert.ok(series, text);
  const hours = series.points.length;
  return Object.fromEntries(
    series.points
      .map((count: number, index: number) => [hours - 1 - index, count])
      .filter(([, count]: [number, number]) => count > 0),
  );
}

test('calls and publishes are counted by facility and hour, and by how they ended [ADM-55, ADM-56]', async (t) => {
  const server = await startFhirServer('--no-integrity');
  t.after(() => server.stop());
  const place = await api.createTenant();
  const account = await api.createAccount(place);
  const { orderId } = await createClinic(api.database.pool, {
    results: 1,
    scope: { ...place, timeZone: 'UTC' },
  });
  const target = (name: string, base: string) =>
    createFhirServer(
      { db: api.database.pool, keys: api.keys },
      {
        organisationId: place.organisationId,
        settings: { name, base, auth: 'none' },
        secret: undefined,
        makeDefault: false,
      },
    );
  await target('main', server.base);
  await target('strict', server.base);
  const publish = (name: string) =>
    api.call(`/investigations/lab/orders/${orderId}/clinical/publish-fhir?target=${name}`, {
      method: 'POST',
      token: account.token,
    });
  assert.equal((await publish('main')).status, 200);
  await run(
    `update publish_target set base = base || '/nowhere', version = version + 1 where name = 'strict'`,
    [],
  );
  assert.equal((await publish('strict')).status, 502);
  assert.equal((await api.call('/patients/base/nobody', { token: account.token })).status, 404);
  await waitUntil(async () => (await pointsOf(account, 'calls-refused'))[0] === 1);
  assert.equal((await pointsOf(account, 'calls-failed'))[0], 1);
  assert.ok(((await pointsOf(account, 'calls'))[0] ?? 0) >= 3);
  assert.deepEqual(await pointsOf(account, 'publishes'), { 0: 2 });
  assert.deepEqual(await pointsOf(account, 'publish-failures'), { 0: 1 });
  assert.deepEqual(await pointsOf(account, 'deliveries'), {});
});

test('a call that is refused at its facility counts there, whatever refuses it [ADM-56]', async () => {
  const place = await api.createTenant();
  const reader = await api.createAccount(place);
  const without = await api.createAccount(place, { permissions: ['patients.patients.list'] });
  const toChange = await api.createAccount(place, { mustChangePassword: true });
  const statusOf = async ({ token }: TestAccount, headers = {}) =>
    (await api.call('/roles', { token, headers })).status;
  assert.equal(await statusOf(without), 403);
  assert.equal(await statusOf(toChange), 403);
  await setModules(api.database.pool, { ...place, modules: ['encounters'] });
  assert.equal((await api.call('/patients/base/nobody', { token: reader.token })).status, 403);
  // Of a facility that the account may not use, nothing is counted.
  assert.equal(await statusOf(without, { 'x-facility-id': tenant.facilityId }), 403);
  await waitUntil(async () => (await pointsOf(reader, 'calls-refused'))[0] === 3);
});

test('hours stand in their place, up to 168 of them [ADM-55]', async () => {
  const place = await api.createTenant();
  const account = await api.createAccount(place);
  const count = (facilityId: string, at: string, kind: string, counted: number) =>
    run(
      'insert into activity_hour (organisation_id, facility_id, hour, kind, count) values ($1, $2, $3, $4, $5)',
      [place.organisationId, facilityId, at, kind, counted],
    );
  for (const [at, counted] of [
    ['2026-01-10T11:00:00Z', 7],
    ['2026-01-10T10:00:00Z', 3],
    ['2026-01-09T12:00:00Z', 2],
    ['2026-01-09T11:00:00Z', 4],
  ] as const)
    await count(place.facilityId, at, 'deliveries', counted);
  const elsewhere = await api.createFacility(place.organisationId);
  await count(elsewhere, '2026-01-10T10:00:00Z', 'deliveries', 9);
  const { json } = await activityOf(account);
  assert.deepEqual(
    [json.from, json.to, json.stepSeconds],
    ['2026-01-09T12:00:00.000Z', '2026-01-10T12:00:00.000Z', 3600],
  );
  assert.ok(json.series.every(({ points }: { points: number[] }) => points.length === 24));
  assert.deepEqual(await pointsOf(account, 'deliveries'), { 0: 7, 1: 3, 23: 2 });
  assert.deepEqual(await pointsOf(account, 'deliveries', '?hours=168'), { 0: 7, 1: 3, 23: 2, 24: 4 });
  const kinds = {
    'calls-answered': 16,
    'calls-refused': 8,
    'calls-failed': 4,
    publishes: 2,
    'publish-failures': 1,
  };
  for (const [kind, counted] of Object.entries(kinds))
    await count(place.facilityId, '2026-01-10T09:00:00Z', kind, counted);
  const sums = { calls: 28, 'calls-refused': 8, 'calls-failed': 4, publishes: 3, 'publish-failures': 1 };
  for (const [name, sum] of Object.entries(sums)) assert.equal((await pointsOf(account, name))[2], sum, name);
  for (const bad of ['hours=25', 'hours=x']) assert.equal((await activityOf(account, `?${bad}`)).status, 400);
});

test('what one process counts is added to what another counted [ADM-56]', async () => {
  const place = await api.createTenant();
  const account = await api.createAccount(place);
  const failed = (error: unknown) => assert.fail(String(error));
  const recorders = [0, 1].map(() =>
    createActivityRecorder({ db: api.database.pool, now: () => NOW, onError: failed }),
  );
  for (const recorder of recorders) for (let n = 0; n < 3; n += 1) recorder.note(place, 'delivery-failures');
  for (const recorder of recorders) await recorder.close();
  assert.deepEqual(await pointsOf(account, 'delivery-failures'), { 0: 6 });
});

test('old hours are removed [ADM-57]', async () => {
  const place = await api.createTenant();
  for (const days of [36, 34])
    await run(
      `insert into activity_hour (organisation_id, facility_id, hour, kind, count)
       values ($1, $2, now() - $3 * interval '1 day', 'publishes', 1)`,
      [place.organisationId, place.facilityId, days],
    );
  const context = { db: api.database.pool, work: createWorkWatch().of('retention') };
  const left = async () =>
    (await run('select from activity_hour where organisation_id = $1', [place.organisationId])).rowCount;
  await runRetention(context, [ACTIVITY_RETENTION], { dryRun: true });
  assert.equal(await left(), 2);
  await runRetention(context, [ACTIVITY_RETENTION], { dryRun: false });
  assert.equal(await left(), 1);
});
