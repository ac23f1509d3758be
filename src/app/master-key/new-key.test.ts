import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMasterKey } from '../../platform/crypto/master-key.ts';
import { makeKeyOnce } from '../config/master-key.ts';
import { nextKey, replaceKeyFile } from './new-key.ts';

test('no key is lost, however often the one of the data folder is replaced: backups need it [OPS-16]', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'interchange-keys-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'master.key');
  await makeKeyOnce(folder, path);
  const keys: string[] = [];
  for (let rotation = 0; rotation < 3; rotation += 1) {
    keys.push(await readFile(path, 'utf8'));
    await nextKey(folder, path);
    await replaceKeyFile(folder, path);
    assert.equal(await readFile(`${path}.previous`, 'utf8'), keys.at(-1));
  }
  for (const key of keys.slice(0, -1)) {
    const kept = `${path}.previous-${createMasterKey(Buffer.from(key.trim(), 'hex')).id}`;
    assert.equal(await readFile(kept, 'utf8'), key);
    assert.equal((await stat(kept)).mode & 0o777, 0o600);
  }
  assert.equal((await readdir(folder)).length, 4, 'nothing else is left');
});

test('a key that was destroyed by emptying its file keeps nobody from rotating again [OPS-16]', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'interchange-keys-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'master.key');
  await makeKeyOnce(folder, path);
  await writeFile(`${path}.previous`, '');
  const key = await readFile(path, 'utf8');
  await nextKey(folder, path);
  await replaceKeyFile(folder, path);
  assert.equal(await readFile(`${path}.previous`, 'utf8'), key);
  assert.equal((await readdir(folder)).length, 2, 'nothing else is left');
});
