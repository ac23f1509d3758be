import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { accessEntry } from '../../../test-support/records/access-entry.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { verifyAccessLog } from '../verification/verify-access-log.ts';
import { createAccessLogWriter } from './access-log.writer.ts';
import { makePartitions } from './access-log-partition.store.ts';

const KEY = randomBytes(32);

const database = await useTestDatabase();
const owner = await database.connectOwner();

describe('the months of the access log', () => {
  async function monthsOf(correlationId: string): Promise<string[]> {
    const { rows } = await owner.query<{ name: string }>(
      // On a distributed database the name of the part that has the row: access_log_2027_09_102008.
      `select regexp_replace(tableoid::regclass::text, '_\\d{6,}$', '') as name
       from access_log where correlation_id = $1 order by name`,
      [correlationId],
    );
    return rows.map(({ name }) => name);
  }

  const writerAt = (instant: string) =>
    createAccessLogWriter({
      pool: database.pool,
      chainKey: async () => KEY,
      now: () => new Date(instant),
      onError: () => undefined,
    });

  test('are made ahead, each once, and take the entries of their time [LOG-13]', async () => {
    const from = new Date('2026-11-30T23:59:59Z');
    await Promise.all([makePartitions(owner, from, 3), makePartitions(owner, from, 3)]);
    const instants = ['2026-11-30T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2027-01-31T23:59:59.999Z'];
    const one = accessEntry();
    for (const instant of instants) await writerAt(instant).record([one]);
    assert.deepEqual(await monthsOf(one.correlationId), [
      'access_log_2026_11',
      'access_log_2026_12',
      'access_log_2027_01',
    ]);
  });

  test('take in the entries that came before they were made', async () => {
    const one = accessEntry();
    await writerAt('2027-05-10T00:00:00Z').record([one]);
    await writerAt('2027-06-10T00:00:00Z').record([one]);
    assert.deepEqual(await monthsOf(one.correlationId), ['access_log_default', 'access_log_default']);
    await makePartitions(owner, new Date('2027-05-01T00:00:00Z'), 3);
    assert.deepEqual(await monthsOf(one.correlationId), ['access_log_2027_05', 'access_log_2027_06']);
    assert.deepEqual((await verifyAccessLog(database.pool, async () => [KEY])).faults, []);
  });

  test('can be made while entries come in', async () => {
    const own = writerAt('2027-09-10T00:00:00Z');
    const one = accessEntry();
    let writing = true;
    let written = 0;
    const load = (async () => {
      for (; writing; written += 1) await own.record([one]);
    })();
    await waitUntil(() => written >= 10, 'entries come in');
    await makePartitions(owner, new Date('2027-09-01T00:00:00Z'), 1);
    const during = written;
    await waitUntil(() => written >= during + 10, 'entries come in afterwards');
    writing = false;
    await load;
    const months = await monthsOf(one.correlationId);
    assert.equal(months.length, written);
    assert.deepEqual([...new Set(months)], ['access_log_2027_09']);
    assert.equal((await verifyAccessLog(database.pool, async () => [KEY])).ok, true);
  });

  test('are closed to the service, new ones too', async () => {
    await assert.rejects(database.pool.query('select * from access_log_2027_09'), { code: '42501' });
    await assert.rejects(database.pool.query('insert into access_log_2027_09 select * from access_log'), {
      code: '42501',
    });
  });
});
