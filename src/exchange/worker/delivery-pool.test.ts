import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import { createDeliveryPool } from './delivery-pool.ts';

const PLAIN = needsPlainPostgres('it pretends that Citus is there');

test(
  'a delivery worker asks for generic plans, which Citus does not have, and goes by index [EXC-23]',
  PLAIN,
  async () => {
    const database = await createTestDatabase();
    const owner = new pg.Client({ connectionString: database.adminUrl });
    await owner.connect();
    const settings = async () => {
      const pool = createDeliveryPool({ url: database.url, max: 2 }, () => undefined);
      const { rows } = await pool.query<{ mode: string; seqscan: string }>(
        `select current_setting('plan_cache_mode') as mode, current_setting('enable_seqscan') as seqscan`,
      );
      await pool.end();
      return rows[0];
    };
    try {
      assert.deepEqual(await settings(), { mode: 'force_generic_plan', seqscan: 'off' });
      // The name of the extension is all that is asked for.
      await owner.query(`
      insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
      select 99999, 'citus', extowner, extnamespace, false, '13.2-1'
      from pg_extension
      where extname = 'plpgsql'`);
      assert.deepEqual(await settings(), { mode: 'auto', seqscan: 'off' });
    } finally {
      await owner.end();
      await database.drop();
    }
  },
);
