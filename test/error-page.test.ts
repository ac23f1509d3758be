/** docs/errors.md has every error that the source can answer with, under its status, and no other. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { startTestApi } from '../test-support/api.ts';

const ROOT = new URL('../', import.meta.url);
const FACTORIES = 'src/platform/http/errors.ts';
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

/** What a call of a factory answers: its status, and its code where the call names none. */
interface Factory {
  status: string;
  usualCode: string | undefined;
}

test('every error of the source is on the page, under its status, and no other is', () => {
  const onPage = errorsOfPage();
  const inSource = errorsOfSource();
  const missing = inSource.filter((error) => !onPage.includes(error.key));
  assert.deepEqual(missing, [], 'docs/errors.md lacks these; give each a row under its status');
  const known = new Set(inSource.map(({ key }) => key));
  assert.deepEqual(
    onPage.filter((key) => !known.has(key)),
    [],
    'docs/errors.md has rows for errors that the source does not have',
  );
  assert.equal(new Set(onPage).size, onPage.length, 'each error has one row');
  assert.ok(onPage.length > 50, 'the page is read');
});

test('the operator finds the code of a refusal by the correlation id of its answer', async (t) => {
  const api = await startTestApi();
  t.after(() => api.close());
  const { headers, status } = await api.call('/encounters/fhir/Encounter');
  assert.equal(status, 401);
  const lines = api
    .logs()
    .split('\n')
    .filter((line) => line.includes(headers.get('x-correlation-id') ?? 'none'));
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).code),
    ['token_missing'],
  );
});

/** `400 bad_json` for each row. */
function errorsOfPage(): string[] {
  return read('docs/errors.md')
    .split(/^## /m)
    .flatMap((section) => {
      const status = /^\d{3}/.exec(section)?.[0];
      return [...section.matchAll(/^\| <a id="(\w+)"><\/a>`(\w+)` \|/gm)].map(([row, anchor, code]) => {
        assert.equal(anchor, code, row);
        return `${status} ${code}`;
      });
    });
}

function errorsOfSource(): { key: string; path: string }[] {
  const factories = errorFactories();
  const names = [...factories.keys()].join('|');
  const calls = new RegExp(`\\b(?:new (HttpError)|(${names}))\\(`, 'g');
  const found = new Map<string, string>();
  for (const path of globSync('src/**/*.ts', { cwd: ROOT })) {
    if (path.endsWith('.test.ts') || path === FACTORIES) continue;
    const text = read(path);
    for (const call of text.matchAll(calls)) {
      const parts = argumentTokens(text.slice(call.index + call[0].length - 1));
      const factory = factories.get(call[2] ?? '');
      const codes = parts.filter((part) => /^'[a-z][a-z0-9_]*'$/.test(part)).map((part) => part.slice(1, -1));
      if (codes.length === 0 && factory?.usualCode !== undefined) codes.push(factory.usualCode);
      assert.notEqual(codes.length, 0, `${path}: the code of ${call[0]}…) must be written in the call`);
      const status = factory?.status ?? parts.find((part) => /^\d{3}$/.test(part)) ?? '400';
      for (const code of codes) found.set(`${status} ${code}`, path);
    }
  }
  return [...found].map(([key, path]) => ({ key, path }));
}

function errorFactories(): Map<string, Factory> {
  const text = read(FACTORIES);
  const factories = text.matchAll(/export const (\w+) = \([\s\S]*?new HttpError\((\d{3}), (?:'(\w+)'|code)/g);
  return new Map(
    [...factories].map(([definition, name = '', status = '', code]) => [
      name,
      { status, usualCode: code ?? /code = '(\w+)'/.exec(definition)?.[1] },
    ]),
  );
}

/** Texts and numbers among the arguments of a call, not those inside what an argument holds. */
function argumentTokens(text: string): string[] {
  const tokens: string[] = [];
  let depth = 0;
  for (const [token] of text.matchAll(/'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|[()[\]{}]|\b\d+\b/g)) {
    if ('([{'.includes(token)) depth += 1;
    else if (')]}'.includes(token)) depth -= 1;
    else if (depth === 1) tokens.push(token);
    if (depth === 0) break;
  }
  return tokens;
}
