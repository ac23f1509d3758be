import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { decodeJwt } from 'jose';
import {
  CHEAP_COST,
  createSignInFixture,
  PASSWORD,
  refusalOf,
  statusOf,
} from '../../../test-support/sign-in/sign-in.ts';
import { disableAccount, enableAccount } from '../accounts/manage-accounts.ts';
import { operatorOn } from '../administration/managed-account.ts';
import { createPasswords } from '../credentials/password.ts';
import { secondsAfter } from '../settings.ts';
import { type LoginDependencies, login } from './login.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const CONTEXT = { databaseTime: NOW, correlationId: 'corr-1', remoteAddress: '192.0.2.10' };

const fixture = await createSignInFixture();
after(() => fixture.close());

const signIn = (
  identity: string,
  changed: { credential?: string; userType?: string } = {},
  deps?: LoginDependencies,
) => login(deps ?? fixture.signIn, { identity, credential: PASSWORD, userType: 'EHR', ...changed }, CONTEXT);

test('every reason to refuse is one and the same 403 [SIGN-IN-10]', async () => {
  const { userId } = await fixture.addAccount();
  const disabled = await fixture.addAccount();
  await disableAccount(fixture.database.pool, operatorOn(disabled.email), NOW);
  const passwordless = await fixture.addAccount({ password: { kind: 'setup-link' } });
  const staff = await fixture.addAccount({ userType: 'STAFF' });
  const refusals = await Promise.all([
    refusalOf(signIn(userId, { credential: 'wrong' })),
    refusalOf(signIn(randomUUID())),
    refusalOf(signIn('no-uuid')),
    refusalOf(signIn(disabled.userId)),
    refusalOf(signIn(passwordless.userId)),
    refusalOf(signIn(staff.userId)),
    refusalOf(signIn(userId, { userType: 'STAFF' })),
    refusalOf(signIn(userId, { userType: 'anything' })),
  ]);
  for (const refusal of refusals) assert.deepEqual(refusal, refusals[0]);
  assert.equal(refusals[0]?.statusCode, 403);
});

test('every reason to refuse hashes one password, at the same cost [SIGN-IN-11]', async () => {
  const disabled = await fixture.addAccount();
  await disableAccount(fixture.database.pool, operatorOn(disabled.email), NOW);
  const { userId } = await fixture.addAccount();
  for (const identity of [userId, disabled.userId, randomUUID(), 'no-uuid']) {
    let verified = 0;
    const { passwords } = fixture.signIn;
    const counting = {
      ...passwords,
      verify: (hash: string | undefined, password: string) => {
        verified += 1;
        return passwords.verify(hash, password);
      },
    };
    await refusalOf(signIn(identity, { credential: 'wrong' }, { ...fixture.signIn, passwords: counting }));
    assert.equal(verified, 1, identity);
  }
});

test('a login opens a session: the tokens name it and end with it', async () => {
  const { userId } = await fixture.addAccount({ mustChangePassword: true });
  const reply = await signIn(userId);
  assert.deepEqual(Object.keys(reply).sort(), [
    'accessToken',
    'mustChangePassword',
    'refreshToken',
    'userType',
  ]);
  assert.equal(reply.userType, 'EHR');
  assert.equal(reply.mustChangePassword, true);
  const { sid } = decodeJwt<{ sid: string }>(reply.accessToken);
  const { rows } = await fixture.database.pool.query(
    `select s.account_id, s.expires_at as session_end, t.expires_at as token_end, t.token_hash, t.sealed_replacement
     from session s
     join refresh_token t on t.organisation_id = s.organisation_id and t.session_id = s.id
     where s.id = $1`,
    [sid],
  );
  assert.equal(rows.length, 1);
  assert.equal(rows[0].account_id, userId);
  assert.deepEqual(rows[0].session_end, secondsAfter(NOW, 90 * 86_400));
  assert.deepEqual(rows[0].token_end, secondsAfter(NOW, 30 * 86_400));
  assert.ok(!rows[0].token_hash.toString('latin1').includes(reply.refreshToken), 'only the hash is stored');
});

test('STAFF sign in the same way [SIGN-IN-49]', async () => {
  const { userId } = await fixture.addAccount({ userType: 'STAFF' });
  assert.equal((await signIn(userId, { userType: 'STAFF' })).userType, 'STAFF');
});

