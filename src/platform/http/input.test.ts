import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Type } from '../json-schema.ts';
import { addValue, decodeText, parseForm, parseJson } from './body.ts';
import { convertQuery, declaredMembers, refuseMalformedEncoding, refuseUnusableText } from './input.ts';

const SCHEMA = Type.Object({
  count: Type.Optional(Type.Integer()),
  flag: Type.Optional(Type.Boolean()),
  name: Type.Optional(Type.String()),
  date: Type.Optional(Type.Array(Type.String())),
});

test('a body keeps the members that its schema declares, unless the schema speaks of others (ADR 0064)', () => {
  const properties = { name: Type.Optional(Type.String()), inner: Type.Object({}) };
  const body = { name: 'a', inner: { b: 1 }, constructor: 'c', more: 'd' };
  assert.deepEqual(declaredMembers(Type.Object(properties), body), { name: 'a', inner: { b: 1 } });
  for (const additionalProperties of [true, false])
    assert.equal(declaredMembers(Type.Object(properties, { additionalProperties }), body), body);
  assert.equal(declaredMembers(Type.Unsafe({}), body), body);
  for (const other of [null, 'text', 1, [body]])
    assert.equal(declaredMembers(Type.Object(properties), other), other);
});

test('unknown names stay where something required is missing, for its message', () => {
  const schema = Type.Object({ name: Type.String(), size: Type.Integer({ default: 20 }) });
  assert.deepEqual(declaredMembers(schema, { Name: 'a' }), { Name: 'a' });
  assert.deepEqual(declaredMembers(schema, { name: 'a', Name: 'a' }), { name: 'a' });
  assert.deepEqual(convertQuery(schema, { Name: 'a', size: '1' }, false), { Name: 'a', size: 1 });
  assert.deepEqual(convertQuery(schema, { name: 'a', Size: '1' }, false), { name: 'a' });
});

describe('convertQuery', () => {
  test('converts what is written as its type, and nothing else', () => {
    assert.deepEqual(convertQuery(SCHEMA, { count: '20', flag: 'true', name: '20', date: 'ge2026' }, false), {
      count: 20,
      flag: true,
      name: '20',
      date: ['ge2026'],
    });
    for (const count of ['', ' 1', '1.0', '1e3', '0x1', '+1', '١', '1'.repeat(16), 'NaN'])
      assert.deepEqual(convertQuery(SCHEMA, { count }, false), { count });
    for (const flag of ['', 'TRUE', '1', 'yes'])
      assert.deepEqual(convertQuery(SCHEMA, { flag }, false), { flag });
  });

  test('leaves a repeated value for validation to refuse [HTTP-10]', () => {
    assert.deepEqual(convertQuery(SCHEMA, { count: ['1', '2'] }, false), { count: ['1', '2'] });
  });

  test('ignores unknown names, and refuses them where handling is strict [HTTP-11]', () => {
    for (const name of ['unknown', '__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const query = Object.fromEntries([[name, 'x']]);
      Object.defineProperty(query, name, { value: 'x', enumerable: true });
      assert.deepEqual(Object.keys(convertQuery(SCHEMA, query, false)), []);
      assert.throws(() => convertQuery(SCHEMA, query, true), { statusCode: 400 });
    }
  });

  test('says which name was meant where handling is strict', () => {
    for (const [given, meant] of [
      ['Name', 'name'],
      ['dates', 'date'],
    ] as const)
      assert.throws(() => convertQuery(SCHEMA, { [given]: 'x' }, true), {
        message: `The query parameter ${given} is unknown. Did you mean ${meant}?`,
      });
    assert.throws(() => convertQuery(SCHEMA, { unknown: 'x' }, true), {
      message: /^.* is unknown\. Remove it/,
    });
  });

  test('does not repeat an unusual name in its message', () => {
    assert.throws(
      () => convertQuery(SCHEMA, { '<script>': '1' }, true),
      ({ message }: Error) => {
        assert.ok(!message.includes('<'));
        return true;
      },
    );
  });
});

test('percent-encoding must be there and be UTF-8', () => {
  for (const text of ['', 'a=b', 'a=%C3%A9&b=%25', 'a=+%2B', '%F0%9F%98%80']) refuseMalformedEncoding(text);
  for (const text of ['%', 'a=%', 'a=%f', 'a=%zz', 'a=%ff', 'a=%c3', 'a=%c0%af', 'a=%ed%a0%80', '100%'])
    assert.throws(() => refuseMalformedEncoding(text), { statusCode: 400 }, text);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => refuseMalformedEncoding(encodeURIComponent(text))),
  );
});

