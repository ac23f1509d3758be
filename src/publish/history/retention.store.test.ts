/** Retention of the publish history (docs/adr/0057). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import {
  createRetentionSweep,
  RETENTION_LIMITS,
  runRetention,
} from '../../tenancy/organisations/retention.ts';
import { publishRetentionRules } from './retention.store.ts';

const NOW = new Date('2026-11-21T12:00:00Z');

const database = await useTestDatabase();
const [organisationId, facilityId, otherFacility] = [randomUUID(), randomUUID(), randomUUID()];
const [target, otherTarget] = [randomUUID(), randomUUID()];
const { pool } = database;
await pool.query('insert into organisation (id, name) values ($1, $2)', [organisationId, 'O']);
for (const id of [facilityId, otherFacility])
  await pool.query('insert into facility (organisation_id, id, name) values ($1, $2, $3)', [
    organisationId,
    id,
    id,
  ]);
for (const id of [target, otherTarget])
  await pool.query(
    "insert into publish_target (id, name, base, auth) values ($1, $2, 'https://fhir.example.org', 'none')",
    [id, id],
  );

describe('the sweep of publishes', () => {
  beforeEach(() => database.pool.query('delete from publish_run'));

  /** A publish that began so many days ago; its id. */
  async function ran(
    daysAgo: number,
    {
      subject,
      outcome = 'done',
      to = target,
      at: facility = facilityId,
    }: { subject: string; outcome?: string; to?: string; at?: string },
  ): Promise<string> {
    const id = randomUUID();
    const at = new Date(NOW.getTime() - daysAgo * 86_400_000);
    await database.pool.query(
      `insert into publish_run (organisation_id, facility_id, id, subject_kind, subject_id, target_id, chain_id,
         account_id, purpose_of_use, correlation_id, started_at, begun_at, outcome)
       values ($1, $2, $3, 'lab-order', $4, $5, $3, $3, 'OPS', 'c', $6, $6, $7)`,
      [organisationId, facility, id, subject, to, at, outcome],
    );
    return id;
  }
  const left = async () => {
    const { rows } = await database.pool.query<{ id: string }>(
      'select id from publish_run order by begun_at',
    );
    return rows.map(({ id }) => id);
  };
  const addLease = (hoursAgo: number) =>
    database.pool.query(
      `insert into publish_lease (organisation_id, target_id, resource_type, record_id, token, leased_until)
       values ($1, $2, 'Patient', $3, $3, $4)`,
      [organisationId, target, randomUUID(), new Date(NOW.getTime() - hoursAgo * 3_600_000)],
    );
  const leases = async () => (await database.pool.query('select 1 from publish_lease')).rowCount;
  /** Each call answers how many publishes it erased. */
  const sweep = (limits = {}) => {
    const context = { db: database.pool, work: createWorkWatch().of('retention') };
    const step = createRetentionSweep(context, publishRetentionRules(400), {
      ...RETENTION_LIMITS,
      ...limits,
    });
    return async (now: Date) => (await step(now)).publishes ?? 0;
  };

  test('an old publish goes once a later complete one has replaced it [PUB-46]', async () => {
    const subject = randomUUID();
    await ran(500, { subject });
    await ran(450, { subject, outcome: 'failed' });
    const kept = await ran(401, { subject });
    assert.equal(await sweep()(NOW), 2);
    assert.deepEqual(await left(), [kept]);
  });

  test('what is at a target now stays, however old, and what came after it [PUB-46]', async () => {
    const subject = randomUUID();
    const done = await ran(900, { subject });
    const failed = await ran(800, { subject, outcome: 'failed' });
    const elsewhere = await ran(1_000, { subject, to: otherTarget });
    const fromElsewhere = await ran(950, { subject, at: otherFacility });
    const ofAnother = await ran(850, { subject: randomUUID() });
    assert.equal(await sweep()(NOW), 0);
    assert.deepEqual(await left(), [elsewhere, fromElsewhere, done, ofAnother, failed]);
  });

  test('a dry run counts them, and removes neither them nor leases [OPS-23]', async () => {
    const subject = randomUUID();
    for (const daysAgo of [2_900, 2_800, 2_700]) await ran(daysAgo, { subject });
    const before = await left();
    const context = { db: database.pool, work: createWorkWatch().of('retention') };
    const rules = publishRetentionRules(400);
    await addLease(50_000);
    const both = { publishes: 2, 'leases of publishes': 1 };
    assert.deepEqual(await runRetention(context, rules, { dryRun: true }), both);
    assert.deepEqual(await left(), before);
    assert.equal(await leases(), 1);
    assert.deepEqual(await runRetention(context, rules, { dryRun: false }), both);
    assert.equal(await leases(), 0);
  });

  test('nothing of the last 400 days goes [PUB-46]', async () => {
    const subject = randomUUID();
    const all = [await ran(399.9, { subject }), await ran(10, { subject }), await ran(1, { subject })];
    assert.equal(await sweep()(NOW), 0);
    assert.deepEqual(await left(), all);
  });

  test('in bounded steps: a call goes on where the one before stopped, and a day later from the start', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await ran(700, { subject: first });
    await ran(600, { subject: first });
    await ran(500, { subject: second });
    await ran(450, { subject: second });
    const step = sweep({ batchRows: 1, batchesAtMost: 2 });
    assert.equal(await step(NOW), 1);
    assert.equal(await step(NOW), 1);
    assert.equal((await left()).length, 2);
    await ran(1, { subject: first });
    assert.equal(await step(NOW), 0, 'it is past that one');
    assert.equal(await step(new Date(NOW.getTime() + 86_400_000)), 1);
  });

  test('leases that ran out long ago go; those of today stay', async () => {
    await addLease(25);
    await addLease(1);
    await sweep()(NOW);
    assert.equal(await leases(), 1);
  });
});
