import assert from 'node:assert/strict';
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose';
import { createSignInFixture, refusalOf } from '../../../test-support/sign-in/sign-in.ts';
import { secondsAfter } from '../settings.ts';
import { issueAccessToken } from './access-token.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const IAT = NOW.getTime() / 1_000;

const fixture = await createSignInFixture();
after(() => fixture.close());
const signer = (await fixture.signIn.signingKeys.signer())(NOW);

const identity = { accountId: randomUUID(), sessionId: randomUUID() };
const issue = (sessionExpiresAt = secondsAfter(NOW, 86_400)) =>
  issueAccessToken(() => signer, { ...identity, now: NOW, ttlSeconds: 900, sessionExpiresAt });

const CLAIMS: JWTPayload = {
  iss: 'urn:interchange:sign-in',
  aud: 'urn:interchange:api',
  sub: identity.accountId,
  sid: identity.sessionId,
  iat: IAT,
  exp: IAT + 900,
  jti: 'one',
};

interface Forgery {
  header?: Record<string, unknown>;
  claims?: Partial<Record<string, unknown>>;
  key?: KeyObject;
}

/** Signed by our own key unless said otherwise, so that only what is changed can be the reason to refuse. */
function forge({ header = {}, claims = {}, key = signer.privateKey }: Forgery): Promise<string> {
  return new SignJWT({ ...CLAIMS, ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: signer.kid, ...header })
    .sign(key);
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

async function assertRefused(token: string, now = NOW): Promise<void> {
  const refusal = await refusalOf(fixture.signIn.verifyAccessToken(token, now));
  assert.equal(refusal?.statusCode, 401);
  assert.equal(refusal?.code, 'token_refused');
  assert.equal(refusal?.headers['www-authenticate'], 'Bearer error="invalid_token"');
}

test('a token has exactly the header and claims of the contract and lasts 900 seconds [SIGN-IN-21, SIGN-IN-22, ACC-15]', async () => {
  const token = await issue();
  assert.deepEqual(decodeProtectedHeader(token), { alg: 'EdDSA', typ: 'at+jwt', kid: signer.kid });
  const { jti, ...claims } = decodeJwt(token);
  const { jti: _, ...expected } = CLAIMS;
  assert.deepEqual(claims, expected);
  assert.match(jti ?? '', /^[0-9a-f-]{36}$/);
  assert.notEqual(decodeJwt(await issue()).jti, jti);
});

test('a token says who and which session, until it expires [SIGN-IN-22]', async () => {
  const token = await issue();
  assert.deepEqual(await fixture.signIn.verifyAccessToken(token, NOW), identity);
  assert.deepEqual(await fixture.another().verifyAccessToken(token, secondsAfter(NOW, 899)), identity);
  await assertRefused(token, secondsAfter(NOW, 900));
});

test('a token ends with its session [SIGN-IN-22]', async () => {
  assert.equal(decodeJwt(await issue(secondsAfter(NOW, 100))).exp, IAT + 100);
});

test('the forger of these tests makes good tokens when nothing is changed', async () => {
  assert.deepEqual(await fixture.signIn.verifyAccessToken(await forge({}), NOW), identity);
});

test('algorithm none is refused, with and without a signature [SEC-10]', async () => {
  for (const alg of ['none', 'None', 'NONE']) {
    const header = encode({ alg, typ: 'at+jwt', kid: signer.kid });
    await assertRefused(`${header}.${encode(CLAIMS)}.`);
    await assertRefused(`${header}.${encode(CLAIMS)}.AAAA`);
  }
});

test('HS256 with the public key as its secret is refused [SEC-10]', async () => {
  const jwk = (await fixture.signIn.signingKeys.published(NOW))[0] ?? {};
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  const secrets = [
    publicKey.export({ format: 'pem', type: 'spki' }),
    publicKey.export({ format: 'der', type: 'spki' }),
    Buffer.from(jwk.x ?? '', 'base64url'),
    jwk.x ?? '',
  ];
  for (const secret of secrets) {
    const signed = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: signer.kid })}.${encode(CLAIMS)}`;
    await assertRefused(`${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`);
  }
});

test('another type, audience, issuer or a missing claim is refused [SEC-10]', async () => {
  for (const typ of ['JWT', 'jwt', 'id_token+jwt', undefined])
    await assertRefused(await forge({ header: { typ } }));
  for (const aud of ['urn:interchange:other', ['urn:other'], undefined])
    await assertRefused(await forge({ claims: { aud } }));
  for (const iss of ['https://evil.example.org', undefined])
    await assertRefused(await forge({ claims: { iss } }));
  for (const claim of ['sub', 'sid', 'exp', 'iat', 'jti'])
    await assertRefused(await forge({ claims: { [claim]: undefined } }));
  for (const claim of ['sub', 'sid']) await assertRefused(await forge({ claims: { [claim]: 'no-uuid' } }));
});

test('a token from the future is refused, but for what clocks may differ', async () => {
  const from = (seconds: number) => forge({ claims: { iat: IAT + seconds, exp: IAT + seconds + 900 } });
  assert.deepEqual(await fixture.signIn.verifyAccessToken(await from(60), NOW), identity);
  await assertRefused(await from(61));
  await assertRefused(await from(40 * 86_400));
  await assertRefused(await forge({ claims: { iat: String(IAT) } }));
});

test('a token of another key is refused, whatever its header says of keys [SEC-11]', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' });
  await assertRefused(await forge({ key: privateKey }));
  await assertRefused(await forge({ key: privateKey, header: { jwk } }));
  await assertRefused(await forge({ key: privateKey, header: { kid: 'other', jwk } }));
  await assertRefused(await forge({ key: privateKey, header: { jku: 'http://127.0.0.1:9/jwks.json' } }));
  await assertRefused(await forge({ key: privateKey, header: { x5u: 'http://127.0.0.1:9/cert.pem' } }));
  await assertRefused(await forge({ key: privateKey, header: { kid: undefined, jwk } }));
  await assertRefused(await forge({ key: privateKey, header: { crit: ['exp'], exp: 1 } }).catch(() => 'x'));
});

test('a key id is looked up, never run: paths and queries are unknown ids [SEC-11]', async () => {
  for (const kid of ['../../dev/null', "' or 1=1 --", '', 'x'.repeat(500)])
    await assertRefused(await forge({ header: { kid } }));
});

test('a changed character is refused', async () => {
  const token = await issue();
  const dots = [token.indexOf('.'), token.lastIndexOf('.')];
  await fc.assert(
    fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...'ABab09-_'), async (index, character) => {
      const changed = token.slice(0, index) + character + token.slice(index + 1);
      if (changed === token || dots.includes(index)) return;
      await assertRefused(changed);
    }),
    { numRuns: 60 },
  );
});

test('a signature counts in one spelling, whatever the spare bits of its last character are', async () => {
  const token = await issue();
  for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
    if (!token.endsWith(character)) await assertRefused(token.slice(0, -1) + character);
  await assertRefused(`${token}=`);
});

test('any text is refused as a token is, never an error', async () => {
  await fc.assert(fc.asyncProperty(fc.string(), (text) => assertRefused(text)));
  for (const text of [
    '',
    '.',
    '..',
    'a.b.c',
    `${encode({ alg: 'EdDSA' })}..`,
    'x'.repeat(100_000),
    '[object Object]',
  ])
    await assertRefused(text);
});
