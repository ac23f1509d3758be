import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { OWN_MOUNTS, whyNoMemoryLimit, whyNoSmallDisk } from '../test-support/database/small-disk.ts';
import { type CommandResult, runProcess } from '../test-support/service/command.ts';
import { openDataFolder } from './data-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'interchange-folder-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const refused = (reason: RegExp) => (error: Error) => {
  assert.equal(error.name, 'EmbeddedPostgresError');
  assert.match(error.message, reason);
  assert.match(error.message, /^The data folder \/.* cannot be used: .*Set DATA_DIR to another folder\.$/s);
  return true;
};

test('a folder and those above it are made, for others to pass through', async () => {
  const path = join(folder, 'a', 'b', 'data');
  const opened = await openDataFolder(path);
  assert.equal(opened.path, path);
  assert.equal((await stat(path)).mode & 0o777, 0o711);
});

test('a folder that is there keeps its mode, also behind a symbolic link', async () => {
  await mkdir(join(folder, 'data'), { mode: 0o700 });
  await symlink(join(folder, 'data'), join(folder, 'link'));
  for (const name of ['data', 'link', 'data/'])
    assert.equal((await openDataFolder(join(folder, name))).path, join(folder, 'data'));
  assert.equal((await stat(join(folder, 'data'))).mode & 0o777, 0o700);
});

test('several processes may make it at once', async () => {
  const path = join(folder, 'new', 'data');
  const opened = await Promise.all(Array.from({ length: 8 }, () => openDataFolder(path)));
  assert.deepEqual(new Set(opened.map((one) => one.path)), new Set([path]));
});

test('a file in its place or on its way is named as the reason', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  await assert.rejects(openDataFolder(file), refused(/something that is not a folder has that name/));
  await assert.rejects(openDataFolder(join(file, 'data')), refused(/a part of the path is a file/));
});

test('a link that leads nowhere is refused', async () => {
  await symlink(join(folder, 'nowhere'), join(folder, 'link'));
  await assert.rejects(
    openDataFolder(join(folder, 'link')),
    refused(/something that is not a folder has that name/),
  );
});

test('a name that is too long is refused', async () => {
  await assert.rejects(openDataFolder(join(folder, 'x'.repeat(300))), refused(/\(ENAMETOOLONG\)/));
});

test('a path that the shell of pg_ctl would read in another way is refused, and nothing in it is run', async () => {
  for (const name of ['$HOME', 'a"b', '`id`', 'two\nlines'])
    await assert.rejects(
      openDataFolder(join(folder, name, 'data')),
      refused(/has one of the characters " \$ ` or a line break/),
    );
  for (const name of ["it's", 'a b', 'a\\b', '(a);b&c', 'é'])
    assert.equal((await openDataFolder(join(folder, name))).path, join(folder, name));
});

const onLinux = { skip: process.platform !== 'linux' };

test('a file system that takes no folders is refused, and not tried for ever', onLinux, async () => {
  const { code, stdout, stderr } = await commandOn('/proc/x/data');
  assert.deepEqual([code, stdout], [1, '']);
  assert.equal(
    stderr,
    'error: The data folder /proc/x/data cannot be used: the file system does not allow new folders there. Set DATA_DIR to another folder.\n',
  );
});

test('a command on a folder that cannot be used ends with 1 and one line, before it keeps a key', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  const { code, stderr } = await commandOn(file);
  assert.equal(code, 1);
  assert.match(stderr, /^error: The data folder .*\n$/);
});

/** `organisation list` in `folder`, by a script of sh that has the command as "$@", with mounts of its own. */
async function listOrganisations(script: string, flags: readonly string[] = []) {
  const entry = fileURLToPath(new URL('../src/bin/interchange.ts', import.meta.url));
  const command = [process.execPath, entry, 'organisation', 'list'];
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('unshare', [...OWN_MOUNTS, ...flags, 'sh', '-c', script, 'sh', ...command], {
    env: { PATH, HOME, DATA_DIR: folder },
  });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  return { code, stderr };
}

const saysFull = (told: { code: number; stderr: string }) =>
  assert.deepEqual(told, {
    code: 1,
    stderr: `error: The disk of ${folder} is full. Free some space, then try again.\n`,
  });

