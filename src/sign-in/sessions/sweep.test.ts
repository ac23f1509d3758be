import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { createSignInFixture, PASSWORD, statusOf } from '../../../test-support/sign-in/sign-in.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { disableAccount } from '../accounts/manage-accounts.ts';
import { operatorOn } from '../administration/managed-account.ts';
import { rotateSigningKey } from '../keys/rotate-signing-key.ts';
import { secondsAfter } from '../settings.ts';
import { login } from './login.ts';
import { refresh } from './refresh.ts';
import { createSignInSweep } from './sweep.ts';

const NOW = new Date();
const DAY = 86_400;

const fixture = await createSignInFixture();
after(() => fixture.close());

const context = (seconds: number) => ({
  databaseTime: secondsAfter(NOW, seconds),
  correlationId: 'test',
  remoteAddress: '192.0.2.10',
});
const signIn = (identity: string, credential = PASSWORD, seconds = 0) =>
  login(fixture.signIn, { identity, credential, userType: 'EHR' }, context(seconds));
const sweepAt = (seconds: number) =>
  createSignInSweep({ db: fixture.database.pool, work: createWorkWatch().of('sign-in-sweep') })(
    secondsAfter(NOW, seconds),
  );

async function rowsOf(table: string): Promise<number> {
  const { rows } = await fixture.database.pool.query(`select count(*)::int as rows from ${table}`);
  return rows[0].rows;
}

test('what is in use stays, and what ended goes, each in its time', async () => {
  const { userId } = await fixture.addAccount();
  const first = await signIn(userId);
  const { refreshToken } = await refresh(fixture.signIn, first.refreshToken, context(10));
  await statusOf(signIn(randomUUID(), 'wrong'));
  await fixture.addAccount({ password: { kind: 'setup-link' } });
  await rotateSigningKey({ db: fixture.database.pool, keys: fixture.keys }, NOW);

  assert.equal(await sweepAt(60), 0, 'nothing has ended yet');
  await sweepAt(3 * DAY);
  assert.equal(await rowsOf('sign_in_counter'), 0);
  assert.equal(await rowsOf('signing_key'), 1, 'the retired key');
  assert.equal(await rowsOf('password_setup_link'), 1);
  await sweepAt(4 * DAY + 60);
  assert.equal(await rowsOf('password_setup_link'), 0);
  assert.equal(await rowsOf('refresh_token'), 2);
  assert.ok(await refresh(fixture.signIn, refreshToken, context(5 * DAY)));

  await sweepAt(32 * DAY);
  assert.equal(await rowsOf('refresh_token'), 1, 'those that expired after 30 days');
  assert.equal(await rowsOf('session'), 1);
  await sweepAt(92 * DAY);
  assert.equal(await rowsOf('refresh_token'), 0);
  assert.equal(await rowsOf('session'), 0);
  assert.equal(await rowsOf('sign_in_network'), 1);
  await sweepAt(181 * DAY);
  assert.equal(await rowsOf('sign_in_network'), 0);
});

test('a revoked session goes with its tokens a day later', async () => {
  const { userId, email } = await fixture.addAccount();
  await signIn(userId);
  await disableAccount(fixture.database.pool, operatorOn(email), NOW);
  await sweepAt(DAY - 60);
  assert.equal(await rowsOf('session'), 1);
  await sweepAt(DAY + 60);
  assert.equal(await rowsOf('session'), 0);
  assert.equal(await rowsOf('refresh_token'), 0);
});

test('what ended goes in its time, also after a clock that was ahead is put right', async () => {
  const work = createWorkWatch().of('sign-in-sweep');
  const sweep = createSignInSweep({ db: fixture.database.pool, work });
  await sweep(secondsAfter(NOW, 365 * DAY));
  const { userId, email } = await fixture.addAccount();
  await signIn(userId);
  await disableAccount(fixture.database.pool, operatorOn(email), NOW);
  await sweep(secondsAfter(NOW, DAY + 60));
  assert.equal(await rowsOf('session'), 0);
});

test('a lock that still holds is never removed', async () => {
  const long = fixture.another({ lockFailures: 1, lockSeconds: DAY, lockWindowSeconds: DAY });
  const identity = randomUUID();
  const guess = (seconds: number) =>
    statusOf(login(long, { identity, credential: 'x', userType: 'EHR' }, context(seconds)));
  assert.equal(await guess(0), 403);
  await sweepAt(DAY - 60);
  assert.equal(await guess(DAY - 30), 429);
});

test('more rows than one batch are removed in one sweep', async () => {
  await fixture.database.pool.query(
    `insert into sign_in_counter (identity_hash, network, updated_at)
     select sha256(n::text::bytea), '', $1 from generate_series(1, 2500) n`,
    [NOW],
  );
  assert.equal(await sweepAt(3 * DAY), 2_500 + 1);
});
