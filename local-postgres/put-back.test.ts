import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDataFolder } from './data-folder.ts';
import { planPutBack } from './put-back.ts';

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
