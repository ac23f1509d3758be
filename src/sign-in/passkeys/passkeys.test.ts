/** Passkeys over HTTP: added, proven, replayed, copied and removed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callDuring } from '../../../test-support/call-during.ts';
import { type Answer, type Json, useEmptyApi } from '../../../test-support/service/api.ts';
import { type ConsoleClient, openBrowser } from '../../../test-support/service/console.ts';
import {
  type AnswerChanges,
  type Authenticator,
  createAuthenticator,
} from '../../../test-support/sign-in/authenticator.ts';
import { addSignedIn, signInAs } from '../../../test-support/sign-in/console-people.ts';
import { addTelephone } from '../../../test-support/sign-in/second-factor.ts';
import { addTenant, PASSWORD } from '../../../test-support/sign-in/sign-in.ts';
import type { CreatedAccount } from '../accounts/create-account.ts';
import { passkeyParty } from './passkey-party.ts';

const api = await useEmptyApi();
const tenant = await addTenant(api.database);
/** Of the page that people open on this machine. */
const origin = `http://localhost:${new URL(api.origin).port}`;

const body = { password: PASSWORD };
/** `state`: what is left to do after the password. */
const signIn = (account: CreatedAccount, state = 'second-factor') => signInAs(api, account, state);

async function add(browser: ConsoleClient, key: Authenticator, changes?: AnswerChanges): Promise<Answer> {
  const options = await browser.call('/second-factor/passkey-options', { body });
  assert.equal(options.status, 200, options.text);
  const response = key.create(options.json, changes);
  return browser.call('/second-factor/passkeys', { body: { name: 'my laptop', response } });
}

interface WithPasskey {
  account: CreatedAccount;
  browser: ConsoleClient;
  key: Authenticator;
  added: Json;
}

async function withPasskey(key = createAuthenticator(origin)): Promise<WithPasskey> {
  const { account, browser } = await addSignedIn(api, tenant);
  const { status, text, json } = await add(browser, key);
  assert.equal(status, 200, text);
  return { account, browser, key, added: json };
}

const ask = async (browser: ConsoleClient): Promise<Json> =>
  (await browser.call('/session/passkey-options', { method: 'POST', body: {} })).json;
const prove = (browser: ConsoleClient, response: Json): Promise<Answer> =>
  browser.call('/session/passkey', { body: { response } });

test('a passkey is added, listed, and finishes a sign-in with another cookie [SIGN-IN-62]', async () => {
  const { account, browser, key, added } = await withPasskey();
  assert.equal(added.recoveryCodes.length, 10);
  const { items } = (await browser.call('/second-factor/passkeys')).json;
  assert.deepEqual(items, [
    { id: added.id, name: 'my laptop', createdAt: api.clock.now.toISOString(), lastUsedAt: null },
  ]);
  const next = await signIn(account);
  assert.deepEqual((await next.call('/session')).json, {
    state: 'second-factor',
    methods: ['passkey', 'recovery-code'],
  });
  const options = await ask(next);
  assert.equal(options.rpId, 'localhost');
  assert.equal(options.userVerification, 'required');
  assert.deepEqual(
    options.allowCredentials.map(({ id }: Json) => id),
    [key.id],
  );
  const before = next.cookie;
  const { status, json } = await prove(next, key.get(options));
  assert.deepEqual([status, json], [200, { state: 'signed-in' }]);
  assert.notEqual(next.cookie, before);
  assert.equal((await next.call('/session')).json.state, 'signed-in');
  assert.equal((await openBrowser(api, before).call('/session')).status, 401);
  const used = (await next.call('/second-factor/passkeys')).json.items[0];
  assert.equal(used.lastUsedAt, api.clock.now.toISOString());
});

test('an answer with anything wrong in it is refused, and counts as a failed sign-in [SIGN-IN-62, SIGN-IN-66]', async () => {
  const wrong: [string, AnswerChanges][] = [
    ['another page', { origin: 'https://elsewhere.example.org' }],
    ['another host', { rpId: 'elsewhere.example.org' }],
    ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['another ceremony', { type: 'webauthn.create' }],
    ['a user who was not verified', { flags: 1 }],
    ['a user who was not there', { flags: 4 }],
    ['a copy whose counter fell behind', { counter: 1 }],
  ];
  let current = await withPasskey();
  for (const [index, [name, changes]] of wrong.entries()) {
    // Four failures of five, and then somebody else.
    if (index % 4 === 0) current = await withPasskey();
    const browser = await signIn(current.account);
    const answer = current.key.get(await ask(browser), changes);
    assert.equal((await prove(browser, answer)).status, 403, name);
  }
  const { account, key } = await withPasskey();
  const browser = await signIn(account);
  const stranger = createAuthenticator(origin);
  const forged = { ...stranger.get(await ask(browser)), id: key.id, rawId: key.id };
  assert.equal((await prove(browser, forged)).status, 403, 'the signature of another key');
  for (let failure = 0; failure < 4; failure += 1)
    assert.equal((await prove(browser, stranger.get(await ask(browser)))).status, 403);
  assert.equal((await prove(browser, key.get(await ask(browser)))).status, 429);
});

