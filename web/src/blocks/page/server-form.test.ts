/** How a form finds the field that a message is about: by words with which the service begins it. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const read = (pattern: string) =>
  globSync(pattern, { cwd: ROOT })
    .filter((path) => !path.includes('.test.'))
    .map((path) => readFileSync(ROOT + path, 'utf8'));

/** The lists that `useServerForm` is given: `aboutField: { … }` and constants that are called after it. */
const LISTS = /\baboutField: (\{.*\}),\n|\bABOUT_\w+ = ([^;]*);\n/g;
/** The name of a member, with which messages about input begin. */
const MEMBER = /^[a-z]\w+ $/;

test('a message is looked for by words with which one of the service begins [WEB-69]', () => {
  const lists = read('web/src/**/*.{ts,tsx}').flatMap((text) => [...text.matchAll(LISTS)]);
  const beginnings = lists
    .flatMap(([list]) => [...list.matchAll(/'([^']+)'/g)])
    .map(([, words = '']) => words)
    .filter((words) => !MEMBER.test(words));
  assert.ok(beginnings.length > 20, `${beginnings.length} are found`);
  const service = read('src/**/*.ts').join('\n');
  const gone = beginnings.filter((words) => !["'", '`'].some((mark) => service.includes(mark + words)));
  assert.deepEqual(gone, []);
});
