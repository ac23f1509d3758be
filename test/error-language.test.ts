/** What the service says in French: all of it that HTTP answers with, and only to who asks for it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { get, type IncomingHttpHeaders } from 'node:http';
import { text as readAll } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import type { Wording } from '../src/platform/domain-error.ts';
import { worded } from '../src/platform/domain-error.ts';
import { FRENCH } from '../src/platform/http/validation/phrases.fr.ts';
import { ENGLISH } from '../src/platform/http/validation/phrases.ts';
import { type Json, useEmptyApi } from '../test-support/service/api.ts';

const ROOT = new URL('../', import.meta.url);

interface Catalogue {
  catalogue: Readonly<Record<string, Wording>>;
  french: Readonly<Record<string, Parameters<typeof worded>[0]>>;
}

test('every code that HTTP answers with has French words of its own, with the same values [HTTP-31]', async () => {
  const paths = globSync('src/*/errors.ts', { cwd: ROOT });
  const modules = await Promise.all(paths.map((path) => import(new URL(path, ROOT).href)));
  const all = modules.flatMap((module) => Object.values<Catalogue>(module)).filter((made) => made.catalogue);
  assert.equal(all.length, paths.length);
  for (const { catalogue, french } of all)
    for (const [code, { status, text, example = {} }] of Object.entries(catalogue)) {
      if (status === undefined) continue;
      const words = [text, french[code] ?? ''].map((one) => worded(one, example));
      const [en = '', fr = ''] = words;
      assert.notEqual(fr, en, code);
      assert.doesNotMatch(fr, /undefined|\[object|^$/, code);
      for (const value of Object.values(example).filter((one) => ['string', 'number'].includes(typeof one)))
        if (en.includes(String(value)) && !TRANSLATED.includes(value))
          assert.ok(fr.includes(String(value)), `${code} lacks ${value} in French`);
    }
});

/** Values of examples that are words themselves. */
const TRANSLATED: readonly unknown[] = [
  'The patient',
  'The laboratory order',
  'disable their own account',
  'email',
  'prefix',
];

