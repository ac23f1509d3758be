import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { callDuring } from '../../../test-support/call-during.ts';
import { createSignInFixture, PASSWORD, refusalOf, statusOf } from '../../../test-support/sign-in/sign-in.ts';
import { waitForLock } from '../../../test-support/wait-until.ts';
import { disableAccount, resetPassword } from '../accounts/manage-accounts.ts';
import { operatorOn } from '../administration/managed-account.ts';
import { login } from '../sessions/login.ts';
import { refresh } from '../sessions/refresh.ts';
import { verify } from '../sessions/verify.ts';
import { secondsAfter } from '../settings.ts';
import { changePassword } from './change-password.ts';
import { setUpPassword } from './set-up-password.ts';

const NOW = new Date();
const CONTEXT = { databaseTime: NOW, correlationId: 'test', remoteAddress: '192.0.2.10' };
const NEXT = 'another long passphrase';

const fixture = await createSignInFixture();
after(() => fixture.close());

const signIn = (identity: string, credential = PASSWORD) =>
  login(fixture.signIn, { identity, credential, userType: 'EHR' }, CONTEXT);
const change = (identity: string, changed: { credential?: string; newCredential?: string } = {}) =>
  changePassword(
    fixture.signIn,
    { identity, credential: PASSWORD, newCredential: NEXT, userType: 'EHR', ...changed },
    CONTEXT,
  );
const tokenOf = (setupLink = '') => new URL(setupLink).hash.replace('#token=', '');
const setUp = (token: string, newCredential = NEXT, now = NOW) =>
  setUpPassword(
    { ...fixture, ...fixture.signIn },
    { token, newCredential },
    { ...CONTEXT, databaseTime: now },
  );

test('a change clears the flag, ends the old sessions, and only the new password is good [SIGN-IN-42]', async () => {
  const { userId, email } = await fixture.addAccount({ mustChangePassword: true });
  const session = await signIn(userId);
  assert.equal(session.mustChangePassword, true);
  await change(userId);
  assert.equal(await statusOf(refresh(fixture.signIn, session.refreshToken, CONTEXT)), 401);
  assert.equal(await statusOf(signIn(userId)), 403);
  assert.equal((await signIn(userId, NEXT)).mustChangePassword, false);
  assert.equal((await verify(depsOfVerify(), { email, userType: 'EHR' })).mustChangePassword, false);
});

test('a wrong old password is the 403 of login, and counts towards the same lock [SIGN-IN-43]', async () => {
  const { userId } = await fixture.addAccount();
  const atLogin = await refusalOf(signIn(userId, 'wrong'));
  const atChange = await refusalOf(change(userId, { credential: 'wrong' }));
  assert.deepEqual(atChange, atLogin);
  assert.deepEqual(await refusalOf(change(randomUUID())), atLogin);
  for (let count = 0; count < 3; count += 1)
    assert.equal(await statusOf(change(userId, { credential: 'wrong' })), 403);
  assert.equal(await statusOf(change(userId)), 429);
  assert.equal(await statusOf(signIn(userId)), 429);
});

test('a bad new password is 400 and counts as no failure, but only behind the right old one [SIGN-IN-43]', async () => {
  const { userId, email } = await fixture.addAccount({ email: 'laboratory-system@example.org' });
  const bad = ['too short', PASSWORD, 'password12345', email, `a${'\u2057'.repeat(1_022)}a`];
  for (let round = 0; round < 2; round += 1)
    for (const newCredential of bad) assert.equal(await statusOf(change(userId, { newCredential })), 400);
  const refusal = await refusalOf(change(userId, { credential: 'wrong' }));
  assert.equal(refusal?.statusCode, 403);
  for (const newCredential of bad.slice(0, 3))
    assert.deepEqual(await refusalOf(change(userId, { newCredential, credential: 'wrong' })), refusal);
  for (const newCredential of bad)
    assert.deepEqual(await refusalOf(change(randomUUID(), { newCredential })), refusal);
  assert.equal(await statusOf(signIn(userId)), undefined);
});

test('the old password is no new one, however its accents are typed [SIGN-IN-42]', async () => {
  const { userId } = await fixture.addAccount({ mustChangePassword: true });
  const old = 'crème brûlée du matin';
  await change(userId, { newCredential: old });
  for (const newCredential of [old, old.normalize('NFD'), old.normalize('NFC')])
    assert.equal(await statusOf(change(userId, { credential: old, newCredential })), 400);
  assert.equal(await statusOf(signIn(userId, old)), undefined);
});

