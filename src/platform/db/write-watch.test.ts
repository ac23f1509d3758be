import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { createWriteWatch } from './write-watch.ts';

const database = await useTestDatabase();
const owner = await database.connectOwner();

test('writes count as taken again while a backup reads every table, and each probe needs room', async () => {
  const watch = createWriteWatch();
  watch.note({ code: '53100' });
  await owner.query('begin');
  await owner.query('lock table write_probe in access share mode');
  try {
    let bytes = await size();
    for (let probe = 0; probe < 2; probe += 1) {
      await watch.probe(database.pool);
      const grown = await size();
      assert.ok(grown > bytes, `${grown} bytes, before ${bytes}`);
      bytes = grown;
    }
    assert.equal(watch.refused, false);
  } finally {
    await owner.query('rollback');
  }
  await watch.probe(database.pool);
  assert.equal(await size(), 32 * 8192, 'what the probes left is gone');
});

async function size(): Promise<number> {
  const { rows } = await owner.query<{ bytes: string }>(`select pg_relation_size('write_probe') as bytes`);
  return Number(rows[0]?.bytes);
}
