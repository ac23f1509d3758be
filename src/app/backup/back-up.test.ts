/** What a backup refuses before it touches anything; test/backup-restore.test.ts has what it does. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { runCommand } from '../../../test-support/service/command.ts';

const KEY = '17'.repeat(32);

let folder: string;
const at = (...names: string[]) => join(folder, ...names);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'interchange-back-up-'));
  // No database, so whatever goes past the checks fails in another way.
  await mkdir(at('data/postgresql'), { recursive: true });
  await writeFile(at('data/postgresql/notes.txt'), 'mine');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function backupTo(to: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(['backup', '--to', to, ...args], {
    env: { DATA_DIR: at('data'), MASTER_KEY: KEY },
  });
  assert.equal(code, 1, stdout);
  return stderr;
}

const FOREIGN: Readonly<Record<string, () => Promise<void>>> = {
  'a folder with files of others': async () => {
    await mkdir(at('to.unfinished'));
    await writeFile(at('to.unfinished/precious'), '');
  },
  'a folder with files of others beside a lock': async () => {
    await mkdir(at('to.unfinished'));
    for (const name of ['precious', 'backup.lock']) await writeFile(at('to.unfinished', name), '');
  },
  'a database without a lock': async () => {
    await mkdir(at('to.unfinished/postgresql'), { recursive: true });
  },
  'a link to an empty folder': async () => {
    await mkdir(at('elsewhere'));
    await symlink(at('elsewhere'), at('to.unfinished'));
  },
  'a link to what a killed backup left': async () => {
    await mkdir(at('elsewhere/postgresql'), { recursive: true });
    await writeFile(at('elsewhere/backup.lock'), '');
    await symlink(at('elsewhere'), at('to.unfinished'));
  },
  'a folder whose lock is a link': async () => {
    await mkdir(at('to.unfinished'));
    await symlink(at('made-by-the-lock'), at('to.unfinished/backup.lock'));
  },
  'a file': () => writeFile(at('to.unfinished'), ''),
};

for (const [what, make] of Object.entries(FOREIGN))
  test(`a backup leaves ${what} alone where it would write`, async () => {
    await make();
    const before = (await readdir(folder, { recursive: true })).sort();
    assert.match(
      await backupTo(at('to')),
      /to\.unfinished exists and is not what a killed backup of this user left\. It was not changed\. Move it away/,
    );
    assert.deepEqual((await readdir(folder, { recursive: true })).sort(), before);
  });

test('a backup is not made inside the data folder, whichever path leads there', async () => {
  await symlink(at('data'), at('link'));
  await mkdir(at('disk'));
  await rm(at('data/postgresql'), { recursive: true });
  await symlink(at('disk'), at('data/postgresql'));
  const before = (await readdir(folder, { recursive: true })).sort();
  for (const to of ['data/b', 'data/postgresql/b', 'link/b', 'disk/b', 'data'])
    assert.match(
      await backupTo(at(to)),
      to === 'data'
        ? /exists, and was not changed/
        : /is in the data folder .*, and was not made\. Name a folder outside/,
      to,
    );
  assert.deepEqual((await readdir(folder, { recursive: true })).sort(), before);
});

test('a folder beside the data folder is not taken for one inside, and no folder for a missing one', async () => {
  assert.doesNotMatch(await backupTo(at('data-backup')), /is in the data folder/);
  assert.match(
    await backupTo(at('missing/b')),
    /The folder \S*missing does not exist\. Make it, or name another one with --to\./,
  );
});

test('a key file in a folder that is missing is refused before anything is copied', async () => {
  const before = (await readdir(folder, { recursive: true })).sort();
  assert.match(
    await backupTo(at('to'), '--write-key-file', at('missing/key')),
    /The folder \S*missing does not exist, so nothing was copied\. Make it, or name another one with --write-key-file\./,
  );
  assert.deepEqual((await readdir(folder, { recursive: true })).sort(), before);
});

test('the refusal for DATABASE_URL shows no command with a password among its arguments', async () => {
  const { code, stderr } = await runCommand(['backup', '--to', at('to')], {
    env: { DATABASE_URL: 'postgres://owner:secret@localhost/interchange', MASTER_KEY: KEY },
  });
  assert.equal(code, 1);
  assert.match(stderr, /as docs\/backup\.md says: pg_dump reads the connection from a service file/);
  assert.doesNotMatch(stderr, /secret|\$DATABASE_URL/);
});
