/** docs/errors.md has every error that the source can answer with, under its status, and no other. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Wording } from '../src/platform/domain-error.ts';
import { type Answer, type Json, startTestApi } from '../test-support/service/api.ts';

const ROOT = new URL('../', import.meta.url);
const FACTORIES = 'src/platform/http/errors.ts';
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

/** What makes an error: its status and its code, where a call does not name them. */
interface Maker {
  status: string | undefined;
  code: string | undefined;
}

test('every error of the source is on the page, under its status, and no other is [HTTP-5]', async () => {
  const onPage = errorsOfPage();
  const inSource = [...errorsOfSource(), ...(await errorsOfCatalogues())];
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

test('the operator finds the code of a refusal by the correlation id of its answer [HTTP-5]', async (t) => {
  const api = await startTestApi();
  t.after(() => api.close());
  const codesOf = ({ headers }: Answer) =>
    api
      .logs()
      .split('\n')
      .filter((line) => line.includes(headers.get('x-correlation-id') ?? 'none'))
      .map((line) => JSON.parse(line).code);
  const unsigned = await api.call('/encounters/fhir/Encounter');
  assert.equal(unsigned.status, 401);
  assert.deepEqual(codesOf(unsigned), ['token_missing']);
  const unencoded = await api.call('/patients/base/100%');
  assert.equal(unencoded.json.message, 'The path is not percent-encoded UTF-8. Send % itself as %25.');
  assert.deepEqual(codesOf(unencoded), ['bad_encoding']);
});

test('the OpenAPI document has an example of each error, in words that the source has', async (t) => {
  const api = await startTestApi();
  t.after(() => api.close());
  const { json } = await api.call('/docs/json');
  const shown = Object.entries(json.components.responses as Record<string, Json>).flatMap(
    ([name, { content }]) =>
      Object.entries((content?.['application/json']?.examples ?? {}) as Record<string, Json>).map(
        ([code, { value }]) => {
          assert.ok(['Error', `Error${value.statusCode}`].includes(name), name);
          assert.doesNotMatch(value.message, /undefined|\[object/);
          return { key: `${value.statusCode} ${code}`, message: value.message };
        },
      ),
  );
  const documented = errorsOfPage().filter((key) => !ELSEWHERE.has(key));
  assert.deepEqual(shown.map(({ key }) => key).sort(), documented.sort());
  const texts = textsOfSource();
  const invented = shown.filter(({ message }) => !texts.some((text) => text.test(message)));
  assert.deepEqual(invented, [], 'src/app/http/error-examples.ts has messages that no source has');
});

/** Of no operation: those of /readyz, and what any path may answer (docs/http.md). */
const ELSEWHERE = new Set(['405 method_not_allowed', '503 draining', '503 master_key']);

/** Each text of the source that may be a message, as a pattern: what is put into it may be anything. */
function textsOfSource(): RegExp[] {
  const found: RegExp[] = [];
  for (const path of globSync('src/**/*.ts', { cwd: ROOT })) {
    if (path.endsWith('.test.ts') || path === 'src/app/http/error-examples.ts') continue;
    for (const [text] of read(path).matchAll(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g)) {
      const fixed = text.slice(1, -1).split(/\$\{(?:[^{}]|\{[^{}]*\})*\}/);
      if (/\w.{8,}[.]$/s.test(fixed.join('')))
        found.push(new RegExp(`^${fixed.map((part) => RegExp.escape(part)).join('.+')}$`));
    }
  }
  return found;
}

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

test('every error of a catalogue is thrown', async () => {
  const texts = globSync('{src,tools}/**/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.test.ts'));
  const thrown = new Set(
    texts.flatMap((path) => [...read(path).matchAll(/\w+Error\(\s*'(\w+)'/g)].map(([, code]) => code)),
  );
  const codes = (await catalogues()).flatMap((catalogue) => Object.keys(catalogue));
  assert.deepEqual(
    codes.filter((code) => !thrown.has(code)),
    [],
  );
});

/** Of use cases, by area. */
async function catalogues(): Promise<Readonly<Record<string, Wording>>[]> {
  const modules = await Promise.all(
    globSync('{src/*,tools}/errors.ts', { cwd: ROOT }).map((path) => import(new URL(path, ROOT).href)),
  );
  return modules.flatMap((module) => Object.values<Json>(module).flatMap(({ catalogue }) => catalogue ?? []));
}

async function errorsOfCatalogues(): Promise<{ key: string; path: string }[]> {
  const all = (await catalogues()).flatMap((catalogue) => Object.entries(catalogue));
  return all.flatMap(([code, { status }]) =>
    status === undefined ? [] : [{ key: `${status} ${code}`, path: 'a catalogue' }],
  );
}

function errorsOfSource(): { key: string; path: string }[] {
  const makers = errorMakers();
  const found = new Map<string, string>();
  for (const path of globSync('{src,local-postgres,tools}/**/*.ts', { cwd: ROOT })) {
    if (path.endsWith('.test.ts') || path === FACTORIES) continue;
    for (const key of errorsOfFile(path, makers)) found.set(key, path);
  }
  return [...found].map(([key, path]) => ({ key, path }));
}

/** A function of the file that hands its code on is a maker, too. */
function errorsOfFile(path: string, makers: ReadonlyMap<string, Maker>): string[] {
  const text = read(path);
  const calls = new RegExp(`(?<!function )\\b(${[...makers.keys()].join('|')})\\(`, 'g');
  return [...text.matchAll(calls)].flatMap((call) => {
    const tokens = argumentTokens(text.slice(call.index + call[0].length - 1));
    const maker = makers.get(call[1] ?? '');
    const status = maker?.status ?? tokens.find((token) => /^\d{3}$/.test(token)) ?? '400';
    const given = tokens.filter((token) => /^'[a-z][a-z0-9_]*'$/.test(token));
    const codes = given.length > 0 ? given.map((token) => token.slice(1, -1)) : (maker?.code ?? []);
    if (codes.length > 0) return [codes].flat().map((code) => `${status} ${code}`);
    const [, name] = /function (\w+)\((?![\s\S]*function )/.exec(text.slice(0, call.index)) ?? [];
    assert.ok(name !== undefined && !makers.has(name), `${path}: ${call[0]}…) has no code that can be found`);
    return errorsOfFile(path, new Map([[name, { status, code: undefined }]]));
  });
}

/** The constructor, and the functions beside it. */
function errorMakers(): Map<string, Maker> {
  const makers = new Map<string, Maker>([['new HttpError', { status: undefined, code: undefined }]]);
  const factories = /export const (\w+) = \([\s\S]*?new HttpError\((\d{3}), (?:'(\w+)'|code)/g;
  for (const [definition, name = '', status, code] of read(FACTORIES).matchAll(factories))
    makers.set(name, { status, code: code ?? /code = '(\w+)'/.exec(definition)?.[1] });
  return makers;
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
