import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, beforeEach, test } from 'node:test';
import { decodeProtectedHeader } from 'jose';
import { createSignInFixture, statusOf, warmUp } from '../../../test-support/sign-in/sign-in.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { issueAccessToken } from '../sessions/access-token.ts';
import { createAuthenticator } from '../sessions/authenticate.ts';
import { secondsAfter } from '../settings.ts';
import { rotateSigningKey } from './rotate-signing-key.ts';
import { readSigningKeys } from './signing-key.store.ts';
import { createSigningKeys } from './signing-keys.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const IDENTITY = {
  accountId: 'b7e23ec2-9a4d-4f0e-8a35-0d1c2b3a4f5e',
  sessionId: '0c8a9c9e-2f1d-4b1c-9d3e-4f5a6b7c8d9e',
};

const fixture = await createSignInFixture();
after(() => fixture.close());
beforeEach(() => fixture.database.pool.query('delete from signing_key'));

/** One process: its own memory of the keys, and a clock for their age that the test moves. */
function startNode() {
  const age = { seconds: 1_000 };
  const signingKeys = createSigningKeys({
    db: fixture.database.pool,
    keys: fixture.keys,
    accessTokenSeconds: 900,
    databaseTime: () => NOW,
    monotonicSeconds: () => age.seconds,
  });
  const verify = createAuthenticator(signingKeys);
  const issue = async (now: Date) =>
    issueAccessToken(await signingKeys.signer(), {
      ...IDENTITY,
      now,
      ttlSeconds: 900,
      sessionExpiresAt: secondsAfter(now, 90 * 86_400),
    });
  return { age, signingKeys, verify, issue };
}

const rotate = (now: Date, options?: { revokeOthers?: boolean }) =>
  rotateSigningKey({ db: fixture.database.pool, keys: fixture.keys }, now, options);
const kidOf = (token: string) => decodeProtectedHeader(token).kid;

test('processes that start together make one first key', async () => {
  await warmUp(fixture.database);
  const tokens = await Promise.all(Array.from({ length: 6 }, () => startNode().issue(NOW)));
  assert.equal(new Set(tokens.map(kidOf)).size, 1);
  assert.equal((await readSigningKeys(fixture.database.pool)).length, 1);
});

test('the private key is sealed under the master key [SEC-14]', async () => {
  await startNode().issue(NOW);
  const [key] = await readSigningKeys(fixture.database.pool);
  assert.ok(key);
  assert.equal(key.publicJwk.d, undefined);
  const sealedFor = { purpose: 'signing-key', context: key.kid };
  await assert.rejects(createKeyRing(randomBytes(32)).open(sealedFor, key.sealedPrivateKey));
  const stranger = createSigningKeys({
    db: fixture.database.pool,
    keys: createKeyRing(randomBytes(32)),
    accessTokenSeconds: 900,
  });
  await assert.rejects(async () => (await stranger.signer())(NOW), /master key/);
});

test('after a rotation the new key signs once every node knows it, and old tokens stay good [SIGN-IN-25]', async () => {
  const node = startNode();
  const old = await node.issue(NOW);
  const { kid, signsFrom } = await rotate(NOW);
  assert.deepEqual(signsFrom, secondsAfter(NOW, 60));
  node.age.seconds += 31;
  assert.equal(kidOf(await node.issue(secondsAfter(NOW, 59))), kidOf(old));
  const renewed = await node.issue(secondsAfter(NOW, 60));
  assert.equal(kidOf(renewed), kid);
  const later = secondsAfter(NOW, 899);
  for (const token of [old, renewed]) assert.deepEqual(await startNode().verify(token, later), IDENTITY);
});

test('the last token of an old key verifies until it expires; then the key is published no more [SIGN-IN-25]', async () => {
  const node = startNode();
  await node.issue(NOW);
  await rotate(NOW);
  const last = await node.issue(secondsAfter(NOW, 59));
  const fresh = startNode();
  assert.deepEqual(await fresh.verify(last, secondsAfter(NOW, 59 + 899)), IDENTITY);
  assert.equal(await statusOf(fresh.verify(last, secondsAfter(NOW, 59 + 900))), 401);
  assert.equal((await fresh.signingKeys.published(secondsAfter(NOW, 60 + 899))).length, 2);
  assert.equal((await fresh.signingKeys.published(secondsAfter(NOW, 60 + 900 + 60))).length, 1);
});

test('an old key that is no longer needed verifies nothing, even what it signs then', async () => {
  const node = startNode();
  await node.issue(NOW);
  await rotate(NOW);
  const stolen = await node.issue(NOW);
  const forgedLater = secondsAfter(NOW, 60 + 900 + 61);
  const keys = startNode().signingKeys;
  assert.equal(await keys.verifier(kidOf(stolen) ?? '', forgedLater), undefined);
});

