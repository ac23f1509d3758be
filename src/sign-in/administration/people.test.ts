/** People as an administrator manages them over HTTP: their locks, second factors and sessions of the console. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type Answer, useEmptyApi } from '../../../test-support/service/api.ts';
import { type ConsoleClient, openBrowser } from '../../../test-support/service/console.ts';
import { createAuthenticator } from '../../../test-support/sign-in/authenticator.ts';
import { addTelephone } from '../../../test-support/sign-in/second-factor.ts';

const ROLES = '/roles';

const api = await useEmptyApi();
const here = await api.createTenant();
const there = await api.createFacility(here.organisationId);
const facilityIds = [here.facilityId, there];
const admin = await api.createAccount(here, { userType: 'STAFF', facilityIds });

const asAdmin = (path: string, options: { method?: string; body?: unknown } = {}) =>
  api.call(path, { token: admin.token, ...options });

async function roleOf(permissions: readonly string[]): Promise<string> {
  const { json, text } = await asAdmin(ROLES, { body: { name: `role ${randomUUID()}`, permissions } });
  assert.ok(json.id, text);
  return json.id;
}

interface Person {
  path: string;
  email: string;
  password: string;
}

/** Somebody who may see roles. */
async function addPerson(): Promise<Person> {
  const { json, text } = await asAdmin('/accounts', {
    body: {
      email: `person-${randomUUID()}@example.org`,
      userType: 'STAFF',
      roleId: await roleOf(['roles.manage']),
      facilityIds: [here.facilityId],
      mustChangePassword: false,
    },
  });
  assert.ok(json.password, text);
  return { path: `/accounts/${json.userId}`, email: json.email, password: json.password };
}

const tryPassword = (browser: ConsoleClient, { email, password }: Pick<Person, 'email' | 'password'>) =>
  browser.call('/session', { body: { email, password } });

async function signIn(person: Person): Promise<{ browser: ConsoleClient; answer: Answer }> {
  const browser = openBrowser(api);
  const answer = await tryPassword(browser, person);
  assert.equal(answer.status, 200, answer.text);
  return { browser, answer };
}

const statusOf = async (browser: ConsoleClient) => (await browser.call(ROLES)).status;

test('failed sign-ins at the console lock a person in the list of accounts, until they are unlocked [ADM-17]', async () => {
  const person = await addPerson();
  const wrong = { email: person.email.toUpperCase(), password: 'not the password at all' };
  for (let failure = 0; failure < 5; failure += 1)
    assert.equal((await tryPassword(openBrowser(api), wrong)).status, 403);
  assert.equal((await tryPassword(openBrowser(api), person)).status, 429);
  const listed = await asAdmin('/accounts?state=locked&type=STAFF');
  assert.deepEqual(
    listed.json.items.map(({ email }: { email: string }) => email),
    [person.email],
  );
  const { json } = await asAdmin(person.path);
  assert.deepEqual([json.locked, json.state], [true, 'locked']);
  const unlocked = await asAdmin(`${person.path}/unlock`, { method: 'POST' });
  assert.deepEqual([unlocked.json.locked, unlocked.json.state], [false, 'active']);
  assert.equal(await statusOf((await signIn(person)).browser), 200);
});

test('app, passkey and recovery codes are removed together, and the sessions of the console end [ADM-16]', async () => {
  const person = await addPerson();
  const { browser } = await signIn(person);
  const { recoveryCodes } = await addTelephone(api, browser, person.password);
  const key = createAuthenticator(`http://localhost:${new URL(api.origin).port}`);
  const body = { password: person.password };
  const options = (await browser.call('/second-factor/passkey-options', { body })).json;
  const added = await browser.call('/second-factor/passkeys', {
    body: { name: 'laptop', response: key.create(options) },
  });
  assert.equal(added.status, 200, added.text);
  const unfinished = (await signIn(person)).browser;
  const { secondFactor } = (await browser.call('/session')).json;
  assert.deepEqual(secondFactor, { required: false, totp: true, passkeys: 1, recoveryCodesLeft: 10 });

  const removed = await asAdmin(`${person.path}/remove-second-factor`, { method: 'POST' });
  assert.deepEqual([removed.json.secondFactor, removed.json.liveSessions], [false, 0], removed.text);
  assert.equal(await statusOf(browser), 401);
  const code = { body: { code: recoveryCodes[0] } };
  assert.equal((await unfinished.call('/session/recovery-code', code)).status, 401);
  const next = await signIn(person);
  assert.deepEqual(next.answer.json, { state: 'signed-in' });
  const left = (await next.browser.call('/session')).json.secondFactor;
  assert.deepEqual(left, { required: false, totp: false, passkeys: 0, recoveryCodesLeft: 0 });
});

