import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openHere } from '../test-support/database/embedded.ts';
import { waitUntil } from '../test-support/wait-until.ts';
import { openDataFolder } from './data-folder.ts';
import { waitForLock } from './file-lock.ts';
import { isPutBackPlanned, planPutBack } from './put-back.ts';

const PLAN = { stage: 'restore.stage-1', before: 'before-restore-1' };
const NAMES = ['postgresql', 'postgresql.password', 'master.key'];
/** Every rename of a restore, in order. */
const RENAMES = NAMES.flatMap((name) => [
  [name, join(PLAN.before, name)],
  [join(PLAN.stage, name), name],
]);

test('a restore that is killed at any rename is finished by whoever opens the folder next [CMD-25]', async () => {
  for (let done = 0; done <= RENAMES.length; done += 1) {
    const folder = await mkdtemp(join(tmpdir(), 'interchange-put-back-'));
    const at = (...names: string[]) => join(folder, ...names);
    for (const [place, content] of [
      ['.', 'old'],
      [PLAN.stage, 'new'],
    ] as const) {
      await mkdir(at(place, 'postgresql'), { recursive: true });
      for (const name of ['postgresql/PG_VERSION', ...NAMES.slice(1)])
        await writeFile(at(place, name), content);
    }
    await planPutBack(folder, PLAN);
    await mkdir(at(PLAN.before));
    for (const [from = '', to = ''] of RENAMES.slice(0, done)) await rename(at(from), at(to));

    await Promise.all([openDataFolder(folder), openDataFolder(folder)]);
    for (const [place, content] of [
      ['.', 'new'],
      [PLAN.before, 'old'],
    ] as const)
      for (const name of ['postgresql/PG_VERSION', ...NAMES.slice(1)])
        assert.equal(await readFile(at(place, name), 'utf8'), content, `${place}/${name} after ${done}`);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('restore')),
      [],
    );
    await rm(folder, { recursive: true });
  }
});

describe('a restore that cannot finish', () => {
  let folder: string;
  const at = (...names: string[]) => join(folder, ...names);
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'interchange-put-back-')));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('keeps both databases and says what to do, until it can [OPS-38]', async () => {
    for (const [place, content] of [
      ['.', 'old'],
      [PLAN.stage, 'new'],
    ] as const) {
      await mkdir(at(place, 'postgresql'), { recursive: true });
      for (const name of NAMES.slice(1)) await writeFile(at(place, name), content);
    }
    await planPutBack(folder, PLAN);
    // A file cannot be renamed to a folder.
    await mkdir(at(PLAN.before, 'master.key'), { recursive: true });
    for (let tries = 0; tries < 2; tries += 1)
      await assert.rejects(openDataFolder(folder), {
        name: 'EmbeddedPostgresError',
        message:
          /^A restore began to replace the database in .* could not finish \(E.*master\.key.*\)\. Both databases are kept\. Remove the cause, then start the service or run any command/,
      });
    assert.deepEqual(await readdir(at(PLAN.stage)), ['master.key']);
    assert.deepEqual((await readdir(at(PLAN.before))).sort(), [
      'master.key',
      'postgresql',
      'postgresql.password',
    ]);
    await rm(at(PLAN.before, 'master.key'), { recursive: true });
    await openDataFolder(folder);
    assert.equal(await readFile(at('master.key'), 'utf8'), 'new');
    assert.equal(await readFile(at(PLAN.before, 'master.key'), 'utf8'), 'old');
    assert.equal(isPutBackPlanned(folder), false);
  });

  test('makes no new database where both are gone from their places [OPS-38]', async () => {
    await mkdir(at(PLAN.before, 'postgresql'), { recursive: true });
    await planPutBack(folder, PLAN);
    await assert.rejects(openHere(folder), {
      name: 'EmbeddedPostgresError',
      message: `A restore began to replace the database in ${folder}, but the restored one is no longer in ${at(PLAN.stage)}. The one before is in ${at(PLAN.before)}. Move what is there back to ${folder}, remove ${at('restore.json')}, then restore again.`,
    });
    assert.equal(existsSync(at('postgresql')), false);
    assert.equal(isPutBackPlanned(folder), true);
  });

  test('stops a start that had looked at the folder before [OPS-38]', async () => {
    const gate = (await waitForLock((await openDataFolder(folder)).gate, 60_000)) ?? assert.fail('not free');
    const starting = openHere(folder);
    starting.catch(() => undefined);
    // Made after the look at the folder, and before the wait for the gate.
    await waitUntil(() => existsSync(at('postgresql.password')), 'the start waits for the gate');
    await planPutBack(folder, PLAN);
    gate.release();
    await assert.rejects(starting, /the restored one is no longer in/);
    assert.equal(existsSync(at('postgresql')), false);
  });
});
