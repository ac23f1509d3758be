import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ADVISORY_LOCKS } from './advisory-locks.ts';

const SOURCE = new URL('../../', import.meta.url);

test('no two advisory locks share a number, and none has its number elsewhere', async () => {
  const numbers = Object.values(ADVISORY_LOCKS);
  assert.equal(new Set(numbers).size, numbers.length);
  for await (const file of glob('**/*.ts', { cwd: SOURCE })) {
    if (file.endsWith('advisory-locks.ts')) continue;
    assert.doesNotMatch(await readFile(new URL(file, SOURCE), 'utf8'), /7_?246_?318_?\d{3}/, file);
  }
});