test('a disk without room for a database is named, and no server is left running', {
  skip: whyNoSmallDisk() ?? false,
}, async () => {
  // No room for what initdb makes, and none for a database beside it.
  for (const size of ['24m', '40m'])
    saysFull(
      await listOrganisations(`mount -t tmpfs -o size=${size},mode=711 none "$DATA_DIR" || exit
        "$@"
        code=$?
        test ! -e "$DATA_DIR/postgresql/postmaster.pid" || echo 'the server still runs' >&2
        exit $code`),
    );
});

test('a database that does not start because its disk is full says so', {
  skip: whyNoSmallDisk() ?? false,
}, async () => {
  saysFull(
    await listOrganisations(`mount -t tmpfs -o size=128m,mode=711 none "$DATA_DIR" && "$@" > /dev/null 2>&1 || exit
      for size in 64k 512; do dd if=/dev/zero of="$DATA_DIR/ballast-$size" bs=$size 2>/dev/null; done
      "$@"`),
  );
});

test('a system that gives no shared memory is named, for a new database too, and not a full disk', {
  skip: whyNoMemoryLimit() ?? false,
}, async () => {
  const { code, stderr } = await listOrganisations(
    `cd /proc/sys/kernel && count=$(cat shmmni) && echo 0 > shmmni
      "$@"
      echo "$count" > shmmni && "$@" > /dev/null 2>&1 && echo 0 > shmmni && "$@"`,
    ['--ipc'],
  );
  assert.equal(code, 1);
  const reason = 'could not create shared memory segment: No space left on device';
  assert.ok(stderr.startsWith('error: initdb failed: ') && stderr.includes(reason), stderr);
  const [, start = ''] = stderr.split(' did not start: ');
  assert.ok(start.includes(reason), stderr);
});

test('a disk without any room has nothing left of a first start, and what is there is still read', {
  skip: whyNoSmallDisk() ?? false,
}, async () => {
  const module = fileURLToPath(new URL('data-folder.ts', import.meta.url));
  const program = `
    const { readOrMakePassword } = await import(${JSON.stringify(module)});
    const { makeKeyOnce } = await import(${JSON.stringify(new URL('../src/app/config/master-key.ts', import.meta.url))});
    const { DATA_DIR } = process.env;
    for (const make of [() => readOrMakePassword(DATA_DIR), () => makeKeyOnce(DATA_DIR, DATA_DIR + '/master.key')])
      await make().then(console.log, ({ code }) => console.log(code));`;
  const script = `mount -t tmpfs -o size=1m none "$DATA_DIR" && cd "$DATA_DIR" || exit
    dd if=/dev/zero of=ballast bs=64k 2>/dev/null
    "$@"
    ls
    rm ballast && printf kept > postgresql.password && dd if=/dev/zero of=ballast bs=64k 2>/dev/null
    "$@"
    ls`;
  const node = [process.execPath, '--input-type=module', '--eval', program];
  const child = spawn('unshare', [...OWN_MOUNTS, 'sh', '-c', script, 'sh', ...node], {
    env: { PATH: process.env.PATH, DATA_DIR: folder },
  });
  assert.deepEqual((await text(child.stdout)).trim().split('\n'), [
    ...['ENOSPC', 'ENOSPC', 'ballast'],
    ...['kept', 'ENOSPC', 'ballast', 'postgresql.password'],
  ]);
});

const asRoot = { skip: process.getuid?.() !== 0 && 'only root changes users' };

test('a folder of someone else is refused', asRoot, async () => {
  await mkdir(join(folder, 'theirs'));
  await chmod(folder, 0o755);
  for (const name of ['theirs', 'theirs/new']) {
    process.seteuid?.(65534);
    try {
      await assert.rejects(
        openDataFolder(join(folder, name)),
        refused(/this user cannot write there\. Run the command as/),
      );
    } finally {
      process.seteuid?.(0);
    }
  }
});

/** A command that opens the database; killed when it does not end by itself. */
async function commandOn(dataDir: string): Promise<CommandResult> {
  return runProcess(['organisation', 'list'], { env: { DATA_DIR: dataDir }, timeoutMs: 60_000 });
}
