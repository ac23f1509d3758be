import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { querySchema, type RegisteredRoute, type SampleRequest } from './route-requests.ts';

const TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '0',
  '-0',
  '007',
  '-1',
  '101',
  '1e3',
  '1.0',
  '9'.repeat(15),
  '9'.repeat(400),
  'NaN',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  "' or 1=1 --",
  '$1',
  '%',
  '_',
  '\\',
  '../../../../etc/passwd',
  '0000-01-01',
  '0001-01-01',
  '9999-12-31',
  'ge0001',
  'le9999',
  'ge9999-12-31T23:59:59.999Z',
  'le0001-01-01T00:00:00+14:00',
  '2026-02-30',
  '2026-01-01T24:00:00Z',
  'ne2026-01-01',
  'Patient/',
  'Patient/1/_history/2',
  'http://localhost/Patient/1',
  '00000000-0000-0000-0000-000000000000',
  'TREATMENT,OPS',
  '\u202e\u2066',
  '\u{1f600}\u0301'.repeat(50),
  '\ufdd0\uffff',
  'Ω'.repeat(200),
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'x'.repeat(5_000),
];
const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'unknown',
  '',
  'a[b]',
  'a.b',
  '$where',
];
export const BROKEN_ENCODINGS = [
  '%',
  '%f',
  '%zz',
  '%ff',
  '%c3',
  '%ed%a0%80',
  '%c0%af',
  'a%00b',
  '\xff\xfe',
  '\xc3',
];

const text = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);
export const encoded = fc.oneof(
  text.map((value) => encodeURIComponent(value.toWellFormed())),
  fc.constantFrom(...BROKEN_ENCODINGS),
);

/** The known query with one to three parameters changed, added or broken. */
export function queries(entry: RegisteredRoute, known: string): fc.Arbitrary<string> {
  const schema = querySchema(entry);
  const name = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...Object.keys(schema), ...NAMES) },
    { weight: 1, arbitrary: text.map((value) => encodeURIComponent(value.toWellFormed()).slice(0, 60)) },
  );
  const value = fc.oneof(
    { weight: 3, arbitrary: encoded },
    { weight: 1, arbitrary: fc.constantFrom(...near(schema)) },
  );
  const changed = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 3 });
  return fc.tuple(changed, fc.boolean()).map(([changes, keep]) => {
    const kept = new URLSearchParams(known);
    for (const [changedName] of changes) if (!keep) kept.delete(changedName);
    return [kept.toString(), ...changes.map(([n, v]) => `${n}=${v}`)]
      .filter(Boolean)
      .join('&')
      .slice(0, 12_000);
  });
}

/** Values beside those that a schema allows. */
function near(schema: Record<string, TSchema>): string[] {
  const values = Object.values(schema).flatMap((property) => {
    const { enum: choices, minimum, maximum, maxLength } = property as Record<string, unknown>;
    return [
      ...(Array.isArray(choices) ? choices.map(String) : []),
      ...(typeof minimum === 'number' ? [minimum - 1, minimum] : []),
      ...(typeof maximum === 'number' ? [maximum, maximum + 1] : []),
      ...(typeof maxLength === 'number' ? ['x'.repeat(maxLength), 'x'.repeat(maxLength + 1)] : []),
    ].map(String);
  });
  return ['1', ...values];
}

export function bodies(request: SampleRequest, schema: TSchema): fc.Arbitrary<Uint8Array> {
  const good = request.body ?? '{}';
  const document: unknown = parseOr(good, {});
  const raw = fc.constantFrom(
    '',
    ' ',
    'null',
    '0',
    '"x"',
    '[]',
    '{}',
    '[[[[]]]]',
    '{"__proto__":{"a":1}}',
    '{"constructor":{"prototype":{"a":1}}}',
    `{"a":"${'x'.repeat(60_000)}"}`,
    `"${'x'.repeat(100_000)}"`,
    '{"a":1e400,"b":-0,"c":1E-400}',
    '{"a":"\\ud800","\\udfff":1}',
    '{"a":"\\u0000"}',
    '{"a":1,"a":2}',
    '{"a":}',
    good.slice(0, -1),
    `${good}${good}`,
    `\ufeff${good}`,
    '<xml/>',
  );
  const bytes = fc.oneof(
    raw.map((content) => Buffer.from(content)),
    fc.uint8Array({ maxLength: 100 }),
    fc.constant(Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from('"}')])),
    fc.constant(Buffer.from(good, 'utf16le')),
    fc.jsonValue({ maxDepth: 4 }).map((value) => Buffer.from(JSON.stringify(value))),
  );
  return fc.oneof(
    { weight: 2, arbitrary: changedDocuments(document, schema) },
    { weight: 1, arbitrary: bytes },
  );
}

/** The good document with one property replaced, removed or added, at any depth. */
export function changedDocuments(document: unknown, schema: TSchema): fc.Arbitrary<Uint8Array> {
  const declared = Object.keys((schema as { properties?: object }).properties ?? {});
  const name = fc.constantFrom(...declared, ...NAMES);
  const path = fc.oneof(
    fc.constantFrom(...pathsOf(document)),
    fc.tuple(fc.constantFrom(...pathsOf(document)), name).map(([to, property]) => [...to, property]),
  );
  const value = fc.oneof(
    text,
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom<unknown>(null, -1, 1.5, 1e308, 2 ** 53, [], {}, [[]], true),
    fc.constantFrom('x'.repeat(2_000), 'x'.repeat(50_000), '\ud800', '\udfff\ud800', 'a\0'),
  );
  return fc
    .tuple(path, value, fc.boolean())
    .map(([to, changed, remove]) =>
      Buffer.from(JSON.stringify(replaced(document, to, remove ? undefined : changed))),
    );
}

/** Where a document has values, from its root on. */
export function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))];
}

export function replaced(document: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value ?? null;
  if (Array.isArray(document))
    return document.map((inner, index) => (String(index) === name ? replaced(inner, rest, value) : inner));
  const copy = typeof document === 'object' && document !== null ? { ...document } : {};
  const inner = Object.hasOwn(copy, name) ? (copy as Record<string, unknown>)[name] : undefined;
  Object.defineProperty(copy, name, {
    value: rest.length === 0 ? value : replaced(inner, rest, value),
    enumerable: true,
    configurable: true,
  });
  return copy;
}

export function parseOr(content: string, fallback: unknown): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return fallback;
  }
}

export function headers(): fc.Arbitrary<Record<string, string>> {
  const names = [
    'authorization',
    'x-org-id',
    'x-facility-id',
    'x-correlation-id',
    'prefer',
    'accept',
    'accept-encoding',
    'content-type',
    'if-none-match',
    'x-forwarded-for',
    'expect',
    'cookie',
    'x-signature',
    'range',
    'upgrade',
    'x-http-method-override',
  ];
  const printable = fc
    .oneof(
      text,
      fc.constantFrom(
        'Bearer',
        'Bearer ',
        'Bearer a.b.c',
        'Basic eDp5',
        'W/"',
        '"*"',
        '*/*;q=x',
        'handling=strict',
      ),
    )
    .map((value) => value.replace(/[^\x20-\x7e\x80-\xff]/g, '').slice(0, 4_000));
  return fc.dictionary(fc.constantFrom(...names), printable, { minKeys: 1, maxKeys: 3 });
}
