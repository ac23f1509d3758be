import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createCursorCodec } from './cursor.ts';

const cursors = createCursorCodec(randomBytes(32));
const part = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.constant(null));
const binding = fc.array(part, { maxLength: 5 });
const position = fc.array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.integer()), {
  maxLength: 3,
});

describe('a cursor', () => {
  test('gives its position back for its own binding, and fits into an address [HTTP-21]', () => {
    fc.assert(
      fc.property(binding, position, (bound, at) => {
        const cursor = cursors.encode(bound, at);
        assert.match(cursor, /^[\w-]+$/);
        assert.deepEqual(cursors.decode(bound, cursor), at);
      }),
    );
  });

  test('is refused for any other binding [HTTP-21]', () => {
    fc.assert(
      fc.property(binding, binding, position, (one, other, at) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        assert.throws(() => cursors.decode(other, cursors.encode(one, at)), { code: 'bad_cursor' });
      }),
    );
    assert.throws(() => cursors.decode(['a', 'b'], cursors.encode(['ab'], [1])), { code: 'bad_cursor' });
    assert.throws(() => cursors.decode([null], cursors.encode(['null'], [1])), { code: 'bad_cursor' });
  });

  test('is refused when a single bit differs, or a part is missing or added [HTTP-21]', () => {
    const cursor = cursors.encode(['a'], ['2026-01-01', 7]);
    const bytes = Buffer.from(cursor, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => cursors.decode(['a'], changed.toString('base64url')), { code: 'bad_cursor' });
    }
    for (const text of [
      '',
      'x',
      cursor.slice(1),
      cursor.slice(0, -1),
      `${cursor}A`,
      `${cursor}=`,
      ` ${cursor}`,
      `${cursor}\n`,
    ])
      assert.throws(() => cursors.decode(['a'], text), { code: 'bad_cursor' }, JSON.stringify(text));
  });

  test('is refused when another key made it', () => {
    const other = createCursorCodec(randomBytes(32));
    assert.throws(() => cursors.decode(['a'], other.encode(['a'], [1])), { code: 'bad_cursor' });
  });

  test('is refused, never more, whatever is sent', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String({ maxLength: 60 })), (text) =>
        assert.throws(() => cursors.decode(['a'], text), { code: 'bad_cursor' }),
      ),
    );
  });
});