test('a challenge takes one answer, within five minutes, in its own session [SIGN-IN-62]', async () => {
  const { account, key } = await withPasskey();
  const browser = await signIn(account);
  const options = await ask(browser);
  const answer = key.get(options);
  assert.equal((await prove(await signIn(account), answer)).status, 403, 'in another session');
  assert.equal((await prove(browser, answer)).status, 200);
  const replaying = await signIn(account);
  await ask(replaying);
  assert.equal((await prove(replaying, answer)).status, 403, 'a replay');
  const spent = await signIn(account);
  const challenge = await ask(spent);
  assert.equal((await prove(spent, key.get(challenge, { origin: 'https://a.example' }))).status, 403);
  assert.equal((await prove(spent, key.get(challenge))).status, 403, 'one answer, good or not');
  const { account: other, key: otherKey } = await withPasskey();
  const late = await signIn(other);
  const old = await ask(late);
  await api.database.pool.query({
    text: "update console_session set challenge_until = challenge_until - interval '5 minutes' where challenge = $1",
    values: [old.challenge],
  });
  assert.equal((await prove(late, otherKey.get(old))).status, 403, 'too late');
});

test('a copy that fell behind is refused, also behind a use that comes between [SIGN-IN-62]', async () => {
  const { account, key, added } = await withPasskey();
  const begin = async () => {
    const browser = await signIn(account);
    return { browser, options: await ask(browser) };
  };
  const first = await begin();
  assert.equal((await prove(first.browser, key.get(first.options, { counter: 7 }))).status, 200);
  const behind = await begin();
  assert.equal((await prove(behind.browser, key.get(behind.options, { counter: 7 }))).status, 403);
  const { pool } = api.database;
  const { browser, options } = await begin();
  const { status } = await callDuring(pool, {
    change: (client) => client.query('select from account where id = $1 for no key update', [account.userId]),
    call: () => prove(browser, key.get(options, { counter: 8 })),
    meanwhile: (client) => client.query('update account_passkey set counter = 9 where id = $1', [added.id]),
  });
  assert.equal(status, 403);
});

