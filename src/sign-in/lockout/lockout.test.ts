import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import {
  createSignInFixture,
  PASSWORD,
  type Refusal,
  refusalOf,
  statusOf,
  warmUp,
} from '../../../test-support/sign-in/sign-in.ts';
import { resetPassword } from '../accounts/manage-accounts.ts';
import { operatorOn } from '../administration/managed-account.ts';
import { login } from '../sessions/login.ts';
import { refresh } from '../sessions/refresh.ts';
import { secondsAfter } from '../settings.ts';
import { vouchFor } from './lockout.ts';
import { networkOf } from './network.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const HOME = '192.0.2.10';
const ELSEWHERE = '198.51.100.20';
const THIRD = '203.0.113.30';

const fixture = await createSignInFixture();
after(() => fixture.close());

interface Try {
  credential?: string;
  from?: string;
  now?: Date;
  userType?: string;
}

function attempt(
  identity: string,
  { credential = 'wrong', from = HOME, now = NOW, userType = 'EHR' }: Try = {},
) {
  const context = { databaseTime: now, correlationId: 'test', remoteAddress: from };
  return login(fixture.signIn, { identity, credential, userType }, context);
}

async function failTimes(times: number, identity: string, options: Try = {}): Promise<void> {
  for (let count = 0; count < times; count += 1)
    assert.equal(await statusOf(attempt(identity, options)), 403);
}

const right = (options: Try = {}): Try => ({ credential: PASSWORD, ...options });

test('the fifth failure locks: 429 with retry-after, also for the right password, for 15 minutes [SIGN-IN-12]', async () => {
  const { userId } = await fixture.addAccount();
  await failTimes(5, userId);
  for (const credential of ['wrong', PASSWORD]) {
    const refusal = await refusalOf(attempt(userId, { credential }));
    assert.equal(refusal?.statusCode, 429);
    assert.equal(refusal?.headers['retry-after'], '900');
  }
  const late = await refusalOf(attempt(userId, right({ now: secondsAfter(NOW, 899.5) })));
  assert.equal(late?.headers['retry-after'], '1');
  assert.equal(await statusOf(attempt(userId, right({ now: secondsAfter(NOW, 900) }))), undefined);
});

test('four failures do not lock [SIGN-IN-12]', async () => {
  const { userId } = await fixture.addAccount();
  await failTimes(4, userId);
  assert.equal(await statusOf(attempt(userId, right())), undefined);
});

test('failures more than 15 minutes old no longer count [SIGN-IN-12]', async () => {
  const { userId } = await fixture.addAccount();
  await failTimes(4, userId);
  await failTimes(4, userId, { now: secondsAfter(NOW, 901) });
  assert.equal(await statusOf(attempt(userId, right({ now: secondsAfter(NOW, 902) }))), undefined);
});

test('five failures inside any 15 minutes lock, also when the first of all is older [SIGN-IN-12]', async () => {
  const { userId } = await fixture.addAccount();
  await failTimes(1, userId);
  await failTimes(4, userId, { now: secondsAfter(NOW, 800) });
  assert.equal(await statusOf(attempt(userId, right({ now: secondsAfter(NOW, 801) }))), 429, 'five in 800 s');
  const other = await fixture.addAccount();
  await failTimes(1, other.userId);
  await failTimes(3, other.userId, { now: secondsAfter(NOW, 600) });
  await failTimes(1, other.userId, { now: secondsAfter(NOW, 1_000) });
  await failTimes(1, other.userId, { now: secondsAfter(NOW, 1_001) });
  assert.equal(await statusOf(attempt(other.userId, right({ now: secondsAfter(NOW, 1_002) }))), 429);
});

test('after a lock the count starts anew', async () => {
  const { userId } = await fixture.addAccount();
  await failTimes(5, userId);
  await failTimes(4, userId, { now: secondsAfter(NOW, 900) });
  assert.equal(await statusOf(attempt(userId, right({ now: secondsAfter(NOW, 901) }))), undefined);
});

test('decoys, disabled accounts and identities that are no UUID lock alike [SIGN-IN-13, SEC-1]', async () => {
  const setup = await fixture.addAccount({ password: { kind: 'setup-link' } });
  for (const identity of [randomUUID(), 'not a uuid', setup.userId, '🙂'.repeat(80)]) {
    await failTimes(5, identity);
    const refusal = await refusalOf(attempt(identity));
    assert.equal(refusal?.statusCode, 429, identity);
    assert.equal(refusal?.headers['retry-after'], '900');
  }
});

