import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, test } from 'node:test';
import passedTitles from './passed-titles.ts';

const TESTS = `
  import { describe, test, it } from 'node:test';
  test('passes', () => {});
  test('fails', () => { throw new Error('no'); });
  test('is skipped', { skip: 'not here' }, () => {});
  test('is to be done', { todo: true }, () => {});
  describe('a group', () => { it('passes inside', () => {}); });
`;

test('only tests that ran and passed are told, not groups of them', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'interchange-titles-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'some.test.mjs');
  await writeFile(file, TESTS);
  const titles = await Array.fromAsync(run({ files: [file], isolation: 'none' }).compose(passedTitles));
  assert.deepEqual(titles.map(String), ['passes\n', 'passes inside\n']);
});
