import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Config, loadConfig, parseMasterKey } from './config.ts';
import { masterKeySource } from './master-key.ts';

const KEY = randomBytes(32);

describe('the master key', () => {
  const loadKey = async (config: Config) => (await masterKeySource(config).load()).bytes;

  test('is 32 bytes as hex, base64 or base64url', () => {
    for (const text of [
      KEY.toString('hex'),
      KEY.toString('hex').toUpperCase(),
      KEY.toString('base64'),
      KEY.toString('base64url'),
    ])
      assert.deepEqual(parseMasterKey(` ${text}\n`), KEY);
    for (const text of [
      '',
      'x',
      KEY.toString('hex').slice(1),
      `${KEY.toString('base64')}AAAA`,
      '!'.repeat(43),
    ])
      assert.equal(parseMasterKey(text), undefined);
  });

  test('is read from a file, and what is wrong with the file is told', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'interchange-key-'));
    const path = join(folder, 'key');
    const env = { DATABASE_URL: 'postgres://localhost/interchange', MASTER_KEY_FILE: path };
    await writeFile(path, `${KEY.toString('base64')}\n`);
    const config = loadConfig(env);
    assert.deepEqual(await loadKey(config), KEY);
    // At the start with all other faults, and later when the file is replaced.
    await rm(path);
    const missing = /MASTER_KEY_FILE cannot be read \(ENOENT\)/;
    assert.throws(() => loadConfig(env), missing);
    await assert.rejects(loadKey(config), missing);
    await writeFile(path, 'nonsense');
    const isTold = ({ message }: Error) => {
      assert.match(message, /MASTER_KEY_FILE.* content must be 32 bytes/);
      assert.ok(!message.includes('nonsense'));
      return true;
    };
    assert.throws(() => loadConfig(env), isTold);
    await assert.rejects(loadKey(config), isTold);
    await rm(folder, { recursive: true });
  });

  test('is made once for the embedded database, for its owner alone, however many begin at once [OPS-14]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'interchange-key-'));
    const config = loadConfig({ DATA_DIR: join(folder, 'data') });
    const made = await Promise.all(Array.from({ length: 8 }, () => loadKey(config)));
    for (const key of made) assert.deepEqual(key, made[0]);
    assert.deepEqual(await loadKey(config), made[0]);
    const path = join(folder, 'data', 'master.key');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.match(await readFile(path, 'utf8'), /^[0-9a-f]{64}\n$/);
    await rm(folder, { recursive: true });
  });

  const asRoot = { skip: process.getuid?.() !== 0 && 'only root works in folders of others' };
  test('belongs to the owner of the folder when root makes it there', asRoot, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'interchange-key-'));
    await chown(folder, 65_534, 65_534);
    const config = loadConfig({ DATA_DIR: folder });
    await loadKey(config);
    assert.equal((await stat(join(folder, 'master.key'))).uid, 65_534);
    await rm(folder, { recursive: true });
  });
});