test('the case of a user id gives no further attempts [SEC-1]', async () => {
  const { userId } = await fixture.addAccount();
  await failTimes(3, userId);
  await failTimes(2, userId.toUpperCase());
  assert.equal(await statusOf(attempt(userId)), 429);
});

test('twenty wrong passwords at once: five are looked at, fifteen are 429 [SIGN-IN-16]', async () => {
  const { userId } = await fixture.addAccount();
  let verified = 0;
  const counting = {
    ...fixture.signIn,
    passwords: {
      ...fixture.signIn.passwords,
      verify: (hash: string | undefined, password: string) => {
        verified += 1;
        return fixture.signIn.passwords.verify(hash, password);
      },
    },
  };
  await warmUp(fixture.database);
  const statuses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      statusOf(
        login(
          counting,
          { identity: userId, credential: `guess ${index}`, userType: 'EHR' },
          { databaseTime: NOW, correlationId: 'test', remoteAddress: HOME },
        ),
      ),
    ),
  );
  assert.equal(verified, 5);
  assert.equal(statuses.filter((status) => status === 403).length, 5);
  assert.equal(statuses.filter((status) => status === 429).length, 15);
});

test('twenty right passwords at once all sign in', async () => {
  const { userId } = await fixture.addAccount();
  const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(attempt(userId, right()))));
  assert.deepEqual(new Set(statuses), new Set([undefined]));
});

test('where nobody failed, too many attempts at once are 503, not 429 [SIGN-IN-20]', async () => {
  const { lockout } = fixture.signIn;
  const identity = randomUUID();
  const begin = () => lockout.begin(identity, { databaseTime: NOW, remoteAddress: HOME });
  const underWay = await Promise.all(Array.from({ length: 5 }, begin));
  const more = Array.from({ length: 33 }, () => refusalOf(begin().then(lockout.release)));
  const refusal = await Promise.race(more);
  assert.equal(refusal?.statusCode, 503);
  assert.equal(refusal?.headers['retry-after'], '2');
  await Promise.all(underWay.map((attempt) => lockout.release(attempt)));
  await Promise.all(more);
});

test('one network cannot lock out another that signed in before [SEC-2]', async () => {
  const { userId } = await fixture.addAccount();
  await attempt(userId, right({ from: HOME }));
  await failTimes(5, userId, { from: ELSEWHERE });
  assert.equal(await statusOf(attempt(userId, right({ from: ELSEWHERE }))), 429, 'the guessing network');
  assert.equal(await statusOf(attempt(userId, right({ from: THIRD }))), 429, 'any other unknown network');
  assert.equal(
    await statusOf(attempt(userId, right({ from: HOME }))),
    undefined,
    'the one that signed in before',
  );
  assert.equal(
    await statusOf(attempt(userId, right({ from: '192.0.2.99' }))),
    undefined,
    'its neighbour in /24',
  );
});

test('unknown networks share one count: guessing from many gains nothing [SEC-3]', async () => {
  const { userId } = await fixture.addAccount();
  for (let network = 0; network < 5; network += 1) await failTimes(1, userId, { from: `203.0.${network}.1` });
  assert.equal(await statusOf(attempt(userId, right({ from: '203.0.99.1' }))), 429);
});

test('a network that signed in before is locked by its own failures, and leaves others alone [SEC-2]', async () => {
  const { userId } = await fixture.addAccount();
  await attempt(userId, right({ from: HOME }));
  await failTimes(5, userId, { from: HOME });
  assert.equal(await statusOf(attempt(userId, right({ from: HOME }))), 429);
  assert.equal(await statusOf(attempt(userId, right({ from: ELSEWHERE }))), undefined);
});

test('a success lets the earlier failures of its own network count no more', async () => {
  const { userId } = await fixture.addAccount();
  for (let round = 0; round < 3; round += 1) {
    await failTimes(4, userId);
    assert.equal(await statusOf(attempt(userId, right())), undefined, `round ${round}`);
  }
});

