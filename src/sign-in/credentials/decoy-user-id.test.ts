import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decoyUserId } from './decoy-user-id.ts';

const KEY = Buffer.alloc(32, 7);

test('every address has one decoy, in the shape of a UUIDv4 [SIGN-IN-5]', () => {
  fc.assert(
    fc.property(fc.string(), (email) => {
      const id = decoyUserId(KEY, email);
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.equal(decoyUserId(KEY, email), id);
      assert.notEqual(decoyUserId(Buffer.alloc(32, 8), email), id);
    }),
  );
});

test('all four variants of the ninth byte occur, as in random UUIDs [SIGN-IN-5]', () => {
  const variants = new Set(Array.from({ length: 200 }, (_, n) => decoyUserId(KEY, String(n))[19]));
  assert.deepEqual([...variants].sort(), ['8', '9', 'a', 'b']);
});
