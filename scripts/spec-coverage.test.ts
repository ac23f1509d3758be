/** Every path that docs/spec-coverage.md names is there, and every row names code and a test. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../', import.meta.url).pathname;
const rows = readFileSync(`${ROOT}docs/spec-coverage.md`, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Sentence'))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

const pathsOf = (cell = ''): string[] =>
  [...cell.matchAll(/`([\w.-]+(?:\/[\w.*-]+)*\.(?:ts|sql|js|json|md))`/g)].map(([, path]) => path ?? '');

test('every row names a sentence, code and a test', () => {
  assert.ok(rows.length > 100);
  for (const [, sentence, code, check] of rows)
    assert.ok(sentence && code && check, `an empty cell beside: ${sentence}`);
});

test('every path is there', () => {
  const missing = rows
    .flatMap(([, , code, check]) => [...pathsOf(code), ...pathsOf(check)])
    .filter((path) =>
      path.includes('*') ? globSync(path, { cwd: ROOT }).length === 0 : !existsSync(ROOT + path),
    );
  assert.deepEqual([...new Set(missing)], []);
});
