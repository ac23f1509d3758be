/** Authenticator apps and recovery codes over HTTP: added, proven, guessed, replayed and removed. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { type Answer, useEmptyApi } from '../../../test-support/service/api.ts';
import { type ConsoleClient, openBrowser } from '../../../test-support/service/console.ts';
import {
  addConsoleTenant,
  addSignedIn,
  later as laterAt,
  PATIENTS_PATH as PATH,
  type SignedInPerson,
  signInAs,
} from '../../../test-support/sign-in/console-people.ts';
import { addTelephone, codesOf, type Telephone } from '../../../test-support/sign-in/second-factor.ts';
import { PASSWORD } from '../../../test-support/sign-in/sign-in.ts';
import { setPermissions } from '../../tenancy/roles/roles.ts';
import type { CreatedAccount } from '../accounts/create-account.ts';
import { operatorOn } from '../administration/managed-account.ts';
import { removeSecondFactorsOf } from './remove-factor.ts';

const WRONG = 'not the password at all';
const PERMISSIONS = ['patients.patients.list'];

const api = await useEmptyApi();
const tenant = await addConsoleTenant(api);

const signIn = (account: CreatedAccount, expected?: string) => signInAs(api, account, expected);
const signedIn = (place = tenant) => addSignedIn(api, place);
const at = (seconds: number, work: () => Promise<void>) => laterAt(api, seconds, work);

/** Somebody with an authenticator app. The code of now is used up. */
async function withTelephone(): Promise<SignedInPerson & { telephone: Telephone }> {
  const { account, browser } = await signedIn();
  return { account, browser, telephone: await addTelephone(api, browser) };
}

const prove = (browser: ConsoleClient, code: string, way = 'totp'): Promise<Answer> =>
  browser.call(`/session/${way}`, { body: { code } });

test('an app is added with a password and a code, and asked for from then on [SIGN-IN-61, SIGN-IN-57]', async () => {
  const { account, browser, telephone } = await withTelephone();
  assert.equal((await browser.call(PATH)).status, 200, 'the session goes on');
  const factor = (await browser.call('/session')).json.secondFactor;
  assert.deepEqual(factor, { required: false, totp: true, passkeys: 0, recoveryCodesLeft: 10 });
  const next = openBrowser(api);
  const first = await next.call('/session', { body: { email: account.email, password: PASSWORD } });
  assert.deepEqual(first.json, { state: 'second-factor', methods: ['totp', 'recovery-code'] });
  assert.deepEqual((await next.call('/session')).json, first.json);
  for (const [path, method] of [
    [PATH, 'GET'],
    ['/sessions', 'GET'],
    ['/session/password', 'POST'],
    ['/second-factor/totp', 'POST'],
    ['/second-factor/recovery-codes', 'POST'],
    ['/second-factor/totp', 'DELETE'],
  ] as const) {
    const body = method === 'GET' ? {} : { body: { password: PASSWORD, newPassword: 'several new words' } };
    const { status, json } = await next.call(path, { method, ...body });
    assert.match(`${status} ${json.message}`, /^401 .*not finished/, `${method} ${path}`);
  }
  const before = next.cookie;
  const proven = await prove(next, telephone.code(1));
  assert.deepEqual(proven.json, { state: 'signed-in' });
  assert.equal((await next.call(PATH)).status, 200);
  assert.notEqual(next.cookie, before, 'another cookie');
  assert.equal((await openBrowser(api, before).call(PATH)).status, 401, 'the one before is worth nothing');
  const { endsAt } = (await next.call('/session')).json;
  assert.equal(Date.parse(endsAt) - api.clock.now.getTime(), 12 * 3_600_000);
});

test('a step of a sign-in that is finished is refused [SIGN-IN-57]', async () => {
  const { browser, telephone } = await withTelephone();
  assert.equal((await prove(browser, telephone.code(1))).status, 409);
});

test('a sign-in is finished within five minutes [SIGN-IN-57]', async () => {
  const { account, telephone } = await withTelephone();
  const browser = await signIn(account, 'second-factor');
  await at(299, async () => assert.equal((await browser.call('/session')).status, 200));
  await at(300, async () => {
    assert.equal((await prove(browser, telephone.code())).status, 401);
    assert.equal((await browser.call('/session')).status, 401);
  });
});

