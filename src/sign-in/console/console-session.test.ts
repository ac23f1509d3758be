/** Sessions of the console over HTTP: signing in with a password, what the cookie opens, and when it ends. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type Answer, type TestNode, useEmptyApi } from '../../../test-support/service/api.ts';
import { openBrowser, signInAtConsole } from '../../../test-support/service/console.ts';
import {
  addConsoleTenant,
  addPerson,
  addSignedIn,
  later as laterAt,
  PATIENTS_PATH as PATH,
  signInAs,
} from '../../../test-support/sign-in/console-people.ts';
import { addTelephone } from '../../../test-support/sign-in/second-factor.ts';
import {
  type AccountFixture,
  addAccount,
  addTenant,
  cheapPasswords,
  PASSWORD,
} from '../../../test-support/sign-in/sign-in.ts';
import { setPermissions } from '../../tenancy/roles/roles.ts';
import { disableAccount, resetPassword } from '../accounts/manage-accounts.ts';
import { operatorOn } from '../administration/managed-account.ts';

const api = await useEmptyApi();
const second = await api.addNode();
const tenant = await addConsoleTenant(api);

const passwords = cheapPasswords();
const person = (options?: AccountFixture) => addPerson(api, tenant, options);
const signedIn = (options?: AccountFixture) => addSignedIn(api, tenant, options);

async function signIn(email: string, password = PASSWORD, node: TestNode = api) {
  const browser = openBrowser(node);
  const answer = await browser.call('/session', { body: { email, password } });
  return { browser, answer };
}

const statusOf = async (browser: { call(path: string): Promise<Answer> }) =>
  (await browser.call(PATH)).status;

const later = (seconds: number, work: () => Promise<void>) => laterAt(api, seconds, work);

test('a person signs in with address and password, whatever its case, and the cookie opens the API [SIGN-IN-50]', async () => {
  const { email } = await person();
  const { browser, answer } = await signIn(email.toUpperCase());
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json, { state: 'signed-in' });
  assert.equal(await statusOf(browser), 200);
  const other = openBrowser(second, browser.cookie);
  assert.equal(await statusOf(other), 200);
});

test('the cookie is no text of the database, and cannot be read by scripts [SIGN-IN-51]', async () => {
  const { browser } = await signedIn();
  const [name, token = ''] = browser.cookie?.split('=') ?? [];
  assert.equal(name, 'interchange-session');
  assert.equal(Buffer.from(token, 'base64url').length, 48);
  const { rows } = await api.database.pool.query({
    text: 'select c::text as line from console_session c',
  });
  const lines = rows.map(({ line }) => String(line)).join('\n');
  assert.ok(lines.length > 0);
  for (const bytes of [Buffer.from(token), Buffer.from(token, 'base64url').subarray(16)])
    assert.ok(!lines.includes(token) && !lines.includes(bytes.toString('hex')));
});

test('a sign-in at the console lets the earlier failures of its network count no more [SIGN-IN-58]', async () => {
  const { email } = await person();
  assert.equal((await signIn(email)).answer.status, 200);
  for (let round = 0; round < 2; round += 1) {
    for (let count = 0; count < 4; count += 1)
      assert.equal((await signIn(email, 'not the password at all')).answer.status, 403);
    assert.equal((await signIn(email)).answer.status, 200, `round ${round}`);
  }
});

test('each sign-in has a cookie of its own, whichever the browser brought [SIGN-IN-51]', async () => {
  const attacker = await signedIn();
  const victim = await person();
  const browser = openBrowser(api, attacker.browser.cookie);
  await browser.call('/session', { body: { email: victim.email, password: PASSWORD } });
  assert.notEqual(browser.cookie, attacker.browser.cookie);
  const { json } = await browser.call('/session');
  assert.equal(json.account.userId, victim.userId);
});

test('a sign-in ends the session whose cookie it brings, whoever had it, and no other [SIGN-IN-74]', async () => {
  const { account, browser } = await signedIn();
  const copy = openBrowser(second, browser.cookie);
  const elsewhere = (await signIn(account.email)).browser;
  const again = (password: string, email = account.email) =>
    browser.call('/session', { body: { email, password } });
  assert.equal((await again('not the password at all')).status, 403);
  assert.deepEqual([await statusOf(copy), await statusOf(elsewhere)], [200, 200]);
  assert.equal((await again(PASSWORD)).status, 200);
  assert.deepEqual([await statusOf(copy), await statusOf(browser)], [401, 200]);
  const before = openBrowser(second, browser.cookie);
  const foreign = await addPerson(api, await addConsoleTenant(api));
  assert.equal((await again(PASSWORD, foreign.email)).status, 200);
  assert.deepEqual([await statusOf(before), await statusOf(browser)], [401, 200]);
  assert.equal(await statusOf(elsewhere), 200);
});

test('who has the password and no second factor ends no session by signing in often [SIGN-IN-78]', async () => {
  const { account, browser } = await signedIn();
  await addTelephone(api, browser);
  const { pool } = api.database;
  await pool.query(`update session set created_at = created_at - interval '1 hour' where account_id = $1`, [
    account.userId,
  ]);
  await signInAs(api, account, 'second-factor');
  await pool.query(
    `insert into session (organisation_id, id, account_id, created_at, expires_at)
     select organisation_id, gen_random_uuid(), account_id, max(created_at), max(expires_at)
     from session, generate_series(1, 9998) n
     where account_id = $1
     group by organisation_id, account_id, n`,
    [account.userId],
  );
  await signInAs(api, account, 'second-factor');
  assert.equal(await statusOf(browser), 200);
});

test('a sign-in at the console ends the sessions beyond 10,000, the oldest first [SIGN-IN-78]', async () => {
  const { account, browser } = await signedIn();
  await api.database.pool.query(
    `insert into session (organisation_id, id, account_id, created_at, expires_at)
     select organisation_id, gen_random_uuid(), account_id, max(created_at) + interval '1 second', max(expires_at)
     from session, generate_series(1, 9999) n
     where account_id = $1
     group by organisation_id, account_id, n`,
    [account.userId],
  );
  await signInAs(api, account);
  assert.equal(await statusOf(browser), 401);
});

test('GET /session tells who is signed in, where, with what rights, and until when [SIGN-IN-59]', async () => {
  const { account, browser } = await signedIn();
  await api.createFacility(tenant.organisationId);
  const { status, json } = await browser.call('/session');
  assert.equal(status, 200);
  assert.deepEqual(json.account, {
    userId: account.userId,
    email: account.email,
    role: tenant.role,
    mustChangePassword: false,
  });
  assert.equal(json.organisation.id, tenant.organisationId);
  assert.deepEqual(
    json.facilities.map(({ id, name }: { id: string; name: string }) => [id, name]),
    [[tenant.facilityId, 'Test Facility']],
  );
  assert.equal(json.everyFacility, false, 'there is another');
  assert.equal(json.defaultFacilityId, tenant.facilityId);
  assert.deepEqual(json.permissions, ['patients.patients.list']);
  assert.deepEqual(json.secondFactor, { required: false, totp: false, passkeys: 0, recoveryCodesLeft: 0 });
  const seconds = (text: string) => Math.round((Date.parse(text) - api.clock.now.getTime()) / 1_000);
  assert.equal(seconds(json.idleEndsAt), 1_800);
  assert.equal(seconds(json.endsAt), 43_200);
  assert.equal(json.publicBaseUrl, api.baseUrl);
});

test('DELETE /session ends the session on every node and clears the cookie [SIGN-IN-60, SIGN-IN-54]', async () => {
  const { browser } = await signedIn();
  const copy = openBrowser(second, browser.cookie);
  assert.equal(await statusOf(copy), 200);
  const { status, headers } = await browser.call('/session', { method: 'DELETE' });
  assert.equal(status, 204);
  assert.match(headers.get('set-cookie') ?? '', /^interchange-session=;.*Max-Age=0$/);
  assert.equal(browser.cookie, undefined);
  assert.equal(await statusOf(copy), 401);
  assert.equal((await copy.call('/session')).status, 401);
});

test('disabling, a reset and a change of the role count with the next call, on every node [SIGN-IN-54]', async () => {
  const db = api.database.pool;
  const keys = api.keys;
  const cases = [
    (email: string) => disableAccount(db, operatorOn(email), api.clock.now),
    (email: string) =>
      resetPassword(
        { db, passwords, keys, publicBaseUrl: api.baseUrl },
        { ...operatorOn(email), password: { kind: 'generated' }, mustChangePassword: true },
        api.clock.now,
      ),
  ];
  for (const end of cases) {
    const { account, browser } = await signedIn();
    const copy = openBrowser(second, browser.cookie);
    assert.deepEqual([await statusOf(browser), await statusOf(copy)], [200, 200]);
    await end(account.email);
    assert.deepEqual([await statusOf(copy), await statusOf(browser)], [401, 401]);
  }
  const { browser } = await signedIn();
  const copy = openBrowser(second, browser.cookie);
  assert.equal(await statusOf(copy), 200);
  const { organisationId, role: name } = tenant;
  await setPermissions(db, { organisationId, name, permissions: ['encounters.access'] });
  assert.deepEqual([await statusOf(copy), await statusOf(browser)], [403, 403]);
  await setPermissions(db, { organisationId, name, permissions: ['patients.patients.list'] });
  assert.equal(await statusOf(copy), 200);
});

test('an account that must change its password is told so, and opens nothing else', async () => {
  const { browser } = await signedIn({ mustChangePassword: true });
  assert.equal((await browser.call('/session')).json.account.mustChangePassword, true);
  assert.match((await browser.call(PATH)).json.message, /change its password/);
});

test('unknown, disabled and EHR accounts, accounts without a password and wrong passwords get one answer [SIGN-IN-58]', async () => {
  const disabled = await person();
  await disableAccount(api.database.pool, operatorOn(disabled.email), api.clock.now);
  const cases: [string, string][] = [
    [(await person()).email, 'not the password at all'],
    [(await person({ userType: 'EHR' })).email, PASSWORD],
    [(await person({ password: { kind: 'setup-link' } })).email, PASSWORD],
    [disabled.email, PASSWORD],
    [`nobody-${randomUUID()}@example.org`, PASSWORD],
    ['not an address', PASSWORD],
  ];
  const answers = new Set<string>();
  for (const [email, password] of cases) {
    const { browser, answer } = await signIn(email, password);
    assert.equal(answer.headers.get('set-cookie'), null);
    assert.equal(browser.cookie, undefined);
    answers.add(`${answer.status} ${answer.text}`);
  }
  assert.equal(answers.size, 1, [...answers].join('\n'));
  assert.match([...answers][0] ?? '', /^403 /);
});

test('failures lock an address at both entrances alike, also one that nobody has [SIGN-IN-58]', async () => {
  const { email, userId } = await person();
  const unknown = `nobody-${randomUUID()}@example.org`;
  for (const address of [email, unknown]) {
    for (let failure = 0; failure < 5; failure += 1)
      assert.equal((await signIn(address, 'not the password at all')).answer.status, 403);
    const { answer } = await signIn(address);
    assert.equal(answer.status, 429);
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
  }
  const body = { identity: userId, credential: PASSWORD, userType: 'STAFF' };
  assert.equal((await api.call('/auth/login', { body })).status, 429);
});

test('a cookie that names another organisation, or is none of ours, opens nothing [SIGN-IN-52]', async () => {
  const other = await addTenant(api.database);
  const { browser } = await signedIn();
  const [name, token = ''] = browser.cookie?.split('=') ?? [];
  const bytes = Buffer.from(token, 'base64url');
  const moved = Buffer.concat([
    Buffer.from(other.organisationId.replaceAll('-', ''), 'hex'),
    bytes.subarray(16),
  ]);
  const values = [
    moved.toString('base64url'),
    token.slice(1),
    `${token}A`,
    '',
    `${token}; ${name}=${token}`,
    Buffer.alloc(48).toString('base64url'),
  ];
  for (const value of values) {
    const { status, headers } = await openBrowser(api, `${name}=${value}`).call(PATH);
    assert.equal(status, 401, value);
    assert.equal(headers.get('www-authenticate'), 'Cookie');
  }
  assert.equal(await statusOf(browser), 200);
});

test('a role that requires a second factor lets its people do nothing but add one, from the next call on [SIGN-IN-64, SIGN-IN-57]', async () => {
  const db = api.database.pool;
  const strict = await addConsoleTenant(api);
  const account = await addPerson(api, strict);
  const before = await signIn(account.email);
  assert.equal(await statusOf(before.browser), 200);
  await db.query({
    text: 'update role set requires_second_factor = true where organisation_id = $1',
    values: [strict.organisationId],
  });
  assert.equal(await statusOf(before.browser), 401);
  const { browser, answer } = await signIn(account.email);
  assert.deepEqual(answer.json, { state: 'enrol-second-factor' });
  assert.deepEqual((await browser.call('/session')).json, { state: 'enrol-second-factor' });
  assert.match((await browser.call(PATH)).json.message, /not finished/);
  await later(5 * 60, async () => assert.equal((await browser.call('/session')).status, 401));
});

test('an account that needs a second factor is refused at the API as with a wrong password [SIGN-IN-65]', async () => {
  const strict = await addConsoleTenant(api);
  const account = await addPerson(api, strict);
  const system = await addAccount({ database: api.database, passwords }, strict);
  const body = { identity: account.userId, credential: PASSWORD, userType: 'STAFF' };
  assert.equal((await api.call('/auth/login', { body })).status, 200);
  await api.database.pool.query({
    text: 'update role set requires_second_factor = true where organisation_id = $1',
    values: [strict.organisationId],
  });
  const wrong = await api.call('/auth/login', { body: { ...body, credential: 'not the password at all' } });
  const refused = await api.call('/auth/login', { body });
  assert.equal(refused.status, 403);
  assert.equal(refused.text, wrong.text);
  const change = { ...body, newCredential: 'another long passphrase' };
  assert.equal((await api.call('/auth/password', { body: change })).text, wrong.text);
  const ehr = { identity: system.userId, credential: PASSWORD, userType: 'EHR' };
  assert.equal((await api.call('/auth/login', { body: ehr })).status, 200);
});

test('a session that was put into the database as others are can be used as others can', async () => {
  const account = await api.createAccount(await api.createTenant(), { userType: 'STAFF' });
  assert.equal(await statusOf(await signInAtConsole(api, account)), 200);
});
