/** When a session of the console ends by itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, startTestApi, useEmptyApi } from '../../../test-support/service/api.ts';
import { openBrowser } from '../../../test-support/service/console.ts';
import {
  addConsoleTenant,
  addSignedIn,
  later as laterAt,
  PATIENTS_PATH as PATH,
  signInAs,
} from '../../../test-support/sign-in/console-people.ts';
import { addTelephone } from '../../../test-support/sign-in/second-factor.ts';
import { PASSWORD } from '../../../test-support/sign-in/sign-in.ts';
import { setPermissions } from '../../tenancy/roles/roles.ts';
import { secondsAfter } from '../settings.ts';
import { moveIdleEnd } from './console-session.store.ts';

const api = await useEmptyApi();
const tenant = await addConsoleTenant(api);

const signedIn = () => addSignedIn(api, tenant);

const statusOf = async (browser: { call(path: string): Promise<Answer> }) =>
  (await browser.call(PATH)).status;
const later = (seconds: number, work: () => Promise<void>) => laterAt(api, seconds, work);

test('a session ends 30 minutes after its last call [SIGN-IN-53]', async () => {
  const { browser } = await signedIn();
  const idle = openBrowser(api, (await signedIn()).browser.cookie);
  await later(29 * 60, async () => assert.equal(await statusOf(browser), 200));
  await later(31 * 60, async () => {
    assert.equal(await statusOf(idle), 401);
    assert.equal(await statusOf(browser), 200);
  });
  // A node that comes late does not bring the end back, and nothing revives a session that ended.
  await later(58 * 60, async () => assert.equal(await statusOf(browser), 200));
  await later(90 * 60, async () => assert.equal(await statusOf(browser), 401));
  assert.equal(await statusOf(idle), 200);
});

test('a session that ends after one idle minute goes on while it is used [SIGN-IN-53]', async (t) => {
  const brief = await startTestApi({ env: { CONSOLE_IDLE_MINUTES: '1' } });
  t.after(() => brief.close());
  const { browser } = await addSignedIn(brief, await addConsoleTenant(brief));
  const answersAfter = (seconds: number, status: number) =>
    laterAt(brief, seconds, async () => assert.equal(await statusOf(browser), status, `${seconds} s`));
  for (const seconds of [40, 80, 120]) await answersAfter(seconds, 200);
  await answersAfter(180, 401);
});

test('a sign-in that is not finished lasts five minutes, also where a session that is not used ends sooner [SIGN-IN-57]', async (t) => {
  const brief = await startTestApi({ env: { CONSOLE_IDLE_MINUTES: '1' } });
  t.after(() => brief.close());
  const { account, browser } = await addSignedIn(brief, await addConsoleTenant(brief));
  const telephone = await addTelephone(brief, browser);
  const next = await signInAs(brief, account, 'second-factor');
  await laterAt(brief, 299, async () => {
    const { status, text } = await next.call('/session/totp', { body: { code: telephone.code() } });
    assert.equal(status, 200, text);
  });
  const late = await signInAs(brief, account, 'second-factor');
  await laterAt(brief, 300, async () => assert.equal((await late.call('/session')).status, 401));
});

test('a process that comes late neither brings the idle end back nor revives a session [SIGN-IN-53]', async () => {
  const { browser } = await signedIn();
  const sessionId = (await browser.call('/sessions')).json.items[0].id;
  const endOf = async () => Date.parse((await browser.call('/session')).json.idleEndsAt);
  const { now } = api.clock;
  const use = (seconds: number) => {
    const at = secondsAfter(now, seconds);
    const moved = { sessionId, now: at, expiresAt: secondsAfter(at, 1_800) };
    return moveIdleEnd(api.database.pool, tenant, moved);
  };
  await use(600);
  await use(300);
  assert.equal(await endOf(), now.getTime() + 2_400_000);
  await use(2_401);
  assert.equal(await endOf(), now.getTime() + 2_400_000, 'it had ended by then');
});

const BY_ITSELF = { headers: { 'x-interchange-console': 'background' } };

test('calls that a page makes by itself do not move the idle end of the session [SIGN-IN-75]', async () => {
  const { browser } = await signedIn();
  const use = async (seconds: number, options = {}) => {
    let status = 0;
    await later(seconds, async () => {
      status = (await browser.call(PATH, options)).status;
    });
    return status;
  };
  const own = async () => (await browser.call('/sessions')).json.items[0].lastUsedAt;
  const before = await own();
  for (let minutes = 2; minutes < 30; minutes += 4) assert.equal(await use(minutes * 60, BY_ITSELF), 200);
  assert.equal(await own(), before);
  assert.equal(await use(30 * 60, BY_ITSELF), 401);
  assert.equal(await use(29 * 60), 200, 'a person moves it');
  assert.equal(await use(31 * 60, BY_ITSELF), 200);
  assert.equal(await use(60 * 60, BY_ITSELF), 401);
});

test('a call that changes something is not taken for one that a page makes by itself [SIGN-IN-75]', async () => {
  const { browser } = await signedIn();
  for (const method of ['POST', 'DELETE']) {
    const refused = await browser.call('/session', { method, ...BY_ITSELF });
    assert.match(`${refused.status} ${refused.json.message}`, /^403 .*x-interchange-console/);
  }
  assert.equal(await statusOf(browser), 200);
});

test('a session ends twelve hours after its sign-in, however much it is used [SIGN-IN-53]', async () => {
  const { browser } = await signedIn();
  for (let minutes = 20; minutes < 12 * 60; minutes += 20)
    await later(minutes * 60, async () => assert.equal(await statusOf(browser), 200, `${minutes}`));
  await later(12 * 3_600 - 1, async () => {
    const { idleEndsAt, endsAt } = (await browser.call('/session')).json;
    assert.equal(idleEndsAt, endsAt, 'the idle end is none beyond the last');
  });
  await later(12 * 3_600, async () => assert.equal(await statusOf(browser), 401));
});

test('a session in which a second factor is added where the role requires one ends no later for that [SIGN-IN-53]', async () => {
  const strict = await addConsoleTenant(api);
  const { browser } = await addSignedIn(api, strict);
  const { organisationId, role: name } = strict;
  const role = { organisationId, name, permissions: ['patients.patients.list'], requiresSecondFactor: true };
  const { endsAt } = (await browser.call('/session')).json;
  await setPermissions(api.database.pool, role);
  for (const minutes of [20, 40])
    await later(minutes * 60, async () => {
      await addTelephone(api, browser);
      assert.equal((await browser.call('/session')).json.endsAt, endsAt, `${minutes}`);
      const body = { password: PASSWORD };
      assert.equal((await browser.call('/second-factor/totp', { method: 'DELETE', body })).status, 204);
    });
});