test('each code counts once, in its half minute or the ones beside it [SIGN-IN-61]', async () => {
  const { account, telephone } = await withTelephone();
  const used = await signIn(account, 'second-factor');
  assert.equal((await prove(used, telephone.code())).status, 403, 'the one of the confirmation');
  assert.equal((await prove(used, telephone.code(-1))).status, 403, 'one from before it');
  assert.equal((await prove(used, telephone.code(2))).status, 403, 'one that is to come');
  const code = telephone.code(1);
  assert.equal((await prove(used, ` ${code.slice(0, 3)} ${code.slice(3)}`)).status, 200);
  const again = await signIn(account, 'second-factor');
  assert.equal((await prove(again, code)).status, 403, 'a second time');
});

test('of sign-ins that race with one code one goes on [SIGN-IN-61, SIGN-IN-63]', async () => {
  const { account, telephone } = await withTelephone();
  for (const [way, code] of [
    ['totp', telephone.code(1)],
    ['recovery-code', telephone.recoveryCodes[0] ?? ''],
  ] as const) {
    const browsers = [];
    for (let count = 0; count < 4; count += 1) browsers.push(await signIn(account, 'second-factor'));
    const answers = await Promise.all(browsers.map((browser) => prove(browser, code, way)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403, 403, 403], way);
  }
});

test('wrong codes lock the account as wrong passwords do, and the right password forgets none of them [SIGN-IN-66]', async () => {
  const { account, telephone } = await withTelephone();
  for (let failure = 0; failure < 5; failure += 1) {
    // A new sign-in each time: a password that is right is no success yet.
    const browser = await signIn(account, 'second-factor');
    assert.equal((await prove(browser, '000000')).status, 403, `${failure}`);
  }
  const browser = openBrowser(api);
  const { status, headers } = await browser.call('/session', {
    body: { email: account.email, password: PASSWORD },
  });
  assert.equal(status, 429);
  assert.ok(Number(headers.get('retry-after')) > 0);
  await at(901, async () => {
    const later = await signIn(account, 'second-factor');
    assert.equal((await prove(later, telephone.code())).status, 200);
  });
});

test('codes that race get no more tries than codes one after the other [SIGN-IN-66]', async () => {
  const { account, telephone } = await withTelephone();
  const browser = await signIn(account, 'second-factor');
  const codes = Array.from({ length: 30 }, (_, index) => String(index).padStart(6, '0'));
  const answers = await Promise.all(codes.map((code) => prove(browser, code)));
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 403).length, 5);
  assert.ok(
    statuses.every((status) => status === 403 || status === 429),
    statuses.join(),
  );
  assert.equal((await prove(browser, telephone.code(1))).status, 429);
});

test('a code of nobody, of another form, or of the recovery codes of somebody else is refused [SIGN-IN-63]', async () => {
  const { account } = await withTelephone();
  const other = await withTelephone();
  const browser = await signIn(account, 'second-factor');
  const codes: [string, string][] = [
    [other.telephone.code(1), 'totp'],
    ['12345', 'totp'],
    ['éééééé', 'totp'],
    [other.telephone.recoveryCodes[0] ?? '', 'recovery-code'],
    ['----', 'recovery-code'],
  ];
  for (const [code, way] of codes) assert.equal((await prove(browser, code, way)).status, 403, code);
});

test('ten recovery codes come with the first factor, and each signs in once, however it is typed [SIGN-IN-63]', async () => {
  const { account, browser, telephone } = await withTelephone();
  const { recoveryCodes } = telephone;
  assert.equal(new Set(recoveryCodes).size, 10);
  assert.match(recoveryCodes[0] ?? '', /^[a-z0-9]{4}(-[a-z0-9]{4}){3}$/);
  const { rows } = await api.database.pool.query({
    text: 'select code_hash as hash from account_recovery_code where account_id = $1',
    values: [account.userId],
  });
  const key = api.keys.derive('sign-in/recovery-code');
  const hashOf = (code: string) =>
    createHmac('sha256', key)
      .update(`${account.userId}/${code.replaceAll('-', '')}`)
      .digest('hex');
  assert.deepEqual(
    rows.map(({ hash }) => hash.toString('hex')).sort(),
    recoveryCodes.map(hashOf).sort(),
    'keyed with what is not in the database',
  );
  const code = recoveryCodes[3] ?? '';
  const lost = await signIn(account, 'second-factor');
  const typed = code.toUpperCase().replaceAll('-', ' ');
  assert.equal((await prove(lost, typed, 'recovery-code')).status, 200);
  assert.equal((await lost.call('/session')).json.secondFactor.recoveryCodesLeft, 9);
  const again = await signIn(account, 'second-factor');
  assert.equal((await prove(again, code, 'recovery-code')).status, 403);
  const renewed = await browser.call('/second-factor/recovery-codes', { body: { password: PASSWORD } });
  assert.equal(renewed.json.recoveryCodes.length, 10);
  assert.equal((await prove(again, recoveryCodes[4] ?? '', 'recovery-code')).status, 403, 'an old one');
  assert.equal((await prove(again, renewed.json.recoveryCodes[0], 'recovery-code')).status, 200);
});

