import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createKeyRing, openWith, sealWith } from './key-ring.ts';

const master = randomBytes(32);
const keys = createKeyRing(master);

describe('a key ring', () => {
  it('derives the same key for the same purpose, and another for any other', () => {
    assert.deepEqual(createKeyRing(master).derive('cursor'), keys.derive('cursor'));
    assert.equal(keys.derive('cursor').length, 32);
    const purposes = ['cursor', 'access-log', 'seal/cursor', '', 'Cursor'];
    const seen = new Set(purposes.map((purpose) => keys.derive(purpose).toString('hex')));
    assert.equal(seen.size, purposes.length);
    assert.ok(!seen.has(master.toString('hex')));
    assert.notDeepEqual(createKeyRing(randomBytes(32)).derive('cursor'), keys.derive('cursor'));
  });

  it('takes a key of 32 bytes only', () => {
    for (const size of [0, 16, 31, 33, 64]) assert.throws(() => createKeyRing(randomBytes(size)), RangeError);
  });

  it('opens what it sealed, for the same purpose and context', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.uint8Array({ maxLength: 200 }),
        fc.string({ unit: 'grapheme' }),
        (purpose, plain, context) => {
          const sealed = keys.seal(purpose, plain, context);
          assert.deepEqual(keys.open(purpose, sealed, context), Buffer.from(plain));
        },
      ),
    );
  });

  it('opens nothing else: another purpose, context or key, or a single changed bit', () => {
    const sealed = keys.seal('secret', Buffer.from('plain'), 'row 1');
    assert.throws(() => keys.open('secret', sealed, 'row 2'));
    assert.throws(() => keys.open('secrets', sealed, 'row 1'));
    assert.throws(() => createKeyRing(randomBytes(32)).open('secret', sealed, 'row 1'));
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => keys.open('secret', changed, 'row 1'));
    }
    for (let length = 0; length < sealed.length; length += 1)
      assert.throws(() => keys.open('secret', sealed.subarray(0, length), 'row 1'));
  });

  it('never seals twice alike, and shows nothing of what is inside', () => {
    const plain = Buffer.from('the same secret');
    const sealed = Array.from({ length: 200 }, () => keys.seal('secret', plain, ''));
    assert.equal(new Set(sealed.map((bytes) => bytes.toString('hex'))).size, 200);
    for (const bytes of sealed) assert.ok(!bytes.includes(plain));
  });

  it('does not take a short tag for a good one', () => {
    const key = randomBytes(32);
    const sealed = sealWith(key, Buffer.from('x'), 'c');
    assert.throws(() => openWith(key, sealed.subarray(0, -12), 'c'));
    assert.throws(() => openWith(key, Buffer.alloc(0), 'c'));
  });
});
