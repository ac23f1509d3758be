/** One's own sessions and one's own password, over HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useEmptyApi } from '../../../test-support/service/api.ts';
import { type ConsoleClient, openBrowser } from '../../../test-support/service/console.ts';
import {
  addConsoleTenant,
  addSignedIn,
  later as laterAt,
  PATIENTS_PATH as PATH,
  signInAs,
} from '../../../test-support/sign-in/console-people.ts';
import { PASSWORD } from '../../../test-support/sign-in/sign-in.ts';

const api = await useEmptyApi();
const tenant = await addConsoleTenant(api);

const signedIn = () => addSignedIn(api, tenant);

test('one sees and ends the sessions of the own account, and no other [SIGN-IN-68]', async () => {
  const { account, browser } = await signedIn();
  const body = { identity: account.userId, credential: PASSWORD, userType: 'STAFF' };
  const { accessToken } = (await api.call('/auth/login', { body })).json;
  const other = openBrowser(api);
  await other.call('/session', {
    body: { email: account.email, password: PASSWORD },
    headers: { 'user-agent': 'another browser' },
  });
  await laterAt(api, 120, async () => assert.equal((await other.call(PATH)).status, 200));
  const { items } = (await browser.call('/sessions')).json;
  assert.equal(items.length, 3);
  assert.equal(items[0].userAgent, 'another browser', 'the one that was used last');
  const current = items.filter((item: { current: boolean }) => item.current);
  assert.equal(current.length, 1);
  assert.equal(current[0].network, '127.0.0.0/24');
  const named = items.find(({ userAgent }: { userAgent: string }) => userAgent === 'another browser');
  const ofTokens = items.find(({ userAgent }: { userAgent: string | null }) => userAgent === null);
  const stranger = (await signedIn()).browser;
  const end = (client: ConsoleClient, id: string) => client.call(`/sessions/${id}`, { method: 'DELETE' });
  for (const id of [named.id, 'nonsense', account.userId])
    assert.equal((await end(stranger, id)).status, 404, id);
  assert.equal((await other.call(PATH)).status, 200);
  assert.equal((await end(browser, named.id)).status, 204);
  assert.equal((await other.call(PATH)).status, 401);
  assert.equal((await end(browser, named.id)).status, 404, 'it has ended');
  const left = (await browser.call('/sessions')).json.items.map(({ id }: { id: string }) => id);
  assert.deepEqual(left.sort(), [current[0].id, ofTokens.id].sort());
  const node = await api.addNode();
  const statusesOfToken = async () => [
    (await api.call(PATH, { token: accessToken })).status,
    (await node.call(PATH, { token: accessToken })).status,
  ];
  assert.deepEqual(await statusesOfToken(), [200, 200]);
  assert.equal((await end(browser, ofTokens.id)).status, 204);
  assert.deepEqual(await statusesOfToken(), [401, 401], 'in every process');
  await node.close();
  assert.equal((await end(browser, current[0].id)).status, 204);
  assert.equal(browser.cookie, undefined);
});

test('of more sessions than are listed, those that began last are, and it says so [SIGN-IN-77]', async () => {
  const { account, browser } = await signedIn();
  const add = (count: number) =>
    api.database.pool.query(
      `insert into session (organisation_id, id, account_id, created_at, expires_at)
       select organisation_id, gen_random_uuid(), account_id, created_at - n * interval '1 second', expires_at
       from session cross join generate_series(1, $2::integer) n
       where account_id = $1 and organisation_id = $3 and exists (
         select from console_session c where c.organisation_id = $3 and c.session_id = id
       )`,
      [account.userId, count, tenant.organisationId],
    );
  const read = async () => (await browser.call('/sessions')).json;
  await add(999);
  const all = await read();
  assert.deepEqual([all.items.length, all.more], [1_000, false]);
  await add(1);
  const some = await read();
  assert.deepEqual([some.items.length, some.more, some.items[0].current], [1_000, true, true]);
});

test('a changed password ends the other sessions, and this one goes on with another cookie [SIGN-IN-69, SIGN-IN-76]', async () => {
  const { account, browser } = await signedIn();
  const other = await signInAs(api, account);
  const before = browser.cookie;
  const change = (password: string, newPassword: string) =>
    browser.call('/session/password', { body: { password, newPassword } });
  const wrong = await change('not the password at all', 'several other words');
  assert.equal(wrong.status, 403);
  assert.match(wrong.json.message, /^The password is wrong\./);
  assert.match((await change(PASSWORD, PASSWORD)).json.message, /differ/);
  assert.match((await change(PASSWORD, 'short')).json.message, /at least 12/);
  assert.equal((await change(PASSWORD, 'several other words')).status, 204);
  assert.equal((await browser.call(PATH)).status, 200);
  assert.notEqual(browser.cookie, before);
  assert.equal((await openBrowser(api, before).call(PATH)).status, 401);
  assert.equal((await other.call(PATH)).status, 401);
});

test('an account that must change its password does so in its session [SIGN-IN-69]', async () => {
  const { browser } = await addSignedIn(api, tenant, { mustChangePassword: true });
  assert.equal((await browser.call(PATH)).status, 403);
  const body = { password: PASSWORD, newPassword: 'several other words' };
  assert.equal((await browser.call('/session/password', { body })).status, 204);
  assert.equal((await browser.call(PATH)).status, 200);
});
