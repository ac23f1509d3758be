/** A session that ends while one of its calls waits: what the call was to change stays as it was. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, startTestApi, type TestApi } from '../../../test-support/service/api.ts';
import { addPerson, signInAs } from '../../../test-support/sign-in/console-people.ts';
import { codesOf } from '../../../test-support/sign-in/second-factor.ts';
import { addTenant, PASSWORD } from '../../../test-support/sign-in/sign-in.ts';
import { waitForLock } from '../../../test-support/wait-until.ts';
import type { CreatedAccount } from '../accounts/create-account.ts';

let api: TestApi;
let account: CreatedAccount;
before(async () => {
  api = await startTestApi();
  const tenant = await addTenant(api.database);
  account = await addPerson(api, tenant);
});
after(() => api.close());

/** The answer of a call that waited for the account while all sessions of the account were ended. */
async function endedDuring(call: () => Promise<Answer>): Promise<Answer> {
  const held = await api.database.pool.connect();
  try {
    await held.query('begin');
    await held.query('select from account where id = $1 for no key update', [account.userId]);
    const answer = call();
    await waitForLock(api.database.pool);
    await held.query(
      `update session set revoked_at = $2, revoked_reason = 'ended-by-administrator' where account_id = $1`,
      [account.userId, api.clock.now],
    );
    await held.query('commit');
    return await answer;
  } finally {
    await held.query('rollback');
    held.release();
  }
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
