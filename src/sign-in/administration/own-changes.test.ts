/** What people and systems change of their own sign-in, as the record of changes tells it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, useEmptyApi } from '../../../test-support/service/api.ts';
import { openBrowser } from '../../../test-support/service/console.ts';
import { createAuthenticator } from '../../../test-support/sign-in/authenticator.ts';
import { addTelephone } from '../../../test-support/sign-in/second-factor.ts';
import {
  type AccountFixture,
  addAccount,
  addTenant,
  cheapPasswords,
  PASSWORD,
} from '../../../test-support/sign-in/sign-in.ts';

const NEXT_PASSWORD = 'seven green ladders';

const api = await useEmptyApi();
const tenant = await addTenant(api.database);
const admin = await api.createAccount(tenant);

const addOne = (options: AccountFixture) =>
  addAccount({ database: api.database, passwords: cheapPasswords() }, tenant, options);

/** Oldest first, and the whole text of the answer. */
async function recordOf(userId: string): Promise<{ items: Json[]; text: string }> {
  const { json, text } = await api.call(`/administration/audit?actor=${userId}`, { token: admin.token });
  return { items: json.items.reverse(), text };
}

test('adding and removing a second factor, new recovery codes and another password are on record [ADM-70]', async () => {
  const { email, userId } = await addOne({ userType: 'STAFF' });
  const browser = openBrowser(api);
  const done = async (path: string, body: object, method = 'POST') => {
    const answer = await browser.call(path, { method, body });
    assert.ok(answer.status < 300, answer.text);
    return answer;
  };
  await done('/session', { email, password: PASSWORD });
  const telephone = await addTelephone(api, browser);
  const body = { password: PASSWORD };
  const options = await done('/second-factor/passkey-options', body);
  const key = createAuthenticator(`http://localhost:${new URL(api.origin).port}`);
  const added = { name: 'my laptop', response: key.create(options.json) };
  const { id } = (await done('/second-factor/passkeys', added)).json;
  const { recoveryCodes } = (await done('/second-factor/recovery-codes', body)).json;
  await done('/second-factor/totp', body, 'DELETE');
  assert.equal((await browser.call('/second-factor/totp', { method: 'DELETE', body })).status, 404);
  await done(`/second-factor/passkeys/${id}`, body, 'DELETE');
  const last = await done('/session/password', { password: PASSWORD, newPassword: NEXT_PASSWORD });

  const { items, text } = await recordOf(userId);
  const app = { secondFactor: 'authenticator app' };
  const passkey = { secondFactor: 'passkey', name: 'my laptop' };
  assert.deepEqual(
    items.map(({ action, before, after }) => [action, before, after]),
    [
      ['account.add-own-factor', {}, app],
      ['account.add-own-factor', {}, passkey],
      ['account.renew-recovery-codes', {}, {}],
      ['account.remove-own-factor', app, {}],
      ['account.remove-own-factor', passkey, {}],
      ['account.change-password', {}, {}],
    ],
  );
  for (const { actor, subject } of items) {
    assert.deepEqual(actor, { kind: 'account', id: userId, email });
    assert.deepEqual(subject, { type: 'account', id: userId, name: email });
  }
  assert.equal(items.at(-1)?.correlationId, last.headers.get('x-correlation-id'));
  for (const secret of [
    PASSWORD,
    NEXT_PASSWORD,
    telephone.secret,
    ...telephone.recoveryCodes,
    ...recoveryCodes,
  ])
    assert.ok(!text.includes(secret));
});

test('a system that changes its password is on record; a refused change is not [ADM-70]', async () => {
  const { email, userId } = await addOne({});
  const change = (credential: string) =>
    api.call('/auth/password', {
      body: { identity: userId, credential, userType: 'EHR', newCredential: NEXT_PASSWORD },
    });
  assert.equal((await change('not the password at all')).status, 403);
  assert.deepEqual((await recordOf(userId)).items, []);
  assert.equal((await change(PASSWORD)).status, 204);
  const { items } = await recordOf(userId);
  assert.deepEqual(
    items.map(({ action, actor, subject }) => [action, actor.email, subject.id]),
    [['account.change-password', email, userId]],
  );
  const { organisationId } = tenant;
  const away = { organisationId, facilityId: await api.createFacility(organisationId) };
  const { token } = await api.createAccount(away);
  const { json } = await api.call(`/administration/audit?actor=${userId}`, { token });
  assert.deepEqual(json.items, [], 'it concerns the facilities of the account');
});

test('a password set with a setup link is on record as an own change; a link that is refused is not [ADM-77]', async () => {
  const { email, userId, setupLink } = await addOne({ password: { kind: 'setup-link' } });
  const token = String(setupLink).split('#token=')[1];
  const set = () => api.call('/auth/password-setup', { body: { token, newCredential: NEXT_PASSWORD } });
  const answer = await set();
  assert.equal(answer.status, 204, answer.text);
  assert.equal((await set()).status, 403);
  const { items, text } = await recordOf(userId);
  assert.deepEqual(
    items.map(({ action, before, after }) => [action, before, after]),
    [['account.set-up-password', {}, {}]],
  );
  const [entry] = items;
  assert.deepEqual(entry.actor, { kind: 'account', id: userId, email });
  assert.deepEqual(entry.subject, { type: 'account', id: userId, name: email });
  assert.equal(entry.correlationId, answer.headers.get('x-correlation-id'));
  assert.ok(!text.includes(NEXT_PASSWORD) && !text.includes(String(token)));
});
