/** When the sweep of what is kept too long begins. Its rules are tested with what they remove. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { transaction } from '../../platform/db/database.ts';
import { createWorkWatch } from './organisation-work.ts';
import {
  createRetentionSweep,
  RETENTION_LIMITS,
  type RetentionRule,
  removeOverdue,
  runRetention,
} from './retention.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-21T12:00:00Z');

const database = await useTestDatabase();
await database.pool.query('insert into organisation (id, name) values ($1, $2)', [randomUUID(), 'O']);

test('the sweep begins once a day, and also after a clock that was ahead is put right [OPS-23]', async () => {
  const rule: RetentionRule = {
    name: 'things',
    days: 1,
    sweep: async () => ({ removed: 1, last: undefined }),
  };
  const context = { db: database.pool, work: createWorkWatch().of('retention') };
  const sweep = createRetentionSweep(context, [rule], RETENTION_LIMITS);
  const begins = async (atMs: number) => (await sweep(new Date(atMs))).things === 1;
  assert.equal(await begins(NOW), true);
  assert.equal(await begins(NOW + DAY_MS - 1), false);
  assert.equal(await begins(NOW + DAY_MS), true);
  assert.equal(await begins(NOW + 365 * DAY_MS), true, 'the clock jumps ahead');
  assert.equal(await begins(NOW + DAY_MS + 1), true, 'it is right again');
  assert.equal(await begins(NOW + DAY_MS + 2), false);
});

test('however many organisations have nothing over, the last has its turn within the day [OPS-23]', async () => {
  const text = `insert into organisation (id, name) select gen_random_uuid(), 'P' || n from generate_series(1, 60) n`;
  await database.pool.query(text);
  const asked = new Set<string>();
  const rule: RetentionRule = {
    name: 'things',
    days: 1,
    sweep: async (_db, { organisationId }) => {
      asked.add(organisationId);
      return { removed: 0, last: undefined };
    },
  };
  const context = { db: database.pool, work: createWorkWatch().of('retention') };
  const sweep = createRetentionSweep(context, [rule], RETENTION_LIMITS);
  await sweep(new Date(NOW));
  assert.equal(asked.size, 61, 'at one batch each, 28,800 would be looked at in a day');
});

const rule = removeOverdue({
  name: 'leases',
  days: 1,
  table: 'publish_lease',
  key: ['target_id', 'resource_type', 'record_id'],
  isOver: 't.leased_until < $2',
});

test('a batch that was full is followed by another one, and a dry run counts all at once [OPS-23]', async () => {
  const { rows } = await database.pool.query<{ organisationId: string }>(
    `insert into publish_lease (organisation_id, target_id, resource_type, record_id, token, leased_until)
     select id, id, 'Patient', gen_random_uuid(), id, now() - interval '2 days'
     from (select id from organisation limit 1) o, generate_series(1, 2)
     returning organisation_id as "organisationId"`,
  );
  const [scope = { organisationId: '' }] = rows;
  const swept = (dryRun: boolean, limit: number) =>
    rule.sweep(database.pool, scope, { now: new Date(), days: 1, limit, dryRun, after: undefined });
  assert.deepEqual(await swept(true, 2), { removed: 2, last: undefined });
  const first = await swept(false, 1);
  assert.equal(first.removed, 1);
  assert.notEqual(first.last, undefined);
  assert.deepEqual(await swept(false, 2), { removed: 1, last: undefined });
});

test('a row that gets a later time while the sweep is at it stays', async () => {
  await database.pool.query(
    `insert into publish_lease (organisation_id, target_id, resource_type, record_id, token, leased_until)
     select id, id, 'Patient', id, id, now() - interval '2 days' from organisation limit 1`,
  );
  const context = { db: database.pool, work: createWorkWatch().of('retention') };
  await transaction(database.pool, async (renewing) => {
    await renewing.query('update publish_lease set leased_until = now()');
    assert.deepEqual(await runRetention(context, [rule], { dryRun: true }), { leases: 1 });
    assert.deepEqual(await runRetention(context, [rule], { dryRun: false }), {});
  });
  assert.deepEqual(await runRetention(context, [rule], { dryRun: false }), {});
});
