import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, beforeEach, test } from 'node:test';
import { decodeJwt } from 'jose';
import { createSignInFixture, PASSWORD, statusOf, warmUp } from '../../../test-support/sign-in/sign-in.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createPool } from '../../platform/db/database.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { SERVICE_ROLE } from '../../platform/db/migrate.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { disableAccount } from '../accounts/manage-accounts.ts';
import { operatorOn } from '../administration/managed-account.ts';
import { createSigningKeys } from '../keys/signing-keys.ts';
import { secondsAfter } from '../settings.ts';
import { login } from './login.ts';
import type { LoginReply } from './login-reply.ts';
import { logout } from './logout.ts';
import { refresh } from './refresh.ts';
import { createRefreshTokens, type RefreshTokens } from './refresh-token.store.ts';
import { newRefreshToken } from './refresh-token.ts';
import { eraseExpiredReplacements } from './sweep.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const DAY = 86_400;
let account: { userId: string; email: string };
let first: LoginReply;

const fixture = await createSignInFixture();
after(() => fixture.close());
beforeEach(async () => {
  account = await fixture.addAccount();
  first = await signedIn(account);
});

const signedIn = ({ userId }: { userId: string }) =>
  login(
    fixture.signIn,
    { identity: userId, credential: PASSWORD, userType: 'EHR' },
    { databaseTime: NOW, correlationId: 'test', remoteAddress: '192.0.2.10' },
  );

const at = (seconds: number, token: string, node = fixture.signIn) =>
  refresh(node, token, { databaseTime: secondsAfter(NOW, seconds), correlationId: 'test' });
const sessionOf = (reply: LoginReply) => decodeJwt<{ sid: string }>(reply.accessToken).sid;

async function sessionRow(): Promise<{ revoked_at: Date | null; revoked_reason: string | null }> {
  const { rows } = await fixture.database.pool.query('select * from session where id = $1', [
    sessionOf(first),
  ]);
  return rows[0];
}

test('a token gives a new pair of the same session, in the shape of the login response [SIGN-IN-27]', async () => {
  const reply = await at(100, first.refreshToken);
  assert.deepEqual(Object.keys(reply).sort(), [
    'accessToken',
    'mustChangePassword',
    'refreshToken',
    'userType',
  ]);
  assert.notEqual(reply.refreshToken, first.refreshToken);
  assert.notEqual(reply.accessToken, first.accessToken);
  assert.equal(sessionOf(reply), sessionOf(first));
  assert.ok(await at(200, reply.refreshToken));
});

test('ten racing refreshes, on two nodes, give one pair, byte for byte [SIGN-IN-29]', async () => {
  const nodes = [fixture.signIn, fixture.another()];
  let { refreshToken } = first;
  for (let round = 1; round <= 5; round += 1) {
    await Promise.all(nodes.map((node) => node.signingKeys.signer()));
    await warmUp(fixture.database);
    const racing = Array.from({ length: 10 }, (_, index) => at(round, refreshToken, nodes[index % 2]));
    const replies = await Promise.all(racing);
    assert.equal(new Set(replies.map((reply) => JSON.stringify(reply))).size, 1);
    refreshToken = replies[0]?.refreshToken ?? '';
    const { rows } = await fixture.database.pool.query(
      'select count(*)::int as tokens from refresh_token where session_id = $1',
      [sessionOf(first)],
    );
    assert.equal(rows[0].tokens, 1 + round);
  }
});

test('a token that somebody holds keeps the others waiting for nothing', async () => {
  const { database, organisationId } = fixture;
  const other = await signedIn(await fixture.addAccount());
  const holder = await database.pool.connect();
  await holder.query('begin');
  // Ends the wait, and the test, when it is waited for after all.
  await holder.query(`set local idle_in_transaction_session_timeout = '5s'`);
  await holder.query('select from refresh_token where organisation_id = $1 and session_id = $2 for update', [
    organisationId,
    sessionOf(first),
  ]);
  const held = at(1, first.refreshToken);
  assert.ok(await at(1, other.refreshToken));
  await holder.query('rollback');
  holder.release();
  assert.ok(await held);
});

test('when the statement that refreshes share is lost, each of them fails, and each is good for a repeat', async (t) => {
  const { database } = fixture;
  const accounts = await Promise.all(Array.from({ length: 6 }, () => fixture.addAccount()));
  const tokens = (await Promise.all(accounts.map(signedIn))).map(({ refreshToken }) => refreshToken);
  const owner = await database.connectOwner();
  t.after(() => owner.end());
  await owner.query('begin');
  // Lets them read, and holds up what they write.
  await owner.query('lock table refresh_token in share mode');
  const tries = Promise.allSettled(tokens.map((token) => at(1, token)));
  let areOver = false;
  void tries.then(() => {
    areOver = true;
  });
  await waitUntil(async () => {
    await owner.query(`
      select pg_terminate_backend(pid) from pg_locks join pg_stat_activity a using (pid)
      where a.datname = current_database() and relation = 'refresh_token'::regclass and not granted`);
    return areOver;
  }, 'each of them is lost');
  assert.deepEqual(new Set((await tries).map(({ status }) => status)), new Set(['rejected']));
  await owner.query('rollback');
  const replies = await Promise.all(tokens.map((token) => at(2, token)));
  const repeats = await Promise.all(tokens.map((token) => at(3, token)));
  assert.deepEqual(repeats, replies);
});