test('disabling a person and a new password end their sessions of the console [ADM-18]', async () => {
  const node = await api.addNode();
  for (const [step, body] of [
    ['disable', undefined],
    ['reset-password', { password: 'generated' }],
  ] as const) {
    const person = await addPerson();
    const { browser } = await signIn(person);
    const elsewhere = openBrowser(node, browser.cookie);
    assert.deepEqual([await statusOf(browser), await statusOf(elsewhere)], [200, 200]);
    const changed = await asAdmin(`${person.path}/${step}`, { method: 'POST', body });
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual([await statusOf(elsewhere), await statusOf(browser)], [401, 401], step);
    assert.equal((await tryPassword(openBrowser(api), person)).status, 403, step);
    assert.equal((await asAdmin(`${person.path}/enable`, { method: 'POST' })).status, 200);
    assert.deepEqual([await statusOf(elsewhere), await statusOf(browser)], [401, 401], 'they stay ended');
  }
  await node.close();
});

test('another role, and other facilities, hold in a session of the console from its next call on [ADM-18]', async () => {
  const node = await api.addNode();
  const person = await addPerson();
  const { browser } = await signIn(person);
  const elsewhere = openBrowser(node, browser.cookie);
  assert.deepEqual([await statusOf(browser), await statusOf(elsewhere)], [200, 200]);
  const roleId = await roleOf(['facilities.manage']);
  assert.equal((await asAdmin(person.path, { method: 'PATCH', body: { roleId } })).status, 200);
  assert.deepEqual([await statusOf(elsewhere), await statusOf(browser)], [403, 403]);
  const move = { method: 'PATCH', body: { facilityIds: [there] } };
  assert.equal((await asAdmin(person.path, move)).status, 200);
  for (const client of [elsewhere, browser]) {
    const { items } = (await client.call('/facilities')).json;
    assert.deepEqual(
      items.map(({ id }: { id: string }) => id),
      [there],
    );
  }
  await node.close();
});

test('the last use of an account is told, and its live sessions: of tokens and of the console [ADM-76, ADM-10]', async () => {
  const begun = api.clock.now;
  const at = (seconds: number) => {
    api.clock.now = new Date(begun.getTime() + seconds * 1_000);
    return api.clock.now.toISOString();
  };
  const person = await addPerson();
  let token = admin.token;
  const told = async () => {
    const { lastUsedAt, liveSessions } = (await api.call(person.path, { token })).json;
    const { items } = (await api.call(`${person.path}/sessions`, { token })).json;
    assert.equal(items.length, liveSessions);
    const uses = items.map((item: { lastUsedAt: string }) => item.lastUsedAt);
    return { lastUsedAt, uses };
  };
  assert.deepEqual(await told(), { lastUsedAt: null, uses: [] });
  const identity = person.path.slice('/accounts/'.length);
  const body = { identity, credential: person.password, userType: 'STAFF' };
  const { refreshToken } = (await api.call('/auth/login', { body })).json;
  assert.deepEqual(await told(), { lastUsedAt: at(0), uses: [at(0)] }, 'a sign-in');
  const refreshedAt = at(60);
  assert.equal((await api.call('/auth/refresh', { body: { refreshToken } })).status, 200);
  assert.deepEqual(await told(), { lastUsedAt: refreshedAt, uses: [refreshedAt] }, 'a refresh');
  const { browser } = await signIn(person);
  const calledAt = at(180);
  assert.equal(await statusOf(browser), 200);
  const uses = [calledAt, refreshedAt];
  assert.deepEqual(await told(), { lastUsedAt: calledAt, uses }, 'a call at the console, which began last');
  at(180 + 1_800);
  token = (await api.createAccount(here)).token;
  assert.deepEqual(await told(), { lastUsedAt: calledAt, uses: [refreshedAt] }, 'the other has ended');
  api.clock.now = begun;
});