test('adding, removing and new recovery codes ask for the password, with the lock of sign-in [SIGN-IN-67]', async () => {
  const { browser } = await withTelephone();
  const calls = [
    ['POST', '/second-factor/totp'],
    ['DELETE', '/second-factor/totp'],
    ['POST', '/second-factor/recovery-codes'],
    ['POST', '/second-factor/totp'],
    ['DELETE', '/second-factor/totp'],
  ] as const;
  for (const [method, path] of calls)
    assert.equal((await browser.call(path, { method, body: { password: WRONG } })).status, 403, path);
  const last = await browser.call('/second-factor/totp', { method: 'DELETE', body: { password: PASSWORD } });
  assert.equal(last.status, 429);
  assert.equal((await browser.call('/session')).json.secondFactor.totp, true);
});

test('with the last factor the recovery codes go, and nobody is asked any more [SIGN-IN-67]', async () => {
  const { account, browser, telephone } = await withTelephone();
  const body = { password: PASSWORD };
  assert.equal((await browser.call('/second-factor/totp', { body })).status, 409, 'one app an account');
  assert.equal((await browser.call('/second-factor/totp', { method: 'DELETE', body })).status, 204);
  assert.equal((await browser.call('/second-factor/totp', { method: 'DELETE', body })).status, 404);
  assert.equal((await browser.call('/second-factor/recovery-codes', { body })).status, 409);
  const factor = (await browser.call('/session')).json.secondFactor;
  assert.deepEqual(factor, { required: false, totp: false, passkeys: 0, recoveryCodesLeft: 0 });
  await signIn(account);
  const again = await addTelephone(api, browser);
  const next = await signIn(account, 'second-factor');
  assert.equal((await prove(next, telephone.recoveryCodes[0] ?? '', 'recovery-code')).status, 403);
  assert.equal((await prove(next, again.recoveryCodes[0] ?? '', 'recovery-code')).status, 200);
});

test('a sign-in that waits for a second factor ends when the last one is removed [SIGN-IN-72]', async () => {
  const { account, browser } = await withTelephone();
  const waiting = await signIn(account, 'second-factor');
  const body = { password: PASSWORD };
  assert.equal((await browser.call('/second-factor/totp', { method: 'DELETE', body })).status, 204);
  for (const path of ['/session', PATH]) assert.equal((await waiting.call(path)).status, 401, path);
  assert.equal((await browser.call(PATH)).status, 200, 'the session that removed it goes on');
});

test('a secret that was shown counts when it is confirmed, once, by the session that it was shown to [SIGN-IN-61]', async () => {
  const { account, browser } = await signedIn();
  const begin = async (client: ConsoleClient) =>
    (await client.call('/second-factor/totp', { body: { password: PASSWORD } })).json.secret;
  const confirm = (client: ConsoleClient, code: string) =>
    client.call('/second-factor/totp/confirm', { body: { code } });
  assert.equal((await confirm(browser, '123456')).status, 409);
  const replaced = codesOf(api, await begin(browser));
  const secret = await begin(browser);
  const code = codesOf(api, secret);
  await signIn(account);
  assert.equal((await confirm(browser, replaced())).status, 403);
  const other = await signIn(account);
  assert.equal((await confirm(other, code())).status, 409);
  await at(601, async () => assert.equal((await confirm(browser, code())).status, 409));
  const racing = await Promise.all([confirm(browser, code()), confirm(browser, code())]);
  assert.equal(racing.filter(({ status }) => status === 200).length, 1);
  const remove = { method: 'DELETE', body: { password: PASSWORD } };
  await browser.call('/second-factor/totp', remove);
  await at(30, async () => assert.equal((await confirm(browser, code())).status, 409, 'used up'));
  const { rows } = await api.database.pool.query({
    text: 'select t::text || c::text as line from account_totp t, console_session c',
  });
  const bytes = Buffer.from(secret);
  const text = rows.map(({ line }) => String(line).toLowerCase()).join();
  assert.ok(!text.includes(secret.toLowerCase()) && !text.includes(bytes.toString('hex')), 'sealed');
});