test('a session that ends while its token is being exchanged gets no other token', async () => {
  const { signIn, database, organisationId } = fixture;
  const [sessionId, context] = [sessionOf(first), { now: NOW, correlationId: 'test' }];
  const exchange: RefreshTokens['exchange'] = async (wanted) => {
    await logout(signIn, { accountId: account.userId, sessionId, organisationId }, context);
    return signIn.refreshTokens.exchange(wanted);
  };
  const node = { ...signIn, refreshTokens: { ...signIn.refreshTokens, exchange } };
  assert.equal(await statusOf(at(1, first.refreshToken, node)), 401);
  const { rowCount } = await database.pool.query('select from refresh_token where session_id = $1', [
    sessionId,
  ]);
  assert.equal(rowCount, 1);
});

test('a repeat at 59 s and at 60 s gives the same two strings [SIGN-IN-28]', async () => {
  const pair = await at(10, first.refreshToken);
  assert.deepEqual(await at(10 + 59, first.refreshToken), pair);
  assert.deepEqual(await at(10 + 60, first.refreshToken), pair);
});

test('a repeat at 61 s is 401 and ends the session, replacement included [SIGN-IN-28, SIGN-IN-31, SEC-12]', async () => {
  const pair = await at(10, first.refreshToken);
  fixture.logged.length = 0;
  assert.equal(await statusOf(at(10 + 61, first.refreshToken)), 401);
  assert.equal((await sessionRow()).revoked_reason, 'refresh-token-reuse');
  assert.equal(await statusOf(at(10 + 62, pair.refreshToken)), 401);
  assert.equal(fixture.logged[0]?.event, 'sign-in.refresh-token-reused');
  assert.equal(fixture.logged[0]?.accountId, account.userId);
});

test("the window runs from the token's own exchange, whatever was exchanged since [SIGN-IN-30]", async () => {
  const second = await at(10, first.refreshToken);
  const third = await at(20, second.refreshToken);
  const fourth = await at(30, third.refreshToken);
  assert.deepEqual(await at(65, first.refreshToken), second);
  assert.deepEqual(await at(75, second.refreshToken), third);
  assert.deepEqual(await at(85, third.refreshToken), fourth);
  assert.equal((await sessionRow()).revoked_at, null);
  assert.equal(await statusOf(at(71, first.refreshToken)), 401, 'a repeat does not lengthen it');
});

async function sealed(): Promise<number> {
  const { rows } = await fixture.database.pool.query(
    'select count(sealed_replacement)::int as sealed from refresh_token where session_id = $1',
    [sessionOf(first)],
  );
  return rows[0].sealed;
}
const eraseAt = (seconds: number) =>
  eraseExpiredReplacements(
    { db: fixture.database.pool, work: createWorkWatch().of('refresh-replacements') },
    secondsAfter(NOW, seconds),
  );

test('the window runs from the exchange itself, however long that had to wait [SIGN-IN-30]', async () => {
  const { signIn, database } = fixture;
  let [readAt, goneOn] = [new Date(Number.NaN), new Date(Number.NaN)];
  const slow: RefreshTokens = {
    async read(wanted) {
      const stored = await signIn.refreshTokens.read(wanted);
      readAt = stored?.now ?? readAt;
      return stored;
    },
    async exchange(wanted) {
      await waitUntil(async () => {
        goneOn = await readDatabaseTime(database.pool);
        return goneOn > readAt;
      }, 'the clock of the database was to go on');
      return signIn.refreshTokens.exchange(wanted);
    },
  };
  const own = await login(
    signIn,
    { identity: account.userId, credential: PASSWORD, userType: 'EHR' },
    { databaseTime: null, correlationId: 'test', remoteAddress: '192.0.2.10' },
  );
  await refresh({ ...signIn, refreshTokens: slow }, own.refreshToken, {
    databaseTime: null,
    correlationId: 'test',
  });
  const { rows } = await database.pool.query<{ exchangedAt: Date }>(
    'select exchanged_at as "exchangedAt" from refresh_token where session_id = $1 and exchanged_at is not null',
    [sessionOf(own)],
  );
  assert.ok(rows[0] !== undefined && rows[0].exchangedAt >= goneOn);
});

test('the sealed pair is erased after the window, a minute late for clocks that run ahead [SIGN-IN-32]', async () => {
  const pair = await at(10, first.refreshToken);
  await eraseAt(10 + 60 + 60);
  assert.equal(await sealed(), 1);
  assert.deepEqual(
    await at(10 + 60, first.refreshToken),
    pair,
    'the clock of the worker runs a minute ahead',
  );
  assert.ok((await eraseAt(10 + 60 + 61)) >= 1);
  assert.equal(await sealed(), 0);
  assert.equal(await statusOf(at(10 + 61, first.refreshToken)), 401);
});