test('every message beside the catalogues is worded in both languages, each in its own', () => {
  const found = globSync('src/**/*.ts', { cwd: ROOT })
    .filter((path) => !path.endsWith('.test.ts'))
    .flatMap((path) => {
      const text = readFileSync(new URL(path, ROOT), 'utf8');
      return [...text.matchAll(/\ben:\s*(['`].*['`]),\s*fr:\s*(['`].*['`])/g)];
    });
  assert.ok(found.length > 100, `${found.length} are found`);
  for (const [, en = '', fr = ''] of found) {
    assert.notEqual(en, fr);
    const values = (words: string) => new Set(words.replaceAll('${fr', '${en').match(/\$\{[a-z]\w*[.}]/g));
    assert.deepEqual(values(fr), values(en), fr);
  }
});

/** Where French has two words for one thing, the other is the one of the console. */
const NOT_OF_THE_CONSOLE = /\b(?:employ(?:er|ez)|membres?)\b|\bune espace\b/i;

test('French errors and the French console have one word for one thing', () => {
  const texts = globSync(['src/**/*.ts', 'web/src/messages/**/*fr.ts'], { cwd: ROOT }).flatMap((path) => {
    const text = readFileSync(new URL(path, ROOT), 'utf8');
    return path.endsWith('fr.ts') ? [text] : [...text.matchAll(/\bfr: .*/g)].map(([line]) => line);
  });
  assert.ok(texts.length > 100, `${texts.length} are found`);
  for (const text of texts) assert.doesNotMatch(text, NOT_OF_THE_CONSOLE);
});

test('every phrase about a refused input differs in French, and keeps the name [HTTP-31]', () => {
  const values: Json = {
    within: { kind: 'integer', min: 1, max: 9 },
    unknownProperty: ['a'],
    missing: ['a'],
    oneOf: ['a'],
    ofType: 'boolean',
  };
  for (const [phrase, english] of Object.entries<Json>(ENGLISH)) {
    const french = (FRENCH as Json)[phrase];
    if (typeof english === 'string') assert.notEqual(french, english);
    else {
      const said = french('timeZone', values[phrase] ?? 3);
      assert.notEqual(said, english('timeZone', values[phrase] ?? 3));
      assert.match(said, /^timeZone /);
    }
  }
});

const api = await useEmptyApi();

describe('an error over HTTP', () => {
  const refused = (language: string, path = '/patients/base?search=a', more = {}) =>
    api.call(path, { headers: { 'accept-language': language, ...more } });

  test('is in French for who asks for it, and says so [HTTP-31]', async () => {
    for (const language of ['fr', 'fr-CA, en;q=0.5']) {
      const { status, json, headers } = await refused(language);
      assert.deepEqual(json, {
        statusCode: 401,
        message: 'Le jeton d’accès manque. Envoyez l’en-tête Authorization: Bearer <accessToken>.',
        error: 'Unauthorized',
      });
      assert.equal(status, 401);
      assert.equal(headers.get('content-language'), 'fr');
      // So nothing keeps it for somebody else.
      assert.equal(headers.get('cache-control'), 'no-store');
    }
  });

  test('of a path that is hidden is the one of a path that is none, in French too [HTTP-31]', async () => {
    const answerOf = async (path: string) => {
      const { status, text, headers } = await refused('fr', api.origin + path, { via: 'proxy' });
      return [status, text, headers.get('content-language')];
    };
    assert.deepEqual(await answerOf('/metrics'), await answerOf('/nowhere'));
  });

  test('is the same as ever for everybody else, to the byte [HTTP-31]', async () => {
    const plain = await refused('en');
    assert.match(plain.json.message, /^The access token is missing\./);
    for (const language of ['*', 'de', 'en-GB, fr;q=0.9', 'fr;q=9', ',;=\t,', `${'fr-'.repeat(4_000)}`]) {
      const answer = await refused(language);
      assert.equal(answer.text, plain.text, language);
      const names = (headers: Headers) => [...headers.keys()].sort();
      assert.deepEqual(names(answer.headers), names(plain.headers));
    }
    const { text, headers } = await withoutHeader();
    assert.equal(text, plain.text);
    assert.equal(headers['content-language'], undefined);
  });

  test('of validation, of a use case and of the body are in French', async () => {
    const tenant = await api.createTenant();
    const { token } = await api.createAccount(tenant);
    const call = (path: string, options = {}) =>
      api.call(path, { token, headers: { 'accept-language': 'fr' }, ...options });
    const patients = await call('/patients/base?purposeOfUse=TREATMENT&limit=0');
    assert.equal(patients.json.message, 'limit doit être un nombre entier de 1 à 100.');
    const missing = await call('/patients/base/8d3f2f06-9a51-4c52-8a07-6b1f0f4a2c11?purposeOfUse=TREATMENT');
    assert.match(missing.json.message, /^Le patient est introuvable\./);
    const path = await call('/nowhere');
    assert.match(path.json.message, /^Ce chemin n’existe pas\./);
    const headers = { 'accept-language': 'fr', 'content-type': 'application/json' };
    const body = await call('/auth/login', { method: 'POST', headers, body: '{' });
    assert.equal(body.json.message, 'Le corps n’est pas du JSON valide.');
  });

  test('as an OperationOutcome has the same words in its diagnostics', async () => {
    const fhir = '/encounters/fhir/Encounter';
    const { json, headers } = await refused('fr', fhir, { accept: 'application/fhir+json' });
    assert.equal(json.resourceType, 'OperationOutcome');
    assert.match(json.message, /^Le jeton d’accès manque/);
    assert.equal(json.issue[0].diagnostics, json.message);
    assert.equal(headers.get('content-language'), 'fr');
  });

  test('is in English in the log', async () => {
    await refused('fr');
    assert.doesNotMatch(api.logs(), /jeton|accès/);
  });

  test('an answer that is no error says nothing of a language', async () => {
    const { status, headers } = await api.call('/encounters/fhir/metadata', {
      headers: { 'accept-language': 'fr' },
    });
    assert.equal(status, 200);
    assert.equal(headers.get('content-language'), null);
  });

  /** `fetch` sends `accept-language: *` by itself. */
  async function withoutHeader(): Promise<{ text: string; headers: IncomingHttpHeaders }> {
    const [response] = await once(get(`${api.baseUrl}/patients/base?search=a`), 'response');
    return { text: await readAll(response), headers: response.headers };
  }
});