test('the first factor ends the other sessions, those of tokens too, and no token is given any more [SIGN-IN-65]', async () => {
  const { account, browser } = await signedIn();
  const other = await signIn(account);
  const body = { identity: account.userId, credential: PASSWORD, userType: 'STAFF' };
  const { accessToken, refreshToken } = (await api.call('/auth/login', { body })).json;
  assert.equal((await api.call(PATH, { token: accessToken })).status, 200);
  await addTelephone(api, browser);
  assert.equal((await other.call(PATH)).status, 401);
  assert.equal((await api.call(PATH, { token: accessToken })).status, 401);
  assert.equal((await api.call('/auth/refresh', { body: { refreshToken } })).status, 401);
  const wrong = await api.call('/auth/login', { body: { ...body, credential: WRONG } });
  const right = await api.call('/auth/login', { body });
  assert.deepEqual([right.status, right.text], [wrong.status, wrong.text]);
  const change = { ...body, newCredential: 'another long passphrase' };
  assert.equal((await api.call('/auth/password', { body: change })).text, wrong.text);
});

test('no member of a body stands in for the second factor [SIGN-IN-65, SIGN-IN-9]', async () => {
  const { account, browser } = await withTelephone();
  const body = { identity: account.userId, credential: PASSWORD, userType: 'STAFF' };
  const { id: sessionId } = (await browser.call('/sessions')).json.items[0];
  // With the wrong password five failures, each of which is answered before the lock.
  const more = [{ secondFactor: 'to-come' }, { secondFactor: 'proven', sessionId }];
  const refused = await api.call('/auth/login', { body: { ...body, credential: WRONG } });
  for (const members of more) {
    const login = await api.call('/auth/login', { body: { ...body, ...members } });
    assert.deepEqual([login.status, login.text], [403, refused.text]);
    const change = { ...body, newCredential: 'another long passphrase', ...members };
    const changed = await api.call('/auth/password', { body: change });
    assert.deepEqual([changed.status, changed.text], [403, refused.text]);
  }
  assert.equal((await browser.call(PATH)).status, 200, 'the password is the same, and the session goes on');
});

test('a role that comes to require a factor takes no tokens of people, and lets them add one [SIGN-IN-64, SIGN-IN-65]', async () => {
  const strict = await addConsoleTenant(api);
  const { organisationId, role: name } = strict;
  const { account, browser } = await signedIn(strict);
  const body = { identity: account.userId, credential: PASSWORD, userType: 'STAFF' };
  const { accessToken } = (await api.call('/auth/login', { body })).json;
  const requires = (requiresSecondFactor: boolean) =>
    setPermissions(api.database.pool, {
      organisationId,
      name,
      permissions: PERMISSIONS,
      requiresSecondFactor,
    });
  assert.equal((await api.call(PATH, { token: accessToken })).status, 200);
  await requires(true);
  assert.equal((await api.call(PATH, { token: accessToken })).status, 401);
  assert.deepEqual((await browser.call('/session')).json, { state: 'enrol-second-factor' });
  const enrolling = await signIn(account, 'enrol-second-factor');
  const before = enrolling.cookie;
  await addTelephone(api, enrolling);
  assert.equal((await enrolling.call(PATH)).status, 200);
  assert.notEqual(enrolling.cookie, before);
  assert.equal((await openBrowser(api, before).call('/session')).status, 401);
  const { endsAt, secondFactor } = (await enrolling.call('/session')).json;
  assert.equal(secondFactor.required, true);
  assert.equal(Date.parse(endsAt) - api.clock.now.getTime(), 12 * 3_600_000);
});

test('who removes the factor that their role requires adds another one in the same session [SIGN-IN-64]', async () => {
  const strict = await addConsoleTenant(api);
  const { organisationId, role: name } = strict;
  const role = { organisationId, name, permissions: PERMISSIONS, requiresSecondFactor: true };
  const { browser } = await signedIn(strict);
  await setPermissions(api.database.pool, role);
  await addTelephone(api, browser);
  const body = { password: PASSWORD };
  assert.equal((await browser.call('/second-factor/totp', { method: 'DELETE', body })).status, 204);
  assert.deepEqual((await browser.call('/session')).json, { state: 'enrol-second-factor' });
  const before = browser.cookie;
  await addTelephone(api, browser);
  assert.equal((await browser.call(PATH)).status, 200);
  assert.equal((await openBrowser(api, before).call('/session')).status, 401);
});

test('the operator removes the factors of somebody who lost them, and their sessions end [SIGN-IN-71]', async () => {
  const { account, browser } = await withTelephone();
  await removeSecondFactorsOf(api.database.pool, operatorOn(account.email), api.clock.now);
  assert.equal((await browser.call('/session')).status, 401);
  await signIn(account);
});