test('a pair that is gone inside the window is 401, and the session goes on', async () => {
  const pair = await at(10, first.refreshToken);
  fixture.logged.length = 0;
  await eraseAt(1_000);
  assert.equal(await statusOf(at(20, first.refreshToken)), 401);
  assert.equal((await sessionRow()).revoked_at, null);
  assert.deepEqual(fixture.logged, []);
  assert.ok(await at(30, pair.refreshToken));
});

test('an exchange erases the ended pairs of its session, so that they go without any worker [SIGN-IN-32]', async () => {
  const second = await at(10, first.refreshToken);
  const third = await at(100, second.refreshToken);
  assert.equal(await sealed(), 2, 'the first is not ended by every clock');
  const fourth = await at(10 + 60 + 61, third.refreshToken);
  assert.equal(await sealed(), 2, 'the first is gone');
  assert.deepEqual(await at(10 + 60 + 62, third.refreshToken), fourth);
  await at(1_000, fourth.refreshToken);
  assert.equal(await sealed(), 1, 'its own only');
});

test('a token that was never given is 401 and ends nothing', async () => {
  const { organisationId } = fixture;
  const forged = newRefreshToken(organisationId, sessionOf(first)).text;
  for (const token of [
    forged,
    newRefreshToken(randomUUID(), randomUUID()).text,
    'x',
    'a.b.c',
    first.accessToken,
  ])
    assert.equal(await statusOf(at(1, token)), 401);
  assert.equal((await sessionRow()).revoked_at, null);
});

test('a token of one organisation is nothing in another', async () => {
  const bytes = Buffer.from(first.refreshToken, 'base64url');
  bytes.fill(9, 0, 16);
  assert.equal(await statusOf(at(1, bytes.toString('base64url'))), 401);
});

test('after logout and after disabling, 401 [SIGN-IN-37]', async () => {
  const sessionId = sessionOf(first);
  const caller = { accountId: account.userId, sessionId, organisationId: fixture.organisationId };
  const pair = await at(1, first.refreshToken);
  await logout(fixture.signIn, caller, { now: secondsAfter(NOW, 5), correlationId: 'test' });
  assert.equal(await statusOf(at(6, pair.refreshToken)), 401);
  assert.equal(await statusOf(at(6, first.refreshToken)), 401, 'no repeat either');
  assert.equal((await sessionRow()).revoked_reason, 'logout');

  const other = await fixture.addAccount();
  const context = { databaseTime: NOW, correlationId: 'test', remoteAddress: '192.0.2.10' };
  const reply = await login(
    fixture.signIn,
    { identity: other.userId, credential: PASSWORD, userType: 'EHR' },
    context,
  );
  await disableAccount(fixture.database.pool, operatorOn(other.email), NOW);
  assert.equal(await statusOf(at(1, reply.refreshToken)), 401);
});

test('a refresh takes one connection, also when the signing keys have to be read again', async () => {
  const { database, keys, signIn } = fixture;
  const db = createPool({ url: database.url, max: 1, applicationName: 'one', role: SERVICE_ROLE }, () => {});
  let seconds = 0;
  const monotonicSeconds = () => {
    seconds += 60;
    return seconds;
  };
  const signingKeys = createSigningKeys({ db, keys, accessTokenSeconds: 900, monotonicSeconds });
  try {
    assert.ok(
      await at(1, first.refreshToken, { ...signIn, db, refreshTokens: createRefreshTokens(db), signingKeys }),
    );
  } finally {
    await db.end();
  }
});

test('an account disabled by other means than the command cannot refresh [SIGN-IN-48]', async () => {
  await fixture.database.pool.query('update account set disabled_at = now() where id = $1', [account.userId]);
  assert.equal(await statusOf(at(1, first.refreshToken)), 401);
});

test('a refresh token lasts 30 days [SIGN-IN-33]', async () => {
  assert.equal(await statusOf(at(30 * DAY, first.refreshToken)), 401);
  assert.equal((await sessionRow()).revoked_at, null, 'too late is no theft');
  assert.ok(await at(30 * DAY - 1, first.refreshToken));
});

test('a session lasts 90 days, however often it is refreshed [SIGN-IN-34]', async () => {
  let reply = first;
  for (const day of [29, 58, 87]) reply = await at(day * DAY, reply.refreshToken);
  reply = await at(90 * DAY - 100, reply.refreshToken);
  const { exp } = decodeJwt(reply.accessToken);
  assert.equal(exp, secondsAfter(NOW, 90 * DAY).getTime() / 1_000, 'the access token ends with the session');
  assert.equal(await statusOf(at(90 * DAY, reply.refreshToken)), 401);
});

test('the password-change flag is told as it is now [SIGN-IN-41]', async () => {
  const flagged = await fixture.addAccount({ mustChangePassword: true });
  const context = { databaseTime: NOW, correlationId: 'test', remoteAddress: '192.0.2.10' };
  const reply = await login(
    fixture.signIn,
    { identity: flagged.userId, credential: PASSWORD, userType: 'EHR' },
    context,
  );
  assert.equal((await at(1, reply.refreshToken)).mustChangePassword, true);
});
