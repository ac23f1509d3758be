import assert from 'node:assert/strict';
import { createHash, hash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { runCommand } from '../../../test-support/service/command.ts';
import { type Manifest, readBackup, readManifest, writeManifest } from './manifest.ts';

const KEY = '17'.repeat(32);
const FACTS = { takenAt: '2026-03-01T00:00:00.000Z', masterKeyIds: ['0123456789abcdef'] };

let folder: string;
const at = (...names: string[]) => join(folder, ...names);
const backup = () => at('backup');
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'interchange-manifest-'));
  await mkdir(at('backup/postgresql/base'), { recursive: true });
  await writeFile(at('backup/postgresql.password'), 'secret', { mode: 0o644 });
  await writeFile(at('backup/postgresql/base/1'), 'rows');
  await chmod(at('backup/postgresql.password'), 0o644);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** What somebody who can write to the backup can do: change the manifest, and its digest with it. */
async function rewrite(change: (manifest: Manifest) => void): Promise<void> {
  const { manifest } = JSON.parse(await readFile(at('backup/manifest.json'), 'utf8'));
  change(manifest);
  const digest = hash('sha256', JSON.stringify(manifest));
  await writeFile(at('backup/manifest.json'), JSON.stringify({ digest, manifest }));
}

function entry(path: string, content: string): Manifest['files'][number] {
  return { path, sizeBytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
}

test('what was written down is read back, and copied for its owner only', async () => {
  await writeFile(at('backup/backup.lock'), '');
  const written = await writeManifest(backup(), FACTS, () => undefined);
  assert.deepEqual(await readManifest(backup()), written);
  assert.deepEqual(written.folders, ['postgresql', 'postgresql/base']);
  assert.deepEqual(written.files, [
    entry('postgresql.password', 'secret'),
    entry('postgresql/base/1', 'rows'),
  ]);
  await mkdir(at('copy'));
  await readBackup(backup(), written, { to: at('copy'), onBytes: () => undefined });
  assert.equal(await readFile(at('copy/postgresql/base/1'), 'utf8'), 'rows');
  for (const [path, mode] of [
    ['postgresql.password', 0o600],
    ['postgresql/base/1', 0o600],
    ['postgresql/base', 0o700],
  ] as const)
    assert.equal((await stat(at('copy', path))).mode & 0o777, mode, path);
});

for (const path of [
  '../master.key',
  '../../outside/x',
  '/etc/passwd',
  'master.key',
  'manifest.json',
  'postgresql',
  'postgresql/../../master.key',
  'postgresql/base/..',
  'postgresql/./1',
  'postgresql//1',
  'postgresql\\..\\..\\master.key',
  'postgresql/..\\..\\master.key',
  'postgresql.password/1',
  'postgresql/missing/1',
  'postgresql/base/1',
  '',
])
  test(`a backup that names the file ${JSON.stringify(path)} is refused [CMD-25]`, async () => {
    await writeManifest(backup(), FACTS, () => undefined);
    await rewrite(({ files }) => files.push(entry(path, 'evil')));
    await assert.rejects(readManifest(backup()), {
      message: `The manifest.json of ${backup()} names ${JSON.stringify(path)}, which is no path of a backup. Nothing was changed. Use another backup.`,
    });
  });

for (const path of ['..', '../outside', '/outside', 'postgresql/..', 'other', 'postgresql', 'postgresql/a/b'])
  test(`a backup that names the folder ${JSON.stringify(path)} is refused [CMD-25]`, async () => {
    await writeManifest(backup(), FACTS, () => undefined);
    await rewrite(({ folders }) => folders.push(path));
    await assert.rejects(readManifest(backup()), /which is no path of a backup\. Nothing was changed/);
  });

test('a backup that names files outside replaces nothing outside [CMD-25]', async () => {
  await writeManifest(backup(), FACTS, () => undefined);
  await mkdir(at('data'));
  await writeFile(at('data/master.key'), KEY);
  // Where a restore would look for what it is to write over the key.
  await writeFile(at('master.key'), 'evil');
  await rewrite(({ files }) => files.unshift(entry('../master.key', 'evil')));
  const { code, stderr } = await runCommand(['restore', '--from', backup()], {
    env: { DATA_DIR: at('data') },
  });
  assert.deepEqual([code, await readFile(at('data/master.key'), 'utf8')], [1, KEY]);
  assert.match(stderr, /names "\.\.\/master\.key", which is no path of a backup\. Nothing was changed/);
});

for (const path of ['postgresql', 'postgresql/base', 'postgresql/base/1', 'postgresql.password'])
  test(`a link in the place of ${path} is not followed [CMD-25]`, async () => {
    const manifest = await writeManifest(backup(), FACTS, () => undefined);
    await rename(at('backup', path), at('moved'));
    await symlink(at('moved'), at('backup', path));
    await mkdir(at('copy'));
    for (const to of [undefined, at('copy')])
      await assert.rejects(
        readBackup(backup(), manifest, { ...(to === undefined ? {} : { to }), onBytes: () => undefined }),
        {
          message: `The backup in ${backup()} is damaged: ${path} is missing or was changed. Nothing was changed. Use another backup.`,
        },
      );
  });

test('a file that changed in the same size is noticed', async () => {
  const manifest = await writeManifest(backup(), FACTS, () => undefined);
  await writeFile(at('backup/postgresql/base/1'), 'ROWS');
  await assert.rejects(
    readBackup(backup(), manifest, { onBytes: () => undefined }),
    /damaged: postgresql\/base\/1 is missing or was changed/,
  );
});

test('a name that a restore would refuse is refused by the backup', async () => {
  await writeFile(at('backup/postgresql/a\\b'), '');
  await assert.rejects(
    writeManifest(backup(), FACTS, () => undefined),
    /holds "postgresql\/a\\\\b", a name that a backup cannot keep/,
  );
});
