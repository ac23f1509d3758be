/** Backup and restore of the embedded database, where something is in their way. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { backUp } from '../src/app/backup/back-up.ts';
import { writeManifest } from '../src/app/backup/manifest.ts';
import { type RestoreOptions, restore } from '../src/app/backup/restore.ts';
import { SILENT } from '../src/platform/command/progress-line.ts';
import { createMasterKey } from '../src/platform/crypto/master-key.ts';
import { isAlive, makeDataDir, openElsewhere, serverPid } from '../test-support/database/embedded.ts';
import { OWN_MOUNTS, whyNoSmallDisk } from '../test-support/database/small-disk.ts';
import { type CommandResult, runCommand, startCommand } from '../test-support/service/command.ts';
import { idOf } from '../test-support/sign-in/master-key.ts';
import { waitUntil } from '../test-support/wait-until.ts';

const OLD_KEY = '17'.repeat(32);
const NOW = new Date('2026-03-01T00:00:00Z');
const BEFORE = 'before-restore-2026-03-01T00-00-00-000Z';

describe('backup and restore of the embedded database, with something in their way', {
  timeout: 900_000,
}, () => {
  let data: Awaited<ReturnType<typeof makeDataDir>>;
  let target: Awaited<ReturnType<typeof makeDataDir>>;
  let folder: string;
  let key: string;
  const at = (name: string) => join(folder, name);

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'interchange-backup-faults-')));
    [data, target] = [await makeDataDir(), await makeDataDir()];
    await done(runCommand(['migrate'], { env: { DATA_DIR: data.path } }));
    key = (await readFile(join(data.path, 'master.key'), 'utf8')).trim();
  });
  after(async () => {
    await data.remove();
    await target.remove();
    await rm(folder, { recursive: true, force: true });
  });

  test('a backup ends the server that a killed one left, and goes on in its place [OPS-34]', async () => {
    const pid = await leaveServer(at('first.unfinished'));
    await writeFile(at('first.unfinished/backup.lock'), '');
    const { stderr } = await done(
      runCommand(['backup', '--to', at('first')], { env: { DATA_DIR: data.path } }),
    );
    assert.match(
      stderr,
      /^Opening the database …\nCopying about \d+ MB, and the WAL …\nStarting a server .* …\nWriting the copy .* …\n$/,
    );
    assert.equal(isAlive(pid), false);
    assert.deepEqual(await readdir(folder), ['first']);
    assert.deepEqual((await readdir(at('first'))).sort(), [
      'manifest.json',
      'postgresql',
      'postgresql.password',
    ]);
  });

  test('a backup is made though a rotation replaced the master key after the copy was made [OPS-34]', async () => {
    const keys = [OLD_KEY, key].map((text) => createMasterKey(Buffer.from(text, 'hex')));
    const load = async () => (keys.length > 1 ? keys.pop() : keys[0]) ?? assert.fail();
    const masterKey = { name: 'key', fixed: false, load, remedy: async () => '' };
    const made = await backUp({ dataDir: data.path, folder: at('rotated'), masterKey, progress: SILENT });
    assert.deepEqual([made.masterKey.id, made.manifest.masterKeyIds], [idOf(key), [idOf(key)]]);
  });

  test('a backup and a restore that a signal stops leave nothing, and no server [OPS-34]', async () => {
    const aside = await makeDataDir();
    const key = join(data.path, 'master.key');
    const restoring = ['restore', '--from', at('first'), '--key-file', key];
    for (const [args, dataDir, signal, code] of [
      [['backup', '--to', at('stopped')], data.path, 'SIGTERM', 143],
      [restoring, aside.path, 'SIGINT', 130],
    ] as const) {
      const { child, ended, output } = startCommand(args, { env: { DATA_DIR: dataDir } });
      await waitUntil(() => output().stderr.includes('Starting a server on the copy'));
      child.kill(signal);
      const { code: given, stderr } = await ended;
      assert.deepEqual([given, stderr.includes(`${signal} stopped the ${args[0]}.`)], [code, true], stderr);
    }
    assert.equal(
      (await readdir(folder)).some((name) => name.startsWith('stopped')),
      false,
    );
    assert.deepEqual((await readdir(aside.path)).sort(), ['postgresql.gate', 'postgresql.users']);
    await assert.rejects(serverPid(data.path), { code: 'ENOENT' });
    await aside.remove();
  });

  test('a backup says that Ctrl-C stopped it, also while a server is started, which a terminal sends it to as well [OPS-34]', {
    skip: process.platform !== 'linux',
  }, async () => {
    const to = at('interrupted');
    const { child, ended } = startCommand(['backup', '--to', to], { env: { DATA_DIR: data.path } });
    const starting = await waitUntil(() => starterOf(to));
    child.kill('SIGINT');
    try {
      process.kill(starting, 'SIGINT');
    } catch {
      // It is done already; then the backup stops at its next step.
    }
    const { code, stderr } = await ended;
    assert.deepEqual([code, stderr.includes('SIGINT stopped the backup.')], [130, true], stderr);
    assert.equal(
      (await readdir(folder)).some((name) => name.startsWith('interrupted')),
      false,
    );
  });

  test('a restore that cannot finish keeps the restored database and its key for the next start [CMD-25, OPS-38]', async () => {
    await mkdir(join(target.path, 'postgresql'), { recursive: true });
    await writeFile(join(target.path, 'postgresql/PG_VERSION'), 'old');
    await writeFile(join(target.path, 'master.key'), OLD_KEY);
    const pid = await leaveServer(join(target.path, 'restore.stage-1'));
    // A backup that came by way of a disk without modes is closed to others again.
    await chmod(at('first/postgresql.password'), 0o644);
    await mkdir(join(target.path, BEFORE, 'master.key'), { recursive: true });
    await assert.rejects(restore(optionsOf(target.path)), {
      name: 'EmbeddedPostgresError',
      message:
        /could not finish \(E.*\)\. Both databases are kept\. Remove the cause, then start the service/,
    });
    assert.equal(isAlive(pid), false, 'the server of the restore that was killed before');
    const stage = `restore.stage-${NOW.getTime()}`;
    assert.deepEqual(
      (await readdir(target.path)).filter((name) => name.startsWith('restore')),
      ['restore.json', stage],
    );
    assert.equal((await readFile(join(target.path, stage, 'master.key'), 'utf8')).trim(), key);
    const env = { DATA_DIR: target.path };
    for (const command of [
      ['organisation', 'list'],
      ['restore', '--from', at('first'), '--replace'],
      ['backup', '--to', at('second')],
    ]) {
      const { code, stderr } = await runCommand(command, { env });
      assert.deepEqual([code, /could not finish/.test(stderr)], [1, true], stderr);
    }

    await rm(join(target.path, BEFORE, 'master.key'), { recursive: true });
    await done(runCommand(['organisation', 'list'], { env }));
    assert.equal((await readFile(join(target.path, 'master.key'), 'utf8')).trim(), key);
    assert.equal(await readFile(join(target.path, BEFORE, 'master.key'), 'utf8'), OLD_KEY);
    assert.equal(await readFile(join(target.path, BEFORE, 'postgresql/PG_VERSION'), 'utf8'), 'old');
    assert.deepEqual(
      (await readdir(target.path)).filter((name) => name.startsWith('restore')),
      [],
    );
    for (const name of ['postgresql.password', 'master.key'])
      assert.equal((await stat(join(target.path, name))).mode & 0o777, 0o600, name);
  });

  test('a restore refuses to replace a file that is mounted, before it copies [CMD-25]', {
    skip: whyNoSmallDisk() ?? false,
  }, async () => {
    await mkdir(at('made/postgresql'), { recursive: true });
    await writeFile(at('made/postgresql.password'), '');
    await writeManifest(at('made'), { takenAt: NOW.toISOString(), masterKeyIds: [idOf(OLD_KEY)] }, () => 0);
    await mkdir(at('mounted data'));
    for (const name of ['key', 'mounted data/master.key']) await writeFile(at(name), OLD_KEY);
    const restoreArgs = ['restore', '--from', at('made'), '--key-file', at('key')];
    const { code, stderr } = await withMount(at('key'), at('mounted data/master.key'), restoreArgs);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /mounted data\/master\.key is mounted by itself or on another file system, so a restore cannot replace it\. Nothing was changed\. Mount the whole folder/,
    );
    assert.deepEqual(
      (await readdir(at('mounted data'))).filter((name) => !/^postgresql\.(gate|users)$/.test(name)),
      ['master.key'],
    );
  });

  function optionsOf(dataDir: string): RestoreOptions {
    return {
      dataDir,
      from: at('first'),
      masterKey: {
        name: 'key',
        fixed: true,
        load: async () => createMasterKey(Buffer.from(key, 'hex')),
        remedy: async () => '',
      },
      keepKey: true,
      replace: true,
      dryRun: false,
      now: NOW,
      progress: SILENT,
    };
  }
});

async function done(command: Promise<CommandResult>): Promise<CommandResult> {
  const result = await command;
  assert.equal(result.code, 0, result.stdout + result.stderr);
  return result;
}

/** A server on the folder whose only user was killed. */
async function leaveServer(dataDir: string): Promise<number> {
  const holder = await openElsewhere(dataDir);
  const pid = await serverPid(dataDir);
  await holder.kill();
  assert.equal(isAlive(pid), true);
  return pid;
}

/** Run `interchange` as a process that sees `from` at `to`; both are on the same file system. */
async function withMount(from: string, to: string, args: readonly string[]): Promise<CommandResult> {
  const entry = fileURLToPath(new URL('../src/bin/interchange.ts', import.meta.url));
  const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
  const program = ['sh', '-c', script, 'sh', from, to, process.execPath, entry, ...args];
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('unshare', [...OWN_MOUNTS, ...program], { env: { PATH, HOME, DATA_DIR: dirname(to) } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

/** The process that starts a server below this folder, while it does. */
async function starterOf(folder: string): Promise<number | undefined> {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const [program = '', ...args] = (await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).split(
      '\0',
    );
    if (program.endsWith('/pg_ctl') && args.some((arg) => arg.startsWith(folder))) return Number(name);
  }
  return undefined;
}
