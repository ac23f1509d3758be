/** Housekeeping of one organisation whose part of the database does not answer waits; that of all others is done. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { housekeepingSteps } from '../src/app/features.ts';
import { createActivityRecorder } from '../src/tenancy/activity/record-activity.ts';
import { createUnmappedRecorder } from '../src/terminology/unmapped/record-unmapped.ts';
import { ONE_FAILS, prepareFaults } from '../test-support/database/failing-organisation.ts';
import { type TestAccount, useEmptyApi } from '../test-support/service/api.ts';
import { runCommand } from '../test-support/service/command.ts';
import { waitUntil } from '../test-support/wait-until.ts';

type Row = (account: TestAccount) => [text: string, values: unknown[]];

/** An outdated row of each kind, by what finds those that are left. */
const OUTDATED: Record<string, Row> = {
  'refresh_token where sealed_replacement is not null': ({ organisationId, sessionId }) => [
    `insert into refresh_token (organisation_id, token_hash, session_id, issued_at, expires_at, exchanged_at,
       sealed_replacement)
     values ($1, $2, $3, now() - interval '1 hour', now() + interval '1 day', now() - interval '1 hour', '\\x00')`,
    [organisationId, randomBytes(32), sessionId],
  ],
  "refresh_token where expires_at < now() - interval '2 days'": ({ organisationId, sessionId }) => [
    `insert into refresh_token (organisation_id, token_hash, session_id, issued_at, expires_at)
     values ($1, $2, $3, now() - interval '9 days', now() - interval '3 days')`,
    [organisationId, randomBytes(32), sessionId],
  ],
  publish_lease: ({ organisationId }) => [
    `insert into publish_lease (organisation_id, target_id, resource_type, record_id, token, leased_until)
     values ($1, $2, 'Patient', $2, $2, now() - interval '2 days')`,
    [organisationId, randomUUID()],
  ],
  terminology_unmapped: ({ organisationId, facilityId }) => [
    `insert into terminology_unmapped (organisation_id, facility_id, local_system, local_code, place, met_count,
       first_met_at, last_met_at)
     values ($1, $2, 'urn:lab', 'old', 'lab.result', 1, now() - interval '900 days', now() - interval '900 days')`,
    [organisationId, facilityId],
  ],
};

const api = await useEmptyApi();
const faults = await prepareFaults(api.database);

describe('housekeeping while the database refuses one organisation', ONE_FAILS, () => {
  let accounts: TestAccount[];
  before(async () => {
    accounts = [];
    for (let count = 0; count < 3; count += 1)
      accounts.push(await api.createAccount(await api.createTenant()));
    for (const account of accounts)
      for (const row of Object.values(OUTDATED)) await api.database.pool.query(...row(account));
  });

  /** Ids of the organisations with an outdated row, by what finds it. */
  async function left(): Promise<Record<string, string[]>> {
    const found: [string, string[]][] = [];
    for (const what of Object.keys(OUTDATED)) {
      const { rows } = await api.runtime.owner.query<{ organisation_id: string }>(
        `select organisation_id from ${what} order by organisation_id`,
      );
      found.push([what, rows.map((row) => row.organisation_id)]);
    }
    return Object.fromEntries(found);
  }

  test('the others are swept, and it is when it is mended [OPS-29]', async () => {
    const [failing] = accounts as [TestAccount];
    await faults.fail(failing.organisationId);
    const steps = housekeepingSteps(api.runtime);
    const run = async () => {
      for (const step of steps) await step.run(new Date());
    };
    await run();
    const all = Object.keys(OUTDATED);
    const ids = [failing.organisationId];
    assert.deepEqual(await left(), Object.fromEntries(all.map((found) => [found, ids])));
    const works = ['refresh-replacements', 'retention', 'sign-in-sweep'];
    assert.deepEqual([...api.runtime.work.failing().keys()].sort(), works);
    for (const work of works) assert.deepEqual(api.runtime.work.failing().get(work), ids);
    await faults.mend(failing.organisationId);
    await waitUntil(async () => {
      await run();
      return Object.values(await left()).every(({ length }) => length === 0);
    }, 'its own is swept too');
    assert.equal(api.runtime.work.failing().size, 0);
  });

  test('what was counted of the others is written, and its own is when it is mended [OPS-29]', async () => {
    const [failing] = accounts as [TestAccount];
    const ids = [failing.organisationId];
    const { database, runtime } = api;
    const counting = (work: string) => ({
      db: database.pool,
      now: () => new Date(),
      work: runtime.work.of(work),
      onError: (error: unknown) => assert.fail(String(error)),
    });
    const activity = createActivityRecorder(counting('activity'));
    const unmapped = createUnmappedRecorder(counting('unmapped-codes'));
    for (const account of accounts) {
      activity.note(account, 'publishes');
      unmapped.met({ ...account, timeZone: 'UTC' }, 'lab.result', [{ system: 'urn:lab', code: 'new' }]);
    }
    const written = async () => {
      await Promise.all([activity.flush(), unmapped.flush()]);
      const { rows } = await runtime.owner.query<{ activity: number; unmapped: number }>(
        `select (select sum(count)::int from activity_hour where kind = 'publishes') as activity,
           (select count(*)::int from terminology_unmapped where local_code = 'new') as unmapped`,
      );
      return rows[0];
    };
    await faults.fail(failing.organisationId);
    const others = accounts.length - 1;
    assert.deepEqual(await written(), { activity: others, unmapped: others });
    assert.deepEqual(Object.fromEntries(runtime.work.failing()), { activity: ids, 'unmapped-codes': ids });
    await faults.mend(failing.organisationId);
    await waitUntil(async () => {
      const { activity: calls, unmapped: codes } = (await written()) ?? {};
      return calls === accounts.length && codes === accounts.length;
    }, 'its own is written');
    assert.equal(runtime.work.failing().size, 0);
    await Promise.all([activity.close(), unmapped.close()]);
  });

  test('`retention run` does the others, names it, and ends with code 1 [OPS-29]', async () => {
    const [failing] = accounts as [TestAccount];
    for (const row of Object.values(OUTDATED)) await api.database.pool.query(...row(failing));
    await faults.fail(failing.organisationId);
    const run = () => runCommand(['retention', 'run', '--dry-run', '--json'], { env: api.env });
    const refused = await run();
    assert.equal(refused.code, 1);
    assert.deepEqual(JSON.parse(refused.stdout).failed, [failing.organisationId]);
    await faults.mend(failing.organisationId);
    const whole = await run();
    assert.equal(whole.code, 0);
    assert.deepEqual(JSON.parse(whole.stdout).failed, []);
  });
});
