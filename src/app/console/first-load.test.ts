/** What a browser loads before it shows anything of the console. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createConsoleFiles } from './console-files.ts';

const LIMIT_BYTES = 350_000;

test('the first load of the console is under 350 kB, compressed [WEB-11]', () => {
  const files = createConsoleFiles()() ?? assert.fail('npm test builds the console first');
  const names = [...files.index.matchAll(/="\.\/(assets\/[^"]+)"/g)].map(([, name = '']) => name);
  assert.ok(names.length >= 2, 'script and styles');
  const sizes = names.map((name) => files.assets.get(name)?.gzip?.length ?? assert.fail(name));
  const total = sizes.reduce((sum, size) => sum + size, gzipSync(files.index).length);
  assert.ok(total < LIMIT_BYTES, `${total} bytes`);
  assert.ok(total > 50_000, 'it is the whole console');
});

test('what a page alone needs is loaded when it is opened [WEB-11]', () => {
  const files = createConsoleFiles()() ?? assert.fail('npm test builds the console first');
  const holding = (words: string) =>
    [...files.assets].filter(([, { plain }]) => plain.includes(words)).map(([name]) => name);
  // Of the quick start, the list of connections and the import of maps.
  for (const words of ['first_call.py', '/rotate-secret', '.csv,.json,text/csv']) {
    const names = holding(words);
    assert.equal(names.length, 1, words);
    assert.ok(!files.index.includes(names[0] ?? ''), words);
  }
});