test('of answers that race to one challenge one goes on [SIGN-IN-62]', async () => {
  const { account, key } = await withPasskey(createAuthenticator(origin, { counting: false }));
  const browser = await signIn(account);
  const answer = key.get(await ask(browser));
  const racing = [browser, openBrowser(api, browser.cookie), openBrowser(api, browser.cookie)];
  const answers = await Promise.all(racing.map((one) => prove(one, answer)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
});

/**
 * Two answers in one: bytes that are passed over stand before either, 4096 or 8064 of them, as the `+` is read, which is
 * none of base64url.
 */
function hidden(certified: Buffer, plain: Buffer): string {
  const passedOver = Buffer.alloc(8_064);
  certified.copy(passedOver, 4_096, 1);
  const head = Buffer.from([0xa4, 0x61, 0x61, 0x59, 0x1f, 0x80]);
  const text = Buffer.concat([head, passedOver, plain.subarray(1)]).toString('base64url');
  return `${text.slice(0, 6)}+${text.slice(7)}`;
}

test('a certificate is found however the answer is written [SIGN-IN-62]', async () => {
  const { browser } = await addSignedIn(api, tenant);
  const key = createAuthenticator(origin);
  const options = (await browser.call('/second-factor/passkey-options', { body })).json;
  const response = key.create(options, { certified: true });
  const bytesOf = ({ response: { attestationObject } }: Json) => Buffer.from(attestationObject, 'base64url');
  response.response.attestationObject = hidden(bytesOf(response), bytesOf(key.create(options)));
  const answer = await browser.call('/second-factor/passkeys', { body: { name: 'my laptop', response } });
  assert.equal(answer.status, 403, answer.text);
});

test('a passkey is added with a good answer to its own challenge alone, and without certificates [SIGN-IN-62, SIGN-IN-67]', async () => {
  const { account, browser, key } = await withPasskey();
  const refused: AnswerChanges[] = [
    { origin: 'https://elsewhere.example.org' },
    { rpId: 'elsewhere.example.org' },
    { challenge: Buffer.alloc(32).toString('base64url') },
    { flags: 1 },
    { certified: true },
    { format: 'packed', statement: new Map([['x5c', [new Uint8Array(8)]]]) },
    { format: 'android-safetynet' },
    { format: 'tpm' },
  ];
  for (const changes of refused) {
    const { status } = await add(browser, createAuthenticator(origin), changes);
    assert.equal(status, 403, JSON.stringify(changes));
  }
  assert.equal((await add(browser, key)).status, 409, 'the same once more');
  const stranger = createAuthenticator(origin);
  const options = (await browser.call('/second-factor/passkey-options', { body })).json;
  const created = { name: 'x', response: stranger.create(options) };
  assert.equal((await browser.call('/second-factor/passkeys', { body: created })).status, 200);
  assert.equal((await browser.call('/second-factor/passkeys', { body: created })).status, 403, 'a replay');
  const asked = await browser.call('/second-factor/passkey-options', {
    body: { password: 'not the password' },
  });
  assert.equal(asked.status, 403);
  const signingIn = await signIn(account);
  await ask(signingIn);
  const early = { name: 'x', response: createAuthenticator(origin).create(options) };
  assert.equal((await signingIn.call('/second-factor/passkeys', { body: early })).status, 401);
});

test('the challenge of a sign-in adds no passkey, for which no password was asked [SIGN-IN-62, SIGN-IN-67]', async () => {
  const { account, browser } = await withPasskey();
  const telephone = await addTelephone(api, browser);
  const next = await signIn(account);
  const { challenge } = await ask(next);
  const proven = await next.call('/session/totp', { body: { code: telephone.code(1) } });
  assert.equal(proven.status, 200, proven.text);
  const options = (await browser.call('/second-factor/passkey-options', { body })).json;
  const response = createAuthenticator(origin).create({ ...options, challenge });
  const added = await next.call('/second-factor/passkeys', { body: { name: 'x', response } });
  assert.equal(added.status, 403, added.text);
});

test('a passkey is removed with the password, and the last factor takes the recovery codes along [SIGN-IN-67]', async () => {
  const { account, browser, key, added } = await withPasskey();
  const elsewhere = await signIn(account);
  assert.equal((await prove(elsewhere, key.get(await ask(elsewhere)))).status, 200);
  const other = await withPasskey();
  const remove = (client: ConsoleClient, id: string, password = PASSWORD) =>
    client.call(`/second-factor/passkeys/${id}`, { method: 'DELETE', body: { password } });
  assert.equal((await remove(browser, added.id, 'not the password')).status, 403);
  assert.equal((await remove(other.browser, added.id)).status, 404);
  assert.equal((await remove(browser, 'nonsense')).status, 404);
  const { recoveryCodes } = await addTelephone(api, browser);
  assert.equal(recoveryCodes, undefined, 'with the first factor alone');
  assert.equal((await elsewhere.call('/session')).json.state, 'signed-in', 'which alone ends other sessions');
  assert.equal((await remove(browser, added.id)).status, 204);
  const left = (await browser.call('/session')).json.secondFactor;
  assert.deepEqual([left.totp, left.passkeys, left.recoveryCodesLeft], [true, 0, 10]);
  assert.equal((await browser.call('/second-factor/totp', { method: 'DELETE', body })).status, 204);
  assert.equal((await browser.call('/session')).json.secondFactor.recoveryCodesLeft, 0);
});

test('nobody has more than 20 passkeys', async () => {
  const { browser, added } = await withPasskey();
  await api.database.pool.query({
    text: `insert into account_passkey (organisation_id, id, account_id, credential_id, public_key, counter, name, created_at)
      select organisation_id, gen_random_uuid(), account_id, credential_id || n, public_key, 0, 'more', created_at
      from account_passkey, generate_series(1, 18) n where id = $1`,
    values: [added.id],
  });
  assert.equal((await add(browser, createAuthenticator(origin))).status, 200);
  assert.equal((await add(browser, createAuthenticator(origin))).status, 409);
});

test('passkeys belong to the host of the service, on this machine to localhost, and to no IP address [SIGN-IN-62]', () => {
  assert.deepEqual(passkeyParty('https://records.example.org/prefix/api/v1'), {
    rpId: 'records.example.org',
    origins: ['https://records.example.org'],
  });
  for (const host of ['127.0.0.1', '[::1]', 'localhost'])
    assert.deepEqual(passkeyParty(`http://${host}:3000/api/v1`), {
      rpId: 'localhost',
      origins: ['http://localhost:3000'],
    });
  for (const host of ['192.0.2.1', '[2001:db8::1]'])
    assert.throws(() => passkeyParty(`https://${host}/api/v1`), /belongs to a name/);
});

test('what an authenticator says of its transports is a list of short words [SIGN-IN-62]', async () => {
  const { browser } = await addSignedIn(api, tenant);
  const key = createAuthenticator(origin);
  for (const transports of ['usb', { usb: 1 }, [1], ['x'.repeat(99)], new Array(99).fill('usb')]) {
    const options = await browser.call('/second-factor/passkey-options', { body });
    const response = key.create(options.json);
    response.response.transports = transports;
    const added = await browser.call('/second-factor/passkeys', { body: { name: 'my laptop', response } });
    assert.equal(added.status, 400, added.text);
  }
});
