import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ARGON2ID_COST, hashArgon2id, verifyArgon2id } from './argon2id.ts';

const CHEAP = { memoryKiB: 64, passes: 1, parallelism: 1 };

test('the cost is 19 MiB, two passes, one lane, and stands in the hash [SEC-8]', async () => {
  assert.deepEqual(ARGON2ID_COST, { memoryKiB: 19 * 1024, passes: 2, parallelism: 1 });
  assert.match(
    await hashArgon2id('x'),
    /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
  );
});

test('a hash made by the reference implementation verifies [SEC-8]', async () => {
  // Output of the argon2 command of libargon2: "password", salt "somesalt", -id -t 2 -m 16 -p 1 -l 32.
  const phc = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  assert.equal(await verifyArgon2id(phc, 'password'), true);
  assert.equal(await verifyArgon2id(phc, 'Password'), false);
});

test('hashing leaves the event loop to others [SEC-8]', async () => {
  let isDone = false;
  const hashing = hashArgon2id('x').then(() => {
    isDone = true;
  });
  let turns = 0;
  for (; !isDone; turns += 1) await new Promise(setImmediate);
  await hashing;
  assert.ok(turns > 2, `${turns} turns of the event loop`);
});

test('a password matches its own hash and no other does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), async (one, other) => {
      const phc = await hashArgon2id(one, CHEAP);
      assert.equal(await verifyArgon2id(phc, one), true);
      if (one !== other) assert.equal(await verifyArgon2id(phc, other), false);
    }),
    { numRuns: 50 },
  );
});

test('the same password is hashed with another salt each time', async () => {
  assert.notEqual(await hashArgon2id('same', CHEAP), await hashArgon2id('same', CHEAP));
});

test('what is no Argon2id hash is an error, not a mismatch', async () => {
  for (const text of ['', 'password', '$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHRzb21l$AAAAAAAAAAAAAAAAAAAAAA'])
    await assert.rejects(verifyArgon2id(text, 'password'), TypeError);
});
