/** Sign-in over HTTP: paths, JSON fields and status codes to the letter. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { compactVerify, decodeJwt, decodeProtectedHeader, importJWK } from 'jose';
import { type Answer, startTestApi, type TestApi, useEmptyApi } from '../../test-support/service/api.ts';
import {
  type AccountFixture,
  addAccount,
  addTenant,
  cheapPasswords,
  PASSWORD,
} from '../../test-support/sign-in/sign-in.ts';
import { setPermissions } from '../tenancy/roles/roles.ts';
import { disableAccount } from './accounts/manage-accounts.ts';
import { operatorOn } from './administration/managed-account.ts';

const NEXT = 'another long passphrase';

const api = await useEmptyApi();
const tenant = await addTenant(api.database);

const newAccount = (options?: AccountFixture) =>
  addAccount({ database: api.database, passwords: cheapPasswords() }, tenant, options);
const post = (path: string, body: unknown, node = api as Pick<TestApi, 'call'>) => node.call(path, { body });
const login = (identity: string, changed: Record<string, unknown> = {}) =>
  post('/auth/login', { identity, credential: PASSWORD, userType: 'EHR', ...changed });

function assertError(answer: Answer, statusCode: number, error: string): void {
  assert.equal(answer.status, statusCode);
  assert.deepEqual(Object.keys(answer.json).sort(), ['error', 'message', 'statusCode']);
  assert.equal(answer.json.statusCode, statusCode);
  assert.equal(answer.json.error, error);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
}

test('verify answers exactly the four fields; the email is compared without case and surrounding white space [SIGN-IN-3, SIGN-IN-4]', async () => {
  const { userId } = await newAccount({ email: 'Lab.System@Example.org' });
  const answer = await post('/auth/verify', { email: ' LAB.system@EXAMPLE.org\n', userType: 'EHR' });
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, {
    userId,
    mustChangePassword: false,
    requiresPasswordSetup: false,
    userType: 'EHR',
  } as never);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.ok(answer.headers.get('x-correlation-id'));
});

test('a member that is missing and was misspelt is named, with the name that was meant [HTTP-4]', async () => {
  const refused = await post('/auth/refresh', { refresh_token: 'secret-1', secret2: 'x' });
  assertError(refused, 400, 'Bad Request');
  assert.equal(
    refused.json.message,
    'The body has the unknown property refresh_token. Did you mean refreshToken?',
  );
});

test('verify tells the flags of an account [SIGN-IN-3]', async () => {
  const flagged = await newAccount({ mustChangePassword: true });
  const unset = await newAccount({ password: { kind: 'setup-link' } });
  const of = async (email: string) => (await post('/auth/verify', { email, userType: 'EHR' })).json;
  assert.equal((await of(flagged.email)).mustChangePassword, true);
  assert.equal((await of(flagged.email)).requiresPasswordSetup, false);
  assert.equal((await of(unset.email)).requiresPasswordSetup, true);
});

test('an unknown email answers as a known one, with a stable id that nobody has [SIGN-IN-5]', async () => {
  const ask = async (email: string, userType = 'EHR', node: Pick<TestApi, 'call'> = api) =>
    (await post('/auth/verify', { email, userType }, node)).json;
  const decoy = await ask('nobody@example.org');
  assert.match(decoy.userId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const { userId: _, ...rest } = decoy;
  assert.deepEqual(rest, { mustChangePassword: false, requiresPasswordSetup: false, userType: 'EHR' });
  assert.deepEqual(await ask('NoBody@Example.ORG'), decoy);
  assert.deepEqual(await ask('nobody@example.org', 'EHR', await api.addNode()), decoy, 'on every node');
  assert.notEqual((await ask('nobody-else@example.org')).userId, decoy.userId);
});

test('verify confirms neither a user type nor a disabled account [SIGN-IN-6]', async () => {
  const staff = await newAccount({ userType: 'STAFF', mustChangePassword: true });
  const ask = async (email: string, userType: string) =>
    (await post('/auth/verify', { email, userType })).json;
  const flags = { mustChangePassword: false, requiresPasswordSetup: false };
  for (const email of [staff.email, 'nobody@example.org']) {
    const [asEhr, asStaff] = [await ask(email, 'EHR'), await ask(email, 'STAFF')];
    assert.equal(asEhr.userId, asStaff.userId, 'the id depends on the address alone');
    assert.deepEqual(asEhr, { ...flags, userId: asEhr.userId, userType: 'EHR' } as never);
    assert.equal(asStaff.userType, 'STAFF');
  }
  const disabled = await newAccount({ mustChangePassword: true });
  await disableAccount(api.database.pool, operatorOn(disabled.email), api.clock.now);
  assert.deepEqual(await ask(disabled.email, 'EHR'), {
    ...flags,
    userId: disabled.userId,
    userType: 'EHR',
  } as never);
});

test('another user type is told those that there are', async () => {
  const answer = await post('/auth/verify', { email: 'a@example.org', userType: 'SYSTEM' });
  assert.equal(answer.status, 400);
  assert.equal(answer.json.message, 'userType must be one of EHR, STAFF.');
});

test('login answers exactly the four fields, and its access token opens what the role allows [SIGN-IN-7]', async () => {
  const { userId } = await newAccount();
  const answer = await login(userId);
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.json).sort(), [
    'accessToken',
    'mustChangePassword',
    'refreshToken',
    'userType',
  ]);
  assert.equal(answer.json.userType, 'EHR');
  assert.equal(answer.json.mustChangePassword, false);
  const { accessToken: token } = answer.json;
  assertError(await api.call('/patients/base', { token }), 403, 'Forbidden');
  await setPermissions(api.database.pool, {
    organisationId: tenant.organisationId,
    name: tenant.role,
    permissions: ['patients.patients.list', 'encounters.access'],
  });
  assert.equal(
    (await api.call('/patients/base?search=a', { token })).status,
    200,
    'a changed role counts at once',
  );
  assertError(await api.call('/patients/base'), 401, 'Unauthorized');
});

test('sign-in calls do not mind members that they do not know (ADR 0064) [SIGN-IN-9]', async () => {
  const { userId, email } = await newAccount();
  const more = { device: 'x', clientVersion: 2 };
  assert.equal((await post('/auth/verify', { email, userType: 'EHR', ...more })).status, 200);
  const { status, json } = await login(userId, more);
  assert.equal(status, 200);
  const { refreshToken } = json;
  assert.equal((await post('/auth/refresh', { refreshToken, ...more })).status, 200);
});

test('what the body of an open call does not declare reaches no use case (ADR 0064) [SIGN-IN-9]', async () => {
  const { routes, consoleRoutes } = api.api;
  const open = [...routes, ...consoleRoutes].filter(
    ({ route: { access, schemas } }) =>
      access.kind === 'open' && schemas.body !== undefined && schemas.bodyMode === undefined,
  );
  assert.ok(open.length >= 6, String(open.length));
  for (const { method, path, route } of open) {
    const { handle } = route;
    const example = route.schemas.bodyExample as object;
    let reached: unknown;
    route.handle = async ({ body }: { body: unknown }) => {
      reached = body;
      return { status: 204 };
    };
    try {
      const headers = { 'x-interchange-console': '1' };
      const body = { ...example, secondFactor: 'to-come', sessionId: randomUUID() };
      const { status, text } = await api.call(api.origin + path, { method, headers, body });
      assert.equal(status, 204, text);
    } finally {
      route.handle = handle;
    }
    assert.deepEqual(reached, example, path);
  }
});

test('a wrong password and an unknown account answer 403 with the same bytes [SIGN-IN-10]', async () => {
  const { userId } = await newAccount();
  const answers = [
    await login(userId, { credential: 'wrong' }),
    await login(randomUUID()),
    await login('not-a-uuid'),
    await login(userId, { userType: 'STAFF' }),
  ];
  for (const answer of answers) {
    assertError(answer, 403, 'Forbidden');
    assert.equal(answer.text, answers[0]?.text);
    // Who sends an email as the identity reads here what it is.
    assert.match(answer.json.message, /^The identity \(the userId from \/auth\/verify\)/);
  }
});

test('repeated failures answer 429 with retry-after, for decoys too [SIGN-IN-12]', async () => {
  const { userId } = await newAccount();
  const decoy = (await post('/auth/verify', { email: 'no.one@example.org', userType: 'EHR' })).json.userId;
  for (const identity of [userId, decoy]) {
    for (let count = 0; count < 5; count += 1)
      assert.equal((await login(identity, { credential: 'wrong' })).status, 403);
    const answer = await login(identity);
    assertError(answer, 429, 'Too Many Requests');
    assert.equal(answer.headers.get('retry-after'), '900');
  }
});

test('bodies that are no sign-in are 400 [SIGN-IN-8]', async () => {
  const good = { identity: randomUUID(), credential: 'x', userType: 'EHR' };
  const bad: [string, unknown][] = [
    ...['identity', 'credential', 'userType'].flatMap((field): [string, unknown][] => [
      ['/auth/login', { ...good, [field]: undefined }],
      ['/auth/login', { ...good, [field]: 7 }],
      ['/auth/login', { ...good, [field]: null }],
      ['/auth/login', { ...good, [field]: ['x'] }],
      ['/auth/login', { ...good, [field]: '' }],
      ['/auth/login', { ...good, [field]: 'x'.repeat(1_025) }],
      ['/auth/login', { ...good, [field]: 'a\0b' }],
    ]),
    ['/auth/login', []],
    ['/auth/login', '"text"'],
    ['/auth/verify', { email: 'a@b.c' }],
    ['/auth/verify', { email: 'a@b.c', userType: 'ADMIN' }],
    ['/auth/verify', { email: `${'x'.repeat(320)}@b.c`, userType: 'EHR' }],
    ['/auth/verify', { email: ['a@b.c'], userType: 'EHR' }],
    ['/auth/refresh', {}],
    ['/auth/refresh', { refreshToken: 1 }],
    ['/auth/password', good],
    ['/auth/password-setup', { token: 'x' }],
  ];
  for (const [path, body] of bad) {
    const answer = await api.call(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    assertError(answer, 400, 'Bad Request');
  }
  for (const path of ['/auth/verify', '/auth/login', '/auth/refresh'])
    assertError(
      await api.call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }),
      400,
      'Bad Request',
    );
});

test('refresh answers in the shape of login; a used token is 401 a minute later and the session ends [SIGN-IN-27]', async () => {
  const { userId } = await newAccount();
  const first = (await login(userId)).json;
  const again = () => post('/auth/refresh', { refreshToken: first.refreshToken });
  const started = api.clock.now;
  const pair = await again();
  assert.equal(pair.status, 200);
  assert.deepEqual(Object.keys(pair.json).sort(), Object.keys(first).sort());
  api.clock.now = new Date(started.getTime() + 59_000);
  assert.equal((await again()).text, pair.text);
  api.clock.now = new Date(started.getTime() + 61_000);
  assertError(await again(), 401, 'Unauthorized');
  assertError(
    await api.call('/auth/logout', { method: 'POST', token: pair.json.accessToken }),
    401,
    'Unauthorized',
  );
  assertError(await post('/auth/refresh', { refreshToken: pair.json.refreshToken }), 401, 'Unauthorized');
  api.clock.now = started;
});

test('logout is 204 without a body, and 401 at once on another node [SIGN-IN-36, SIGN-IN-37]', async () => {
  const other = await api.addNode();
  const { userId } = await newAccount();
  const { accessToken: token, refreshToken } = (await login(userId)).json;
  assert.notEqual((await other.call('/patients/base', { token })).status, 401);
  const answer = await api.call('/auth/logout', { method: 'POST', token });
  assert.equal(answer.status, 204);
  assert.equal(answer.text, '');
  for (const node of [other, api]) {
    assertError(await node.call('/patients/base', { token }), 401, 'Unauthorized');
    assertError(await node.call('/auth/logout', { method: 'POST', token }), 401, 'Unauthorized');
    assertError(await post('/auth/refresh', { refreshToken }, node), 401, 'Unauthorized');
  }
});

test('a session that a sign-in of its account ends answers 401 at once, on every node [SIGN-IN-78]', async () => {
  const { userId } = await newAccount();
  const other = await api.addNode();
  const oldest = (await login(userId)).json.accessToken as string;
  const next = (await login(userId)).json.accessToken as string;
  const statusOf = async (node: Pick<TestApi, 'call'>, token: string) =>
    (await node.call('/patients/base', { token })).status;
  const statusesOf = (token: string) => Promise.all([statusOf(api, token), statusOf(other, token)]);
  const before = await statusesOf(oldest);
  assert.ok(!before.includes(401), `${before}`);
  assert.deepEqual(await statusesOf(next), before);
  await api.database.pool.query(
    `with earlier as (
       update session set created_at = created_at - interval '1 hour' where id = $1
       returning *
     )
     insert into session (organisation_id, id, account_id, created_at, expires_at)
     select organisation_id, gen_random_uuid(), account_id, created_at + n * interval '1 millisecond', expires_at
     from earlier, generate_series(1, 9998) n`,
    [decodeJwt<{ sid: string }>(oldest).sid],
  );
  assert.equal((await login(userId)).status, 200);
  assert.deepEqual(await statusesOf(oldest), [401, 401]);
  assert.deepEqual(await statusesOf(next), before);
});

test('logout ends one session, not the others of the account [SIGN-IN-38]', async () => {
  const { userId } = await newAccount();
  const [one, two] = [(await login(userId)).json, (await login(userId)).json];
  await api.call('/auth/logout', { method: 'POST', token: one.accessToken });
  assert.notEqual((await api.call('/patients/base', { token: two.accessToken })).status, 401);
});

test('logout takes an empty JSON body as well [SIGN-IN-36]', async () => {
  const { userId } = await newAccount();
  const { accessToken: token } = (await login(userId)).json;
  const headers = { 'content-type': 'application/json' };
  assert.equal((await api.call('/auth/logout', { method: 'POST', token, headers, body: '{}' })).status, 204);
});

test('a disabled account is 401 at once on every node [SIGN-IN-48]', async () => {
  const other = await api.addNode();
  const { userId, email } = await newAccount();
  const { accessToken: token, refreshToken } = (await login(userId)).json;
  assert.notEqual((await other.call('/patients/base', { token })).status, 401);
  await disableAccount(api.database.pool, operatorOn(email), api.clock.now);
  for (const node of [other, api]) {
    assertError(await node.call('/patients/base', { token }), 401, 'Unauthorized');
    assertError(await post('/auth/refresh', { refreshToken }, node), 401, 'Unauthorized');
  }
});

test('an account that must change its password can do nothing but change it and log out [SIGN-IN-39]', async () => {
  const { userId } = await newAccount({ mustChangePassword: true });
  const first = (await login(userId)).json;
  assert.equal(first.mustChangePassword, true);
  const refreshed = await post('/auth/refresh', { refreshToken: first.refreshToken });
  assert.equal(refreshed.json.mustChangePassword, true, 'refresh keeps the restriction');
  for (const token of [first.accessToken, refreshed.json.accessToken]) {
    const answer = await api.call('/patients/base', { token });
    assertError(answer, 403, 'Forbidden');
    assert.match(answer.json.message, /web application/);
  }
  assert.equal((await api.call('/auth/logout', { method: 'POST', token: first.accessToken })).status, 204);
  const change = { identity: userId, credential: PASSWORD, newCredential: NEXT, userType: 'EHR' };
  assert.equal((await post('/auth/password', change)).status, 204);
  const next = (await login(userId, { credential: NEXT })).json;
  assert.equal(next.mustChangePassword, false);
  assert.doesNotMatch(
    (await api.call('/patients/base', { token: next.accessToken })).text,
    /web application/,
  );
});

test('changing the password ends the old sessions at once on every node [SIGN-IN-42]', async () => {
  const other = await api.addNode();
  const { userId } = await newAccount();
  const { accessToken: token } = (await login(userId)).json;
  assert.notEqual((await other.call('/patients/base', { token })).status, 401);
  const change = { identity: userId, credential: PASSWORD, newCredential: NEXT, userType: 'EHR' };
  const answer = await post('/auth/password', change);
  assert.equal(answer.status, 204);
  assert.equal(answer.text, '');
  assertError(await other.call('/patients/base', { token }), 401, 'Unauthorized');
});

test('a setup link opens an account without a password [SIGN-IN-44]', async () => {
  const { userId, setupLink } = await newAccount({ password: { kind: 'setup-link' } });
  const token = new URL(setupLink ?? '').hash.slice('#token='.length);
  assertError(await login(userId), 403, 'Forbidden');
  assert.equal((await post('/auth/password-setup', { token, newCredential: NEXT })).status, 204);
  assertError(await post('/auth/password-setup', { token, newCredential: NEXT }), 403, 'Forbidden');
  assert.equal((await login(userId, { credential: NEXT })).status, 200);
});

test('the JWKS stands outside the version prefix and verifies the tokens of login [SIGN-IN-24]', async () => {
  const { userId } = await newAccount();
  const { accessToken } = (await login(userId)).json;
  const answer = await api.call(`${api.origin}/.well-known/jwks.json`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const keys = answer.json.keys as unknown as Record<string, string>[];
  for (const key of keys) assert.deepEqual(Object.keys(key).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  const header = decodeProtectedHeader(accessToken);
  assert.deepEqual(header, { alg: 'EdDSA', typ: 'at+jwt', kid: keys[0]?.kid });
  const jwk = keys.find((key) => key.kid === header.kid);
  assert.ok(jwk);
  await compactVerify(accessToken, await importJWK(jwk));
});

test('a flood of sign-ins gets 503 with retry-after, and the service goes on [SIGN-IN-20]', async () => {
  const narrow = await startTestApi({ env: { PASSWORD_HASH_CONCURRENCY: '1', PASSWORD_HASH_QUEUE: '1' } });
  try {
    const guess = () =>
      narrow.call('/auth/login', { body: { identity: randomUUID(), credential: 'x', userType: 'EHR' } });
    const answers = await Promise.all(Array.from({ length: 20 }, guess));
    const refused = answers.filter(({ status }) => status === 503);
    assert.ok(refused.length > 0);
    for (const answer of refused) {
      assertError(answer, 503, 'Service Unavailable');
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    }
    for (const { status } of answers) assert.ok(status === 503 || status === 403);
    assert.equal((await guess()).status, 403);
  } finally {
    await narrow.close();
  }
});

test('nothing secret is in the log of all this [SEC-12]', async () => {
  const { userId, email } = await newAccount({ email: 'secret.address@example.org' });
  const reply = (await login(userId)).json;
  await login(userId, { credential: 'some-wrong-credential' });
  await post('/auth/refresh', { refreshToken: reply.refreshToken });
  const logs = api.logs();
  assert.match(logs, /sign-in\.succeeded/);
  for (const secret of [
    PASSWORD,
    NEXT,
    email,
    'some-wrong-credential',
    reply.accessToken,
    reply.refreshToken,
  ])
    assert.ok(!logs.includes(secret), 'a secret is in the log');
});