test('a node reads the keys again for a key id that it does not know, but not for every one', async () => {
  const node = startNode();
  await node.issue(NOW);
  const { kid } = await rotate(NOW);
  let reads = 0;
  const counted = createSigningKeys({
    db: new Proxy(fixture.database.pool, {
      get(pool, name) {
        const value = Reflect.get(pool, name);
        if (name !== 'query') return value;
        return (...given: unknown[]) => {
          reads += 1;
          return Reflect.apply(value, pool, given);
        };
      },
    }),
    keys: fixture.keys,
    accessTokenSeconds: 900,
    monotonicSeconds: () => node.age.seconds,
  });
  assert.ok(await counted.verifier(kid, NOW));
  assert.equal(reads, 1);
  for (let guess = 0; guess < 50; guess += 1)
    assert.equal(await counted.verifier(`unknown ${guess}`, NOW), undefined);
  assert.equal(reads, 2, 'a flood of made-up key ids reads once');
  node.age.seconds += 2;
  await rotate(secondsAfter(NOW, 100));
  const [newest] = await readSigningKeys(fixture.database.pool);
  assert.ok(await counted.verifier(newest?.kid ?? '', NOW));
  assert.equal(reads, 3);
});

test('revoking the others refuses their tokens on every node within 30 seconds, remembered ones too [SIGN-IN-26]', async () => {
  const node = startNode();
  const leaked = await node.issue(NOW);
  assert.deepEqual(await node.verify(leaked, NOW), IDENTITY);
  const { kid } = await rotate(NOW, { revokeOthers: true });
  assert.equal(kidOf(await startNode().issue(NOW)), kid, 'the new key signs at once');
  node.age.seconds += 31;
  assert.equal(await statusOf(node.verify(leaked, NOW)), 401);
});

test('a token that is issued after the others were revoked is good, whichever process issued it [SIGN-IN-22, SIGN-IN-26]', async () => {
  const [issuing, checking] = [startNode(), startNode()];
  for (const node of [issuing, checking]) await node.verify(await node.issue(NOW), NOW);
  await rotate(NOW, { revokeOthers: true });
  issuing.age.seconds += 3;
  checking.age.seconds += 31;
  const token = await issuing.issue(secondsAfter(NOW, 3));
  assert.deepEqual(await checking.verify(token, secondsAfter(NOW, 3)), IDENTITY);
});

test('a key that signs at once is known to a process that read the keys just before [SIGN-IN-22, SIGN-IN-26]', async () => {
  const [issuing, checking] = [startNode(), startNode()];
  await checking.issue(NOW);
  await rotate(NOW, { revokeOthers: true });
  const token = await issuing.issue(NOW);
  assert.deepEqual(await checking.verify(token, NOW), IDENTITY);
});

test('a key that could not be looked up is looked up again', async () => {
  const node = startNode();
  await node.issue(NOW);
  let isDown = false;
  const { pool } = fixture.database;
  const checking = createSigningKeys({
    db: Object.assign(Object.create(pool), {
      query: (statement: never) => (isDown ? Promise.reject(new Error('down')) : pool.query(statement)),
    }),
    keys: fixture.keys,
    accessTokenSeconds: 900,
    monotonicSeconds: () => node.age.seconds,
  });
  await checking.current();
  const { kid } = await rotate(NOW, { revokeOthers: true });
  isDown = true;
  await assert.rejects(checking.verifier(kid, NOW), /down/);
  isDown = false;
  assert.ok(await checking.verifier(kid, NOW));
});

test('a remembered token costs no signature check and still expires', async () => {
  const node = startNode();
  const token = await node.issue(NOW);
  let checks = 0;
  const counting = createAuthenticator({
    ...node.signingKeys,
    verifier: (kid, now) => {
      checks += 1;
      return node.signingKeys.verifier(kid, now);
    },
  });
  for (let call = 0; call < 10; call += 1) assert.deepEqual(await counting(token, NOW), IDENTITY);
  assert.equal(checks, 1);
  assert.deepEqual(await counting(token, secondsAfter(NOW, 899.999)), IDENTITY);
  assert.equal(await statusOf(counting(token, secondsAfter(NOW, 900))), 401);
});

test('a key that is not the one to sign with stops nobody when it cannot be opened', async () => {
  await startNode().issue(NOW);
  const { kid } = await rotate(NOW);
  const { pool } = fixture.database;
  await pool.query('update signing_key set sealed_private_key = $2 where kid <> $1', [kid, randomBytes(76)]);
  assert.equal(kidOf(await startNode().issue(secondsAfter(NOW, 60))), kid, 'the old one was changed');
  await assert.rejects(startNode().issue(secondsAfter(NOW, 59)), /cannot be opened/);
});
