import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createKeyRing, type DataKeys, openUnderAny, openWith, sealUnder, sealWith } from './key-ring.ts';

const master = randomBytes(32);
const keys = createKeyRing(master);
/** A fixed key asks nothing. */
const NO_DATABASE = { query: () => assert.fail('asked') };

describe('a key ring', () => {
  test('derives the same key for the same purpose, and another for any other', () => {
    assert.deepEqual(createKeyRing(master).derive('cursor'), keys.derive('cursor'));
    assert.equal(keys.derive('cursor').length, 32);
    const purposes = ['cursor', 'access-log', 'seal/cursor', '', 'Cursor'];
    const seen = new Set(purposes.map((purpose) => keys.derive(purpose).toString('hex')));
    assert.equal(seen.size, purposes.length);
    assert.ok(!seen.has(master.toString('hex')));
    assert.notDeepEqual(createKeyRing(randomBytes(32)).derive('cursor'), keys.derive('cursor'));
  });

  test('takes a key of 32 bytes only', () => {
    for (const size of [0, 16, 31, 33, 64]) assert.throws(() => createKeyRing(randomBytes(size)), RangeError);
  });

  test('opens what it sealed, for the same purpose and context [SEC-14]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.uint8Array({ maxLength: 200 }),
        fc.string({ unit: 'grapheme' }),
        async (purpose, plain, context) => {
          const sealed = await keys.seal(NO_DATABASE, { purpose, context }, plain);
          assert.deepEqual(await keys.open({ purpose, context }, sealed), Buffer.from(plain));
        },
      ),
    );
  });

  test('opens nothing else: another purpose, context or key, or a single changed bit [SEC-14]', async () => {
    const sealedFor = { purpose: 'secret', context: 'row 1' };
    const sealed = await keys.seal(NO_DATABASE, sealedFor, Buffer.from('plain'));
    await assert.rejects(keys.open({ ...sealedFor, context: 'row 2' }, sealed));
    await assert.rejects(keys.open({ ...sealedFor, purpose: 'secrets' }, sealed));
    await assert.rejects(createKeyRing(randomBytes(32)).open(sealedFor, sealed));
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      await assert.rejects(keys.open(sealedFor, changed));
    }
    for (let length = 0; length < sealed.length; length += 1)
      await assert.rejects(keys.open(sealedFor, sealed.subarray(0, length)));
  });

  test('never seals twice alike, and shows nothing of what is inside', async () => {
    const plain = Buffer.from('the same secret');
    const seal = () => keys.seal(NO_DATABASE, { purpose: 'secret', context: '' }, plain);
    const sealed = await Promise.all(Array.from({ length: 200 }, seal));
    assert.equal(new Set(sealed.map((bytes) => bytes.toString('hex'))).size, 200);
    for (const bytes of sealed) assert.ok(!bytes.includes(plain));
  });

  test('opens what a data key sealed that it did not know yet, and seals under the newest', async () => {
    const [first, second] = [randomBytes(32), randomBytes(32)];
    const sealedFor = { purpose: 'secret', context: 'row' };
    const stored: { keys: DataKeys; reads: number } = { keys: [first], reads: 0 };
    let known = stored.keys;
    const read = async () => {
      stored.reads += 1;
      known = stored.keys;
      return known;
    };
    const ring = createKeyRing({
      get known() {
        return known;
      },
      read,
    });
    const old = await ring.seal(NO_DATABASE, sealedFor, Buffer.from('old'));
    const stable = ring.derive('decoy');
    stored.keys = [second, first];
    const renewed = sealUnder(second, sealedFor, Buffer.from('new'));
    stored.reads = 0;
    assert.equal(String(await ring.open(sealedFor, old)), 'old');
    assert.equal(stored.reads, 0, 'what is known is not asked for');
    assert.equal(String(await ring.open(sealedFor, renewed)), 'new');
    const sealed = await ring.seal(NO_DATABASE, sealedFor, Buffer.from('x'));
    assert.ok(openUnderAny([second], sealedFor, sealed));
    assert.deepEqual(ring.derive('decoy'), stable);
    assert.deepEqual(createKeyRing(first).derive('decoy'), stable);
    const [newest, older] = await ring.deriveAll(NO_DATABASE, 'decoy');
    assert.deepEqual([older, newest], [stable, createKeyRing(second).derive('decoy')]);
  });

  test('does not take a short tag for a good one', () => {
    const key = randomBytes(32);
    const sealed = sealWith(key, Buffer.from('x'), 'c');
    assert.throws(() => openWith(key, sealed.subarray(0, -12), 'c'));
    assert.throws(() => openWith(key, Buffer.alloc(0), 'c'));
  });
});
