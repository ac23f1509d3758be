import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { insertKnownDataKey } from '../../../test-support/database/known-data-key.ts';
import { writeChain } from '../../../test-support/records/access-entry.ts';
import { runCommand } from '../../../test-support/service/command.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createPool } from '../../platform/db/database.ts';
import { makePartitions } from '../access-log/access-log-partition.store.ts';
import type { VerificationResult } from './verify-access-log.ts';

const MASTER_KEY = randomBytes(32);
const KEY = createKeyRing(MASTER_KEY).derive('access-log');

const database = await createTestDatabase();
const owner = createPool({ url: database.adminUrl, max: 1, applicationName: 'tamper' }, () => undefined);
const folder = await mkdtemp(join(tmpdir(), 'interchange-heads-'));
after(async () => {
  await owner.end();
  await database.drop();
  await rm(folder, { recursive: true });
});
await insertKnownDataKey(owner, MASTER_KEY);
await makePartitions(owner, new Date(), 2);
for (let writer = 0; writer < 3; writer += 1) await writeChain(database.pool, KEY, 8);
const { rows } = await owner.query<{ id: string }>('select id from access_log_writer order by number');
const writers = rows.map(({ id }) => id);
let env = { DATABASE_URL: database.url, MASTER_KEY: MASTER_KEY.toString('hex') };
const verify = (...args: string[]) => runCommand(['access-log', 'verify', ...args], { env });

describe('access-log verify as a command', () => {
  test('ends with 0 and says so when the log is whole', async () => {
    const text = await verify();
    assert.equal(text.code, 0, text.stderr);
    assert.match(text.stdout, /whole: \d+ entries in \d+ chains/);
    const json = await verify('--json');
    assert.equal(json.code, 0);
    const document = JSON.parse(json.stdout) as VerificationResult;
    assert.deepEqual([document.ok, document.faults], [true, []]);
    assert.equal(document.heads.length, document.writers);
  });

  test('ends with 1 and names the entry when it is not', async () => {
    await owner.query("update access_log set outcome = 'refused' where writer_id = $1 and sequence = 2", [
      writers[0],
    ]);
    try {
      const text = await verify();
      assert.equal(text.code, 1);
      assert.match(text.stdout, new RegExp(`NOT whole[^]*${writers[0]}, entry 2: an entry was changed`));
      const json = await verify('--json');
      assert.equal(json.code, 1);
      assert.match(json.stderr, /^error: The access log is not whole/);
      assert.equal((JSON.parse(json.stdout) as VerificationResult).faults[0]?.sequence, 2);
    } finally {
      await owner.query("update access_log set outcome = 'allowed' where writer_id = $1 and sequence = 2", [
        writers[0],
      ]);
    }
  });

  test('takes its own output as heads, and refuses other files', async () => {
    const heads = join(folder, 'heads.json');
    const { stdout } = await verify('--json');
    await writeFile(heads, stdout);
    assert.equal((await verify('--heads', heads)).code, 0);
    const document = JSON.parse(stdout) as VerificationResult;
    for (const head of document.heads) head.hash = '00'.repeat(32);
    await writeFile(heads, JSON.stringify(document));
    const changed = await verify('--heads', heads);
    assert.equal(changed.code, 1);
    assert.match(changed.stdout, /a head from the earlier run is missing or differs/);
    for (const content of ['nonsense', '{"heads":[{}]}']) {
      await writeFile(heads, content);
      const refused = await verify('--heads', heads);
      assert.equal(refused.code, 2, `${content}: ${refused.stdout}${refused.stderr}`);
      assert.match(refused.stderr, /--heads must name a file/);
    }
    assert.equal((await verify('--heads', join(folder, 'missing.json'))).code, 2);
  });

  test('asks for the right key when nothing fits', async () => {
    env = { ...env, MASTER_KEY: randomBytes(32).toString('hex') };
    const result = await verify();
    assert.equal(result.code, 1);
    assert.match(result.stdout + result.stderr, /master key/i);
  });
});
