/** A session that ends while one of its calls waits: what the call was to change stays as it was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callDuring } from '../../../test-support/call-during.ts';
import { type Answer, useEmptyApi } from '../../../test-support/service/api.ts';
import { addPerson, addSignedIn, signInAs } from '../../../test-support/sign-in/console-people.ts';
import { addTelephone, codesOf } from '../../../test-support/sign-in/second-factor.ts';
import { addTenant, PASSWORD } from '../../../test-support/sign-in/sign-in.ts';

const api = await useEmptyApi();
const tenant = await addTenant(api.database);
const account = await addPerson(api, tenant);

const END = `update session set revoked_at = $2, revoked_reason = 'ended-by-administrator' where account_id = $1`;
const DISABLE = 'update account set disabled_at = $2 where id = $1';

/** The answer of a call that waited for the account while all sessions of the account were ended. */
async function endedDuring(call: () => Promise<Answer>, { userId } = account, ending = END): Promise<Answer> {
  return callDuring(api.database.pool, {
    change: (client) => client.query('select from account where id = $1 for no key update', [userId]),
    call,
    meanwhile: (client) => client.query(ending, [userId, api.clock.now]),
  });
}

test('a session that ended changes no password [SIGN-IN-69]', async () => {
  const browser = await signInAs(api, account);
  const body = { password: PASSWORD, newPassword: 'several new words' };
  const { status, text } = await endedDuring(() => browser.call('/session/password', { body }));
  assert.equal(status, 401, text);
  await signInAs(api, account);
});

test('a session that ended adds no second factor, and removes none [SIGN-IN-67]', async () => {
  const browser = await signInAs(api, account);
  const { json } = await browser.call('/second-factor/totp', { body: { password: PASSWORD } });
  const body = { code: codesOf(api, json.secret)() };
  const { status, text } = await endedDuring(() => browser.call('/second-factor/totp/confirm', { body }));
  assert.equal(status, 401, text);
  const next = await signInAs(api, account);
  assert.equal((await next.call('/session')).json.secondFactor.totp, false);
  const begin = () => next.call('/second-factor/totp', { body: { password: PASSWORD } });
  assert.equal((await endedDuring(begin)).status, 401);
});

test('a session that ended uses up no recovery code, no code of an app, and counts no failure [SIGN-IN-63, SIGN-IN-61]', async () => {
  const { browser, account: person } = await addSignedIn(api, tenant);
  const telephone = await addTelephone(api, browser);
  for (const [way, code] of [
    ['recovery-code', telephone.recoveryCodes[0] ?? ''],
    ['totp', telephone.code(1)],
  ] as const) {
    const waiting = await signInAs(api, person, 'second-factor');
    const ended = await endedDuring(() => waiting.call(`/session/${way}`, { body: { code } }), person);
    assert.equal(ended.status, 401, ended.text);
    const next = await signInAs(api, person, 'second-factor');
    const { status, text } = await next.call(`/session/${way}`, { body: { code } });
    assert.equal(status, 200, `${way}: ${text}`);
  }
});

test('a code that waits while its account is disabled is not used up [SIGN-IN-61]', async () => {
  const { browser, account: person } = await addSignedIn(api, tenant);
  const telephone = await addTelephone(api, browser);
  const waiting = await signInAs(api, person, 'second-factor');
  const prove = () => waiting.call('/session/totp', { body: { code: telephone.code(1) } });
  assert.equal((await endedDuring(prove, person, DISABLE)).status, 401);
  await api.database.pool.query('update account set disabled_at = null where id = $1', [person.userId]);
  assert.equal((await prove()).status, 200);
});