test('an account disabled or given another password while its password is checked gets no session', async () => {
  const { userId, email } = await fixture.addAccount();
  const { passwords } = fixture.signIn;
  const racing = {
    ...fixture.signIn,
    passwords: {
      ...passwords,
      verify: async (hash: string | undefined, password: string) => {
        const matches = await passwords.verify(hash, password);
        await disableAccount(fixture.database.pool, operatorOn(email), NOW);
        return matches;
      },
    },
  };
  assert.equal(await statusOf(signIn(userId, {}, racing)), 403);
  const { rows } = await fixture.database.pool.query('select 1 from session where account_id = $1', [userId]);
  assert.equal(rows.length, 0);
  await enableAccount(fixture.database.pool, operatorOn(email));
  assert.equal(await statusOf(signIn(userId)), undefined);
});

test('the log names what happened and whose account it was, never what was sent [SEC-12]', async () => {
  const { userId } = await fixture.addAccount();
  fixture.logged.length = 0;
  await refusalOf(signIn(userId, { credential: 'typed-wrong' }));
  await refusalOf(signIn('hunter2-in-the-wrong-field'));
  await signIn(userId);
  assert.deepEqual(
    fixture.logged.map(({ event, accountId, correlationId }) => ({ event, accountId, correlationId })),
    [
      { event: 'sign-in.failed', accountId: userId, correlationId: 'corr-1' },
      { event: 'sign-in.failed', accountId: undefined, correlationId: 'corr-1' },
      { event: 'sign-in.succeeded', accountId: userId, correlationId: 'corr-1' },
    ],
  );
  assert.doesNotMatch(JSON.stringify(fixture.logged), /typed-wrong|hunter2|passphrase/);
});

test('a flood of logins from one network takes no place from another [SEC-9]', async () => {
  const { userId } = await fixture.addAccount();
  const passwords = createPasswords({
    hashConcurrency: 1,
    hashQueue: 4,
    cost: { ...CHEAP_COST, memoryKiB: 4_096 },
  });
  const node = { ...fixture.signIn, passwords };
  const from = (remoteAddress: string, credential: string, identity: string = randomUUID()) =>
    statusOf(login(node, { identity, credential, userType: 'EHR' }, { ...CONTEXT, remoteAddress }));
  const flood = { on: true, refused: 0 };
  const loops = Array.from({ length: 20 }, async () => {
    while (flood.on) {
      if ((await from('198.51.100.7', 'guess')) === 503) flood.refused += 1;
      await new Promise(setImmediate);
    }
  });
  const statuses: (number | undefined)[] = [];
  for (let count = 0; count < 15; count += 1) statuses.push(await from('192.0.2.10', PASSWORD, userId));
  flood.on = false;
  await Promise.all(loops);
  assert.deepEqual(new Set(statuses), new Set([undefined]));
  assert.ok(flood.refused > 0, 'the queue was full');
});

test('an account keeps the 10,000 sessions that began last: a sign-in ends older ones [SIGN-IN-78]', async () => {
  const { userId } = await fixture.addAccount();
  const { userId: other } = await fixture.addAccount();
  const { pool } = fixture.database;
  const add = (accountId: string, count: number) =>
    pool.query(
      `insert into session (organisation_id, id, account_id, created_at, expires_at)
       select $1, gen_random_uuid(), $2, $3::timestamptz - n * interval '1 minute', '2026-06-01'
       from generate_series(1, $4::integer) n`,
      [fixture.organisationId, accountId, NOW, count],
    );
  const sessions = async (accountId: string) => {
    const { rows } = await pool.query<{ live: number; oldest: Date }>(
      `select count(*)::integer as live, min(created_at) as oldest
       from session where account_id = $1 and revoked_at is null`,
      [accountId],
    );
    return rows[0];
  };
  await add(userId, 11_500);
  await add(other, 10_050);
  await signIn(userId);
  assert.equal((await sessions(userId))?.live, 10_501, '1,000 at a time');
  await signIn(userId);
  const { sid } = decodeJwt<{ sid: string }>((await signIn(userId)).accessToken);
  assert.deepEqual(await sessions(userId), { live: 10_000, oldest: secondsAfter(NOW, -9_997 * 60) });
  assert.equal((await sessions(other))?.live, 10_050, 'those of others stay');
  const { rows } = await pool.query('select from session where id = $1 and revoked_at is null', [sid]);
  assert.equal(rows.length, 1, 'the new one is among them');
});
