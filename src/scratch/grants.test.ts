import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestDatabase } from '../../test-support/database/database.ts';
import { createPool } from '../platform/db/database.ts';
import { migrate } from '../platform/db/migrate.ts';

for (const [name, statements] of Object.entries({
  archive: [`alter table access_log detach partition PART`, `drop table PART`],
  rename: [`alter table access_log detach partition PART`, `alter table PART rename to access_log_archived_2020_01_1`],
  make: [
    `create table access_log_2031_01 (like access_log including all)`,
    `lock table access_log_default in access exclusive mode`,
    `alter table access_log attach partition access_log_2031_01 for values from ('2031-01-01') to ('2031-02-01')`,
  ],
  probe: ['truncate write_probe'],
}))
  test(`grants beside ${name}`, async () => {
    const database = await createTestDatabase();
    const owner = createPool({ url: database.adminUrl, max: 2, applicationName: 'test' }, () => undefined);
    try {
      const { rows } = await owner.query(
        `select inhrelid::regclass::text as part from pg_inherits where inhparent = 'access_log'::regclass and inhrelid::regclass::text ~ '\\d{4}_\\d\\d$' limit 1`,
      );
      const part = rows[0]?.part ?? 'access_log_default';
      const client = await owner.connect();
      await client.query('begin');
      for (const text of statements) await client.query(text.replaceAll('PART', part));
      let settled = false;
      const running = migrate(database.adminUrl).then(
        () => 'done',
        (error) => `${error.code} ${error.message}`,
      ).finally(() => { settled = true; });
      for (let i = 0; i < 200 && !settled; i += 1) {
        const { rows: w } = await owner.query(`select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
        if (w[0].n > 0) break;
      }
      await client.query('commit');
      client.release();
      console.log(name, part, settled, await running);
      assert.ok(true);
    } finally {
      await owner.end();
      await database.drop();
    }
  });