test('a success, or a password from a link, forgets the failures of no other identity of its network [SIGN-IN-12]', async () => {
  const { userId } = await fixture.addAccount();
  const { userId: other } = await fixture.addAccount();
  await attempt(userId, right());
  await failTimes(4, userId);
  await attempt(other, right());
  await attempt(other, right());
  await vouchFor(fixture.database.pool, fixture.keys, other, { from: networkOf(HOME), now: NOW });
  await failTimes(1, userId);
  assert.equal(await statusOf(attempt(userId, right())), 429);
});

test('a success elsewhere leaves the shared count of unknown networks as it is', async () => {
  const { userId } = await fixture.addAccount();
  await attempt(userId, right({ from: HOME }));
  await failTimes(4, userId, { from: ELSEWHERE });
  await attempt(userId, right({ from: HOME }));
  await failTimes(1, userId, { from: ELSEWHERE });
  assert.equal(await statusOf(attempt(userId, right({ from: ELSEWHERE }))), 429);
});

test('a lock touches neither refresh nor anything else of a live session [SIGN-IN-15]', async () => {
  const { userId } = await fixture.addAccount();
  const session = await attempt(userId, right({ from: HOME }));
  await failTimes(5, userId, { from: HOME });
  const context = { databaseTime: secondsAfter(NOW, 10), correlationId: 'test' };
  assert.ok(await refresh(fixture.signIn, session.refreshToken, context));
  assert.ok(await fixture.signIn.verifyAccessToken(session.accessToken, NOW));
});

test('a new password from the operator lifts the lock [SIGN-IN-18]', async () => {
  const { userId, email } = await fixture.addAccount();
  await failTimes(5, userId);
  const reset = { ...operatorOn(email), password: { kind: 'generated' as const }, mustChangePassword: false };
  const deps = {
    db: fixture.database.pool,
    passwords: fixture.signIn.passwords,
    keys: fixture.keys,
    publicBaseUrl: 'http://x/api/v1',
  };
  const { password } = await resetPassword(deps, reset, NOW);
  assert.equal(await statusOf(attempt(userId, { credential: password ?? '' })), undefined);
});

test('what was typed as identity cannot be found from the database alone [SEC-4]', async () => {
  const typed = 'hunter2-in-the-wrong-field';
  await failTimes(1, typed);
  const { rows } = await fixture.database.pool.query(
    'select 1 from sign_in_counter where identity_hash = sha256($1::text::bytea)',
    [typed],
  );
  assert.equal(rows.length, 0);
  const keyed = createHmac('sha256', fixture.keys.derive('sign-in/identity')).update(typed).digest();
  const found = await fixture.database.pool.query('select 1 from sign_in_counter where identity_hash = $1', [
    keyed,
  ]);
  assert.equal(found.rows.length, 1);
});

test('the numbers are configuration [SIGN-IN-14]', async () => {
  const strict = fixture.another({ lockFailures: 2, lockWindowSeconds: 10, lockSeconds: 30 });
  const identity = randomUUID();
  const guess = (now: Date): Promise<Refusal | undefined> =>
    refusalOf(
      login(
        strict,
        { identity, credential: 'x', userType: 'EHR' },
        { databaseTime: now, correlationId: 'test', remoteAddress: HOME },
      ),
    );
  assert.equal((await guess(NOW))?.statusCode, 403);
  assert.equal((await guess(secondsAfter(NOW, 11)))?.statusCode, 403);
  assert.equal((await guess(secondsAfter(NOW, 12)))?.statusCode, 403);
  const refusal = await guess(secondsAfter(NOW, 12));
  assert.equal(refusal?.statusCode, 429);
  assert.equal(refusal?.headers['retry-after'], '30');
});

test('a flood of hashing leaves no attempt behind', async () => {
  const { userId } = await fixture.addAccount();
  const full = {
    ...fixture.signIn,
    passwords: {
      ...fixture.signIn.passwords,
      verify: () =>
        Promise.reject(Object.assign(new Error('full'), { name: 'HttpError', statusCode: 503, headers: {} })),
    },
  };
  const context = { databaseTime: NOW, correlationId: 'test', remoteAddress: HOME };
  for (let count = 0; count < 8; count += 1)
    assert.equal(
      await statusOf(login(full, { identity: userId, credential: PASSWORD, userType: 'EHR' }, context)),
      503,
    );
  assert.equal(await statusOf(attempt(userId, right())), undefined);
});