describe('refuseUnusableText', () => {
  test('finds a NUL or a lone surrogate at any depth, in values and names', () => {
    const bad = fc.constantFrom('\0', 'a\0b', '\ud800', 'x\udfff');
    const nested = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        bad,
        fc.tuple(fc.jsonValue(), tie('node')),
        fc.record({ a: fc.jsonValue(), b: tie('node') }),
        bad.map((name) => ({ [name]: 1 })),
      ),
    })).node;
    fc.assert(
      fc.property(nested, (input) => assert.throws(() => refuseUnusableText(input), { statusCode: 400 })),
    );
  });

  test('takes everything else, however deep', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (input) => {
        fc.pre(!/\\u0000|\0/.test(JSON.stringify(input)));
        refuseUnusableText(input);
      }),
    );
    let deep: unknown = 'x';
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    refuseUnusableText(deep);
  });
});

describe('parseJson', () => {
  const bytes = (text: string) => Buffer.from(text);

  test('reads what JSON.stringify wrote', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        fc.pre(!/__proto__|constructor/.test(JSON.stringify(value)));
        assert.deepEqual(parseJson(bytes(JSON.stringify(value))), JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('refuses what is no JSON, empty, too deep, or would change prototypes', () => {
    const refused = [
      '',
      ' \n',
      '{',
      '[1,]',
      'undefined',
      "{'a':1}",
      '{"a":1}{',
      '{"__proto__":{}}',
      '01',
      'NaN',
    ];
    for (const text of [...refused, '['.repeat(100_000), `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`])
      assert.throws(() => parseJson(bytes(text)), { statusCode: 400 }, text.slice(0, 40));
    assert.throws(() => parseJson(bytes('{"a":{"__proto__":{"x":1}}}')), { statusCode: 400 });
    assert.equal(({} as { x?: unknown }).x, undefined);
  });

  test('says of JSON with a key that would change prototypes that it is refused, and not that it is no JSON', () => {
    const refusal = { code: 'forbidden_key', message: /^The body has a key __proto__, / };
    for (const text of ['{"__proto__":{}}', '{"a":[{"constructor":{"prototype":{}}}]}'])
      assert.throws(() => parseJson(bytes(text)), refusal);
    assert.throws(() => parseJson(bytes('{"__proto__":{}')), { code: 'bad_json' });
    assert.deepEqual(parseJson(bytes('{"constructor":"Brook"}')), { constructor: 'Brook' });
  });

  test('takes 64 levels, and brackets in strings for no levels', () => {
    parseJson(bytes(`${'['.repeat(64)}${']'.repeat(64)}`));
    const text = '['.repeat(1_000);
    assert.equal(parseJson(bytes(JSON.stringify(text))), text);
    assert.equal(parseJson(bytes(JSON.stringify(`\\"${text}`))), `\\"${text}`);
    assert.throws(() => parseJson(bytes(`["\\\\",${'['.repeat(64)}${']'.repeat(64)}]`)), /deeper/);
  });

  test('refuses bytes that are not UTF-8', () => {
    for (const raw of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0x22, 0xc0, 0xaf, 0x22]])
      assert.throws(() => decodeText(Buffer.from(raw)), { statusCode: 400 });
  });
});

describe('parseForm', () => {
  test('reads what URLSearchParams wrote; a name given twice becomes a list', () => {
    const pair = fc.tuple(
      fc.constantFrom('a', 'b', '__proto__', 'toString'),
      fc.string({ unit: 'grapheme' }),
    );
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 6 }), (pairs) => {
        const wanted = new Map<string, string[]>();
        for (const [name, value] of pairs) wanted.set(name, [...(wanted.get(name) ?? []), value]);
        const fields = parseForm(Buffer.from(new URLSearchParams(pairs).toString()));
        assert.deepEqual(
          Object.entries(fields).map(([name, value]) => [name, [value].flat()]),
          [...wanted],
        );
      }),
    );
  });

  test('refuses broken encodings', () => {
    assert.throws(() => parseForm(Buffer.from('a=%ff')), { statusCode: 400 });
    assert.throws(() => parseForm(Buffer.from([0x61, 0x3d, 0xff])), { statusCode: 400 });
  });
});

test('a third value joins the first two', () => {
  const fields: Record<string, string | string[]> = Object.create(null);
  for (const value of ['1', '2', '3']) addValue(fields, 'a', value);
  assert.deepEqual(fields.a, ['1', '2', '3']);
});