test('a setup link sets the first password, once [SIGN-IN-44, SIGN-IN-45]', async () => {
  const { userId, email, setupLink, password } = await fixture.addAccount({
    password: { kind: 'setup-link' },
  });
  assert.equal(password, undefined);
  assert.match(setupLink ?? '', /^https:\/\/records\.example\.org\/console\/set-password#token=[\w-]{64}$/);
  assert.equal((await verify(depsOfVerify(), { email, userType: 'EHR' })).requiresPasswordSetup, true);
  const token = tokenOf(setupLink);
  await setUp(token);
  assert.equal((await verify(depsOfVerify(), { email, userType: 'EHR' })).requiresPasswordSetup, false);
  assert.equal((await signIn(userId, NEXT)).mustChangePassword, false);
  assert.equal(await statusOf(setUp(token, 'yet another passphrase')), 403);
});

test('of ten racing uses of a link one counts [SIGN-IN-45]', async () => {
  const { setupLink } = await fixture.addAccount({ password: { kind: 'setup-link' } });
  const token = tokenOf(setupLink);
  const statuses = await Promise.all(
    Array.from({ length: 10 }, (_, index) => statusOf(setUp(token, `${NEXT} ${index}`))),
  );
  assert.equal(statuses.filter((status) => status === undefined).length, 1);
  assert.equal(statuses.filter((status) => status === 403).length, 9);
});

test('a link that was used, became too old, or whose account was disabled while a use of it waited is refused [SIGN-IN-45]', async () => {
  for (const becomes of [
    'update password_setup_link set used_at = now() where account_id = $1',
    "update password_setup_link set expires_at = created_at - interval '1 day' where account_id = $1",
    'update account set disabled_at = now() where id = $1',
  ]) {
    const { userId, setupLink } = await fixture.addAccount({ password: { kind: 'setup-link' } });
    const status = await callDuring(fixture.database.pool, {
      change: (client) => client.query('select from account where id = $1 for no key update', [userId]),
      call: () => statusOf(setUp(tokenOf(setupLink))),
      meanwhile: (client) => client.query(becomes, [userId]),
    });
    assert.equal(status, 403, becomes);
  }
});

test('a setup link waits for its account before it is touched, so that a reset beside it cannot deadlock', async () => {
  const { userId, setupLink, email } = await fixture.addAccount({ password: { kind: 'setup-link' } });
  const { pool } = fixture.database;
  const holder = await pool.connect();
  let setting: Promise<number | undefined>;
  try {
    await holder.query('begin');
    await holder.query('select from account where organisation_id = $1 and id = $2 for update', [
      fixture.organisationId,
      userId,
    ]);
    const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
    setting = statusOf(setUp(tokenOf(setupLink)));
    await waitForLock(pool, { blockedBy: rows[0]?.pid ?? 0 });
    // As a reset does next: with the link taken first, each would wait for the other here.
    await holder.query(`set local lock_timeout = '1s'`);
    await holder.query(
      'select from password_setup_link where organisation_id = $1 and account_id = $2 for update',
      [fixture.organisationId, userId],
    );
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  assert.equal(await setting, undefined, email);
});

test('a link lasts 72 hours [SIGN-IN-45]', async () => {
  const { setupLink } = await fixture.addAccount({ password: { kind: 'setup-link' } });
  const token = tokenOf(setupLink);
  const made = Date.now();
  assert.equal(await statusOf(setUp(token, NEXT, secondsAfter(new Date(made), 72 * 3_600))), 403);
  assert.equal(await statusOf(setUp(token, NEXT, secondsAfter(NOW, 72 * 3_600 - 60))), undefined);
});

test('a bad password leaves the link good', async () => {
  const { setupLink, email } = await fixture.addAccount({ password: { kind: 'setup-link' } });
  const token = tokenOf(setupLink);
  for (const password of ['short', email]) assert.equal(await statusOf(setUp(token, password)), 400);
  assert.equal(await statusOf(setUp(token)), undefined);
});

test('a link of a disabled account, a replaced one and a made-up one are refused alike [SIGN-IN-46]', async () => {
  const disabled = await fixture.addAccount({ password: { kind: 'setup-link' } });
  await disableAccount(fixture.database.pool, operatorOn(disabled.email), NOW);
  const replaced = await fixture.addAccount({ password: { kind: 'setup-link' } });
  const renewed = await resetPassword(
    {
      db: fixture.database.pool,
      keys: fixture.keys,
      passwords: fixture.signIn.passwords,
      publicBaseUrl: 'http://x/api/v1',
    },
    { ...operatorOn(replaced.email), password: { kind: 'setup-link' }, mustChangePassword: false },
    NOW,
  );
  const overtaken = await fixture.addAccount({ password: { kind: 'setup-link' } });
  const given = { kind: 'generated' } as const;
  await resetPassword(
    { ...fixture.signIn, db: fixture.database.pool, keys: fixture.keys, publicBaseUrl: 'http://x/api/v1' },
    { ...operatorOn(overtaken.email), password: given, mustChangePassword: false },
    NOW,
  );
  const links = [disabled, replaced, overtaken].map(({ setupLink }) => tokenOf(setupLink));
  const refusals = await Promise.all(
    [...links, 'A'.repeat(64), 'x', ''].map((token) => refusalOf(setUp(token))),
  );
  for (const refusal of refusals) assert.deepEqual(refusal, refusals[0]);
  assert.equal(refusals[0]?.statusCode, 403);
  assert.equal(await statusOf(setUp(tokenOf(renewed.setupLink))), undefined);
});

test('a link that is not good any more is refused before the password is looked at [SIGN-IN-46]', async () => {
  const withLink = async () => {
    const { email, setupLink } = await fixture.addAccount({ password: { kind: 'setup-link' } });
    return { email, token: tokenOf(setupLink) };
  };
  const [used, late, disabled] = [await withLink(), await withLink(), await withLink()];
  await setUp(used.token);
  await disableAccount(fixture.database.pool, operatorOn(disabled.email), NOW);
  assert.equal(await statusOf(setUp(used.token, 'short')), 403);
  assert.equal(await statusOf(setUp(late.token, 'short', secondsAfter(new Date(), 72 * 3_600))), 403);
  assert.equal(await statusOf(setUp(disabled.token, 'short')), 403);
});

function depsOfVerify() {
  return { db: fixture.database.pool, decoyKey: fixture.signIn.decoyKey };
}
