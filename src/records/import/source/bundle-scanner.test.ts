import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cpuMs } from '../../../../test-support/cpu-time.ts';
import { BundleScanner } from './bundle-scanner.ts';
import { SourceError } from './source-error.ts';

const MIB = 1_048_576;

/** The elements' texts and the envelope, with the document cut at `cuts`. */
function scan(document: Buffer, cuts: readonly number[] = [], maxEntryBytes = MIB) {
  const scanner = new BundleScanner(maxEntryBytes);
  const elements: string[] = [];
  const borders = [
    0,
    ...cuts.map((cut) => cut % (document.length + 1)).sort((a, b) => a - b),
    document.length,
  ];
  for (let index = 1; index < borders.length; index += 1) {
    const chunk = document.subarray(borders[index - 1], borders[index]);
    for (const { start, end } of scanner.push(chunk)) elements.push(document.subarray(start, end).toString());
  }
  return { elements, envelope: scanner.finish().toString() };
}

/** What the import makes of a document: elements and envelope parsed. Throws on anything broken. */
function read(document: Buffer, cuts: readonly number[] = []) {
  const { elements, envelope } = scan(document, cuts);
  return { elements: elements.map((text) => JSON.parse(text)), envelope: JSON.parse(envelope) };
}

const element = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 5 });
const bundle = fc.record({
  before: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
  entry: fc.array(element, { maxLength: 6 }),
  after: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
  space: fc.constantFrom(undefined, 1, 4, '\t'),
});
const cuts = fc.array(fc.nat(), { maxLength: 12 });

test('any Bundle, cut anywhere, gives its entries and the rest', () => {
  fc.assert(
    fc.property(bundle, cuts, ({ before, entry, after, space }, borders) => {
      const { entry: _, ...rest } = { ...before, ...after } as Record<string, unknown>;
      const whole = { ...before, entry, ...rest };
      const found = read(Buffer.from(JSON.stringify(whole, null, space)), borders);
      const parsed = JSON.parse(JSON.stringify(whole));
      assert.deepEqual(found.elements, parsed.entry);
      assert.deepEqual(found.envelope, { ...parsed, entry: [] });
    }),
    { numRuns: 400 },
  );
});

test('what JSON.parse refuses is refused, wherever it is broken', () => {
  fc.assert(
    fc.property(bundle, fc.nat(), fc.nat(), cuts, ({ before, entry, after, space }, at, kind, borders) => {
      const text = JSON.stringify({ ...before, entry, ...after }, null, space);
      const broken = mutate(text, at % text.length, kind);
      let parsed: unknown;
      try {
        parsed = JSON.parse(broken);
      } catch {
        assert.throws(() => read(Buffer.from(broken), borders));
        return;
      }
      // Still JSON: then either the same elements are found, or the scanner is stricter and says so.
      try {
        const found = read(Buffer.from(broken), borders);
        const list = (parsed as { entry?: unknown }).entry;
        if (Array.isArray(list)) assert.deepEqual(found.elements, list);
      } catch (error) {
        assert.ok(error instanceof SourceError);
      }
    }),
    { numRuns: 1_000 },
  );
});

function mutate(text: string, at: number, kind: number): string {
  const inserted = ['{', '}', '[', ']', ',', '"', '\\', ':', '0'][kind % 9] as string;
  if (kind % 3 === 0) return text.slice(0, at) + text.slice(at + 1);
  if (kind % 3 === 1) return text.slice(0, at) + inserted + text.slice(at);
  return text.slice(0, at);
}

test('the key may be written with escapes, and only the one at the top counts', () => {
  assert.deepEqual(read(Buffer.from(String.raw`{"\u0065ntry":[{"a":1}],"x":{"entry":[{"b":2}]}}`)), {
    elements: [{ a: 1 }],
    envelope: { entry: [], x: { entry: [{ b: 2 }] } },
  });
  assert.deepEqual(read(Buffer.from('{"a":"entry","b":[{"c":1}]}')).elements, []);
});

test('faults are reported with the number of the entry', () => {
  const entryOf = (document: string, maxEntryBytes?: number): number | undefined => {
    try {
      scan(Buffer.from(document), [], maxEntryBytes);
    } catch (error) {
      assert.ok(error instanceof SourceError);
      return error.entry;
    }
    return assert.fail('was not refused');
  };
  assert.equal(entryOf('{"entry":[{"a":1},7]}'), 2);
  assert.equal(entryOf('{"entry":[{"a":1} {"a":2}]}'), 1);
  assert.equal(entryOf('{"entry":[{"a":1},{"a":{}'), 2);
  assert.equal(entryOf('{"entry":[{"a":1},]}'), 2);
  assert.equal(entryOf(`{"entry":[{},{"a":"${'x'.repeat(200)}"}]}`, 100), 2);
  assert.equal(entryOf('{"entry":[],"entry":[]}'), undefined);
});

test('what is too large is told apart: a resource by itself, and what stands beside the entries of a Bundle', () => {
  const long = JSON.stringify('x'.repeat(2 * MIB));
  const reasonOf = (document: string) => () => scan(Buffer.from(document), [], MIB);
  assert.throws(reasonOf(`{"a":${long}}`), { message: 'is larger than the limit for one resource, 1 MiB' });
  assert.throws(reasonOf(`{"entry":[{}],"a":${long}}`), {
    message: 'has more than 1 MiB outside its entries',
  });
});

test('elements before a fault in the same chunk are given first', () => {
  const scanner = new BundleScanner(MIB);
  assert.equal(scanner.push(Buffer.from('{"entry":[{"a":},{"b":1} !')).length, 2);
  assert.throws(() => scanner.finish(), SourceError);
});

test('a document of very many keys is read in linear time [IN-4]', async () => {
  const keys = Array.from({ length: 200_000 }, (_, index) => `"k${index}":0`).join(',');
  const document = Buffer.from(`{${keys},"entry":[{"a":1}]}`);
  assert.ok((await cpuMs(() => scan(document, [], 16 * MIB))) < 5_000);
});
