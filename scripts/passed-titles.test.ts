import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, test } from 'node:test';
import passedTitles from './passed-titles.ts';

const TESTS = `
  import { describe, test, it } from 'node:test';
  test('passes [HTTP-1]', () => {});
  test('fails [HTTP-2]', () => { throw new Error('no'); });
  test('is skipped [HTTP-3]', { skip: 'not here' }, () => {});
  test('is to be done [HTTP-4]', { todo: true }, () => {});
  describe('a group [HTTP-5]', () => { it('passes inside [HTTP-6]', () => {}); });
`;

test('only tests that ran and passed are told, not groups of them', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'interchange-titles-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'some.test.mjs');
  await writeFile(file, TESTS);
  const titles = await Array.fromAsync(run({ files: [file], isolation: 'none' }).compose(passedTitles));
  assert.deepEqual(titles.map(String), ['passes [HTTP-1]\n', 'passes inside [HTTP-6]\n']);
});
