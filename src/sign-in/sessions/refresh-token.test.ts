import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newRefreshToken, openReplacement, parseRefreshToken, sealReplacement } from './refresh-token.ts';

test('a token says where to look and carries 32 random bytes [SEC-13]', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), (organisationId, sessionId) => {
      const token = newRefreshToken(organisationId, sessionId);
      assert.deepEqual(parseRefreshToken(token.text), token);
      assert.equal(token.organisationId, organisationId);
      assert.equal(token.sessionId, sessionId);
      assert.equal(Buffer.from(token.text, 'base64url').length, 64);
      assert.notEqual(newRefreshToken(organisationId, sessionId).text, token.text);
    }),
  );
});

test('no other text reads as the same token', () => {
  const token = newRefreshToken(crypto.randomUUID(), crypto.randomUUID());
  fc.assert(
    fc.property(
      fc.nat(token.text.length - 1),
      fc.string({ minLength: 1, maxLength: 1 }),
      (index, character) => {
        const changed = token.text.slice(0, index) + character + token.text.slice(index + 1);
        if (changed !== token.text) assert.notDeepEqual(parseRefreshToken(changed)?.hash, token.hash);
      },
    ),
  );
  for (const text of [`${token.text}=`, ` ${token.text}`, token.text.slice(1), '', `${token.text}A`])
    assert.equal(parseRefreshToken(text), undefined);
});

test('any text is a token or not, never an error', () => {
  fc.assert(fc.property(fc.string(), (text) => void parseRefreshToken(text)));
});

test('only the old token opens the pair that replaced it [SIGN-IN-32]', () => {
  const old = newRefreshToken(crypto.randomUUID(), crypto.randomUUID());
  const pair = {
    accessToken: 'a.b.c',
    refreshToken: newRefreshToken(old.organisationId, old.sessionId).text,
  };
  const sealed = sealReplacement(old, pair);
  assert.deepEqual(openReplacement(old, sealed), pair);
  assert.ok(!sealed.toString('latin1').includes(pair.refreshToken));
  assert.throws(() => openReplacement(newRefreshToken(old.organisationId, old.sessionId), sealed));
  const flipped = Buffer.from(sealed);
  flipped.writeUInt8(flipped.readUInt8(20) ^ 1, 20);
  assert.throws(() => openReplacement(old, flipped));
});
