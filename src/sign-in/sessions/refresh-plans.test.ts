/** What a refresh reads, also where the planner knows nothing of the tables yet, and where nothing was swept. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { createOrganisation } from '../../tenancy/organisations/facilities.ts';
import { createRefreshTokens } from './refresh-token.store.ts';

const PLAIN = needsPlainPostgres('Citus shows plans, and what they read, otherwise');
const NOW = new Date('2026-03-01T12:00:00Z');
/** Sessions, each with one token to exchange and two that were, an hour ago. */
const [SMALL, LARGE] = [2_000, 8_000];
/** Refreshes that come together. */
const GROUP = 20;

const database = await useTestDatabase();
const owner = await database.connectOwner();
for (const table of ['account', 'session', 'refresh_token'])
  await owner.query(`alter table ${table} set (autovacuum_enabled = false)`);
const { id: organisationId } = await createOrganisation(database.pool, { name: 'Large' });
await owner.query({
  text: 'insert into role (organisation_id, id, name) values ($1, $1, $1::uuid::text)',
  values: [organisationId],
});

async function fill(from: number, to: number): Promise<void> {
  const numbers = `generate_series(${from}, ${to - 1}) i`;
  const [account, session] = ['account', 'session'].map((name) => `md5('${name}' || i)::uuid`);
  await owner.query(`
    insert into account (organisation_id, id, user_type, role_id, requires_password_setup, must_change_password,
      created_at)
    select '${organisationId}', ${account}, 'EHR', '${organisationId}', false, false, now() from ${numbers};
    insert into session (organisation_id, id, account_id, created_at, expires_at)
    select '${organisationId}', ${session}, ${account}, now(), '2027-01-01' from ${numbers};
    insert into refresh_token (organisation_id, token_hash, session_id, issued_at, expires_at, exchanged_at,
      sealed_replacement)
    select '${organisationId}', sha256((i || '/' || n)::bytea), ${session}, now(), '2027-01-01',
      case when n > 0 then '2026-03-01T11:00:00Z'::timestamptz end, case when n > 0 then '\\x00'::bytea end
    from ${numbers}, generate_series(0, 2) n`);
}

/** What weeks of refreshes leave behind in the sessions of the group: tokens whose pairs were erased. */
async function useForWeeks(): Promise<void> {
  await owner.query(`
    insert into refresh_token (organisation_id, token_hash, session_id, issued_at, expires_at, exchanged_at)
    select '${organisationId}', sha256((i || '/old/' || n)::bytea), md5('session' || i)::uuid, now(), '2027-01-01',
      '2026-02-01T12:00:00Z'
    from generate_series(1, ${GROUP}) i, generate_series(1, 2000) n`);
}

interface Token {
  tokenHash: Buffer;
  sessionId: string;
}

async function tokensOfGroup(): Promise<Token[]> {
  const { rows } = await owner.query<Token>(`
    select sha256((i || '/0')::bytea) as "tokenHash", md5('session' || i)::uuid as "sessionId"
    from generate_series(1, ${GROUP}) i`);
  return rows;
}

/** Blocks that the reads and the exchanges of a group touch; what is written is rolled back. */
async function blocksRead(): Promise<{ read: number; exchange: number }> {
  let blocks = 0;
  const refreshTokens = createRefreshTokens({
    async query({ text, values = [] }: { text: string; values?: unknown[] }) {
      await owner.query('begin');
      const { rows } = await owner.query({ text: `explain (analyze, buffers, format json) ${text}`, values });
      const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
      blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      await owner.query('rollback');
      await owner.query('begin');
      const answer = await owner.query({ text, values });
      await owner.query('rollback');
      return answer;
    },
  } as unknown as Queryable);
  const group = await tokensOfGroup();
  const scope = { organisationId };
  const found = await Promise.all(
    group.map((token) => refreshTokens.read({ ...token, scope, databaseTime: NOW })),
  );
  assert.deepEqual(
    found.map((stored) => stored?.sessionId),
    group.map(({ sessionId }) => sessionId),
  );
  const read = blocks;
  const exchanged = await Promise.all(group.map((token) => refreshTokens.exchange({ ...token, ...next() })));
  assert.deepEqual(new Set(exchanged), new Set([true]));
  return { read, exchange: blocks - read };
}

const next = () => ({
  scope: { organisationId },
  exchangedAt: NOW,
  sealedReplacement: randomBytes(600),
  nextHash: randomBytes(32),
  nextExpiresAt: NOW,
  eraseBefore: NOW,
});

test('refreshes read as much among four times as many tokens, and in old sessions', PLAIN, async () => {
  await fill(0, SMALL);
  const few = await blocksRead();
  await fill(SMALL, LARGE);
  await useForWeeks();
  const many = await blocksRead();
  const { rows } = await owner.query(
    `select from pg_stats where tablename in ('account', 'session', 'refresh_token')`,
  );
  assert.equal(rows.length, 0, 'the tables have statistics');
  await owner.query('analyze account, session, refresh_token');
  const later = [many, await blocksRead()];
  const read = JSON.stringify([few, ...later]);
  // An index grows a level now and then.
  for (const { read: reads, exchange } of later) {
    assert.ok(reads < few.read * 1.4 + 3 * GROUP, read);
    assert.ok(exchange < few.exchange * 1.4 + 10 * GROUP, read);
  }
});
