/** The worker of a process does every step of its housekeeping; what each step removes is tested beside it. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { runCommand } from '../../test-support/service/command.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';
import { waitUntil } from '../../test-support/wait-until.ts';
import { buildWorker } from './build-worker.ts';
import { housekeepingSteps } from './features.ts';

const t = await useTestApi();

const TARGET: string = randomUUID();

/** One outdated row of each step, and what finds it. */
const OUTDATED: Record<string, { insert: () => [string, unknown[]]; find: string }> = {
  'a sealed pair of tokens': {
    insert: () => [
      `insert into refresh_token (organisation_id, token_hash, session_id, issued_at, expires_at, exchanged_at,
         sealed_replacement)
       values ($1, $2, $3, now() - interval '1 hour', now() + interval '1 day', now() - interval '1 hour', '\\x00')`,
      [t.tenant.organisationId, randomBytes(32), t.account.sessionId],
    ],
    find: 'from refresh_token where sealed_replacement is not null',
  },
  'a count of failed sign-ins': {
    insert: () => [
      `insert into sign_in_counter (identity_hash, network, updated_at)
       values ($1, '', now() - interval '3 days')`,
      [randomBytes(32)],
    ],
    find: 'from sign_in_counter',
  },
  'a lease of a publish': {
    insert: () => [
      `insert into publish_lease (organisation_id, target_id, resource_type, record_id, token, leased_until)
       values ($1, $2, 'Patient', $2, $2, now() - interval '2 days')`,
      [t.tenant.organisationId, randomUUID()],
    ],
    find: 'from publish_lease',
  },
  'a publish that was replaced': {
    insert: () => [
      `insert into publish_run (organisation_id, facility_id, id, subject_kind, subject_id, target_id, chain_id,
         account_id, purpose_of_use, correlation_id, started_at, begun_at, outcome)
       select $1, $2, gen_random_uuid(), 'lab-order', $3, $3, $3, $3, 'OPS', 'c', at, at, 'done'
       from (values (now() - interval '900 days'), (now())) published (at)`,
      [t.tenant.organisationId, t.tenant.facilityId, TARGET],
    ],
    find: "from publish_run where begun_at < now() - interval '800 days'",
  },
  'an unmapped code': {
    insert: () => [
      `insert into terminology_unmapped (organisation_id, facility_id, local_system, local_code, place, met_count,
         first_met_at, last_met_at)
       values ($1, $2, 'urn:lab', 'old', 'lab.result', 1, now() - interval '900 days', now() - interval '900 days')`,
      [t.tenant.organisationId, t.tenant.facilityId],
    ],
    find: 'from terminology_unmapped',
  },
};

const isThere = async (find: string) =>
  ((await t.api.database.pool.query(`select ${find}`)).rowCount ?? 0) > 0;

test('the worker removes what is outdated, of every kind, and makes the months of the access log ahead [LOG-13, OPS-23]', async () => {
  await t.api.database.pool.query(
    `insert into publish_target (id, name, base, auth) values ($1, 'old', 'https://fhir.example.org', 'none')`,
    [TARGET],
  );
  for (const [name, { insert, find }] of Object.entries(OUTDATED)) {
    await t.api.database.pool.query(...insert());
    assert.ok(await isThere(find), name);
  }
  const { code, stdout } = await runCommand(['retention', 'run', '--dry-run'], { env: t.api.env });
  assert.equal(code, 0);
  for (const what of ['publishes', 'unmapped codes'])
    assert.match(stdout, new RegExp(`^ +1  ${what}, kept for 400 days$`, 'm'));
  assert.match(stdout, /leases of publishes, kept for 1 day$/m);
  const worker = buildWorker(t.api.runtime, housekeepingSteps(t.api.runtime));
  worker.start();
  for (const [name, { find }] of Object.entries(OUTDATED))
    await waitUntil(async () => !(await isThere(find)), `${name} is removed`);
  await worker.stop();
  for (const what of ['publishes', 'unmapped codes'])
    assert.match(
      t.api.logs(),
      new RegExp(`"event":"housekeeping\\.retention","count":1,"outcome":"${what}"`),
    );
  const { now } = t.api.clock;
  const ahead = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 3, 1)).toISOString();
  const { rows } = await t.api.database.pool.query('select to_regclass($1) is not null as made', [
    `access_log_${ahead.slice(0, 7).replace('-', '_')}`,
  ]);
  assert.deepEqual(rows, [{ made: true }]);
});

test('what is outdated is judged by the clock of the database, not by that of the process [OPS-23]', async () => {
  const node = await t.api.addNode({ aheadSeconds: 20 });
  const { promise: time, resolve } = Promise.withResolvers<Date>();
  const worker = buildWorker(node.runtime, [{ name: 'a step', run: async (now) => resolve(now) }]);
  worker.start();
  try {
    assert.equal((await time).toISOString(), t.api.clock.now.toISOString());
  } finally {
    await worker.stop();
    await node.close();
  }
});

test('a worker that is told to stop finishes the step under way, and begins no other', async () => {
  const begun: string[] = [];
  const [running, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const step = (name: string) => ({
    name,
    async run() {
      begun.push(name);
      running.resolve();
      await free.promise;
    },
  });
  const worker = buildWorker(t.api.runtime, [step('first'), step('second')]);
  worker.start();
  await running.promise;
  const stopped = worker.stop();
  free.resolve();
  await stopped;
  assert.deepEqual(begun, ['first']);
});
