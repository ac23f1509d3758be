/** What a sweep reads, also where the planner knows nothing of the tables yet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { neverAnalyze } from '../../../test-support/database/never-analyzed.ts';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import { rowsRead, tellRead } from '../../../test-support/database/rows-read.ts';
import { createSignInFixture } from '../../../test-support/sign-in/sign-in.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { createSignInSweep } from './sweep.ts';

const PLAIN = needsPlainPostgres('Citus counts what is read of a table otherwise');
const NOW = new Date('2026-03-01T12:00:00Z');
const LIVE = 6_000;
/** Of each kind. */
const ENDED = 50;

test('a sweep reads what it removes, and not what goes on', PLAIN, async () => {
  const fixture = await createSignInFixture();
  const { pool, adminUrl } = fixture.database;
  const owner = new pg.Client({ connectionString: adminUrl });
  await owner.connect();
  try {
    await neverAnalyze(owner);
    const { userId } = await fixture.addAccount();
    const add = (count: number, revokedAt: string | null, expiresAt = '2026-05-01') =>
      owner.query(
        `with added as (
           insert into session (organisation_id, id, account_id, created_at, expires_at, revoked_at)
           select $1, gen_random_uuid(), $2, '2026-02-01', $3, $4 from generate_series(1, $5::integer)
           returning id
         )
         insert into refresh_token (organisation_id, token_hash, session_id, issued_at, expires_at)
         select $1, sha256(id::text::bytea), id, '2026-02-01', $3 from added`,
        [fixture.organisationId, userId, expiresAt, revokedAt, count],
      );
    const sweep = async () => {
      await tellRead(pool);
      const before = await rowsRead(pool);
      const work = createWorkWatch().of('sign-in-sweep');
      const removed = await createSignInSweep({ db: pool, work })(NOW);
      await tellRead(pool);
      const after = await rowsRead(pool);
      const read = (table: string) => (after.get(table) ?? 0) - (before.get(table) ?? 0);
      return { removed, read: Math.max(read('session'), read('refresh_token')) };
    };
    await add(LIVE, null);
    for (const isAnalyzed of [false, true]) {
      if (isAnalyzed) await owner.query('analyze');
      await add(ENDED, '2026-02-20');
      await add(ENDED, null, '2026-02-20');
      const { removed, read } = await sweep();
      assert.equal(removed, 4 * ENDED, 'sessions that were revoked and that expired, each with a token');
      assert.ok(read < LIVE / 4, `${read} rows read, analyzed: ${isAnalyzed}`);
    }
  } finally {
    await owner.end();
    await fixture.close();
  }
});
