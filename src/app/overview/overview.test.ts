import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { documentedCalls } from '../../../test-support/http/documented-answers.ts';
import { seedRecords } from '../../../test-support/records/seed-tenant.ts';
import { type AccountOptions, useEmptyApi } from '../../../test-support/service/api.ts';
import { createFhirServer } from '../../publish/servers/manage-fhir-servers.ts';

const NOW = new Date('2026-01-10T11:20:00Z');
const api = await useEmptyApi({ now: NOW });
const documented = await documentedCalls(api);
const tenant = await api.createTenant();

const run = (text: string, values: unknown[]) => api.database.pool.query({ text, values });
async function overviewOf({ token }: { token: string }): Promise<Record<string, number>> {
  const answer = documented('GET', '/overview', await api.call('/overview', { token }));
  assert.equal(answer.status, 200, answer.text);
  return Object.fromEntries(
    answer.json.attention.map(({ kind, count }: { kind: string; count: number }) => [kind, count]),
  );
}
const accountWith = (options: AccountOptions) => api.createAccount(tenant, options);

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
