/** Nodes whose clocks disagree with the database's: what they decide, and what they refuse to do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TestNode, useEmptyApi } from '../../../test-support/service/api.ts';
import {
  addAccount,
  addTenant,
  cheapPasswords,
  createSignInFixture,
  PASSWORD,
  statusOf,
} from '../../../test-support/sign-in/sign-in.ts';
import { secondsAfter } from '../settings.ts';
import { login } from './login.ts';
import { refresh } from './refresh.ts';

const api = await useEmptyApi({ env: { CLOCK_MAX_SKEW_SECONDS: '60' } });
const tenant = await addTenant(api.database);
const ahead = await api.addNode({ aheadSeconds: 50 });

const addSystem = () => addAccount({ database: api.database, passwords: cheapPasswords() }, tenant);
const refreshAt = (node: TestNode, refreshToken: string) =>
  node.call('/auth/refresh', { body: { refreshToken } });

async function signIn(node: TestNode = api) {
  const { userId } = await addSystem();
  const reply = await node.call('/auth/login', {
    body: { identity: userId, credential: PASSWORD, userType: 'EHR' },
  });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as { accessToken: string; refreshToken: string };
}

/** Runs `work` that many seconds later, and sets the clock back. */
async function later<T>(seconds: number, work: () => Promise<T>): Promise<T> {
  const { now } = api.clock;
  api.clock.now = secondsAfter(now, seconds);
  try {
    return await work();
  } finally {
    api.clock.now = now;
  }
}

test('a repeated refresh at a node 50 s ahead answers the same pair, and ends no session [SIGN-IN-35]', async () => {
  const { refreshToken } = await signIn();
  const pair = await refreshAt(api, refreshToken);
  const repeat = await later(15, () => refreshAt(ahead, refreshToken));
  assert.equal(repeat.status, 200, repeat.text);
  assert.equal(repeat.text, pair.text);
  assert.equal((await later(16, () => refreshAt(api, pair.json.refreshToken))).status, 200);
});

test('a late repeat ends the session, also at a node whose clock is behind [SIGN-IN-31]', async () => {
  const behind = await api.addNode({ aheadSeconds: -50 });
  const { refreshToken } = await signIn();
  const pair = await refreshAt(api, refreshToken);
  assert.equal((await later(61, () => refreshAt(behind, refreshToken))).status, 401);
  assert.equal((await later(61, () => refreshAt(api, pair.json.refreshToken))).status, 401);
});

test('a lock ends by the clock of the database [SIGN-IN-35]', async () => {
  const { userId } = await addSystem();
  const tryAt = (node: TestNode, credential: string) =>
    node.call('/auth/login', { body: { identity: userId, credential, userType: 'EHR' } });
  for (let count = 0; count < 5; count += 1) assert.equal((await tryAt(api, 'wrong')).status, 403);
  const locked = await later(899 - 10, () => tryAt(ahead, PASSWORD));
  assert.equal(locked.status, 429);
  assert.equal(locked.headers.get('retry-after'), '11');
});

test('a setup link ends by the clock of the database [SIGN-IN-35]', async () => {
  const { setupLink = '' } = await addAccount(
    { database: api.database, passwords: cheapPasswords() },
    tenant,
    {
      password: { kind: 'setup-link' },
    },
  );
  await api.database.pool.query('update password_setup_link set expires_at = $1', [
    secondsAfter(api.clock.now, 40),
  ]);
  const body = {
    token: new URL(setupLink).hash.replace('#token=', ''),
    newCredential: 'another long passphrase',
  };
  assert.equal((await later(41, () => api.call('/auth/password-setup', { body }))).status, 403);
  assert.equal((await ahead.call('/auth/password-setup', { body })).status, 204);
});

test('a session ends by the clock of the database [SIGN-IN-35]', async () => {
  const account = await api.createAccount(await api.createTenant());
  await api.database.pool.query('update session set expires_at = $2 where id = $1', [
    account.sessionId,
    secondsAfter(api.clock.now, 40),
  ]);
  const read = (node: TestNode) => node.call('/patients/base', { token: account.token });
  assert.equal((await read(ahead)).status, 200);
  const behind = await api.addNode({ aheadSeconds: -50 });
  assert.equal((await later(41, () => read(behind))).status, 401);
});

test('where nobody names a time, statements ask the database for it', async () => {
  const fixture = await createSignInFixture();
  try {
    const { userId } = await fixture.addAccount();
    const context = { databaseTime: null, correlationId: 'test', remoteAddress: '192.0.2.10' };
    const proof = { identity: userId, credential: PASSWORD, userType: 'EHR' };
    const { refreshToken } = await login(fixture.signIn, proof, context);
    const pair = await refresh(fixture.signIn, refreshToken, context);
    const exchangedAgo = (interval: string) =>
      fixture.database.pool.query(
        'update refresh_token set exchanged_at = now() - $1::interval where exchanged_at is not null',
        [interval],
      );
    await exchangedAgo('30 seconds');
    assert.deepEqual(await refresh(fixture.signIn, refreshToken, context), pair);
    await exchangedAgo('61 seconds');
    assert.equal(await statusOf(refresh(fixture.signIn, refreshToken, context)), 401);
    const lockFor = (interval: string) =>
      fixture.database.pool.query(
        'update sign_in_counter set locked_until = clock_timestamp() + $1::interval',
        [interval],
      );
    await lockFor('10 minutes');
    const elsewhere = { ...context, remoteAddress: '198.51.100.20' };
    assert.equal(await statusOf(login(fixture.signIn, proof, elsewhere)), 429);
    await lockFor('0 seconds');
    assert.equal(await statusOf(login(fixture.signIn, proof, elsewhere)), undefined);
  } finally {
    await fixture.close();
  }
});
