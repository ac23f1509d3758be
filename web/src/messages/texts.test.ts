/** Every text of a page stands in the catalogues. `npm run check` finds text between tags (biome.json); this, names of controls. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('..', import.meta.url));
const NAMED =
  /\s(?:alt|aria-label|description|label|placeholder|title)=(?:"([^"]*)"|\{'([^']*)'\}|\{`([^`$]*)`\})/g;
/** The key of a text, or the address of a system. */
const NO_TEXT = /^(?:[a-z][A-Za-z]*|https?:\/\/\S+)$/;

test('no control is named by a text that is in no catalogue [WEB-8]', () => {
  const files = globSync('**/*.tsx', { cwd: SOURCES });
  assert.ok(files.length > 100);
  const found = files.flatMap((file) =>
    [...readFileSync(`${SOURCES}/${file}`, 'utf8').matchAll(NAMED)]
      .map(([, ...texts]) => texts.find((text) => text !== undefined) ?? '')
      .filter((text) => !NO_TEXT.test(text))
      .map((text) => `${file}: ${text}`),
  );
  assert.deepEqual(found, []);
});
