/** What a restore refuses before it touches anything; test/backup-restore.test.ts has what it does. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { runCommand } from '../../../test-support/service/command.ts';
import { writeManifest } from './manifest.ts';

let folder: string;
const at = (...names: string[]) => join(folder, ...names);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'interchange-restore-'));
  await mkdir(at('backup/postgresql'), { recursive: true });
  await writeFile(at('backup/postgresql.password'), '');
  const head = { takenAt: '2026-03-01T00:00:00Z', masterKeyIds: ['0123456789abcdef'] };
  await writeManifest(at('backup'), head, () => undefined);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function restore(...args: string[]): Promise<string> {
  const before = (await readdir(folder, { recursive: true })).sort();
  const { code, stdout, stderr } = await runCommand(['restore', ...args], { env: { DATA_DIR: at('data') } });
  assert.equal(code, 1, stdout);
  assert.deepEqual((await readdir(folder, { recursive: true })).sort(), before);
  return stderr;
}

test('a backup that is missing is named before a key that is missing', async () => {
  assert.match(await restore('--from', at('typo')), /typo is not a complete backup: .* \(ENOENT\)/);
  assert.match(await restore('--from', at('backup')), /There is no master key in .* --key-file/);
});

test('a fault of the key file names the option', async () => {
  const from = ['--from', at('backup')];
  const missing = await restore(...from, '--key-file', at('none.key'));
  assert.match(missing, /--key-file .*none\.key cannot be read \(ENOENT\)\..* Nothing was changed\./);
  await writeFile(at('bad.key'), 'x');
  const bad = await restore(...from, '--key-file', at('bad.key'));
  assert.match(bad, /--key-file .*bad\.key: its content must be .* Nothing was changed\./);
  for (const text of [missing, bad]) assert.doesNotMatch(text, /environment/);
});
