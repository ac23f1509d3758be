/** The rightful owner of a new account has a way in while somebody elsewhere keeps the shared lock of it closed. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { asCommand } from '../../../test-support/service/worded-errors.ts';
import { createSignInFixture, PASSWORD, statusOf } from '../../../test-support/sign-in/sign-in.ts';
import { type CommandEnvironment, CommandError, UsageError } from '../../platform/command/command.ts';
import { createCursorCodec } from '../../platform/http/cursor.ts';
import { operatorOn } from '../administration/managed-account.ts';
import { changePassword } from '../credentials/change-password.ts';
import { setUpPassword } from '../credentials/set-up-password.ts';
import { login } from '../sessions/login.ts';
import { resetPassword } from './manage-accounts.ts';
import { unlockAccountCommand } from './unlock-account.command.ts';

const NEXT = 'another long passphrase';
const HOME = '192.0.2.10';
const OFFICE = '203.0.113.30';
const ATTACKER = '198.51.100.20';

const fixture = await createSignInFixture();
after(() => fixture.close());

const contextOf = (remoteAddress: string) => ({ databaseTime: null, correlationId: 'test', remoteAddress });
const signIn = (identity: string, credential: string, from: string) =>
  statusOf(login(fixture.signIn, { identity, credential, userType: 'EHR' }, contextOf(from)));

const setUp = (setupLink = '', from = HOME) => {
  const token = new URL(setupLink).hash.replace('#token=', '');
  return setUpPassword({ ...fixture, ...fixture.signIn }, { token, newCredential: NEXT }, contextOf(from));
};

/** Keeps the lock of unknown networks closed. */
async function attack(identity: string): Promise<void> {
  for (let count = 0; count < 5; count += 1)
    assert.ok([403, 429].includes((await signIn(identity, 'wrong', ATTACKER)) ?? 0));
  assert.equal(await signIn(identity, 'wrong', ATTACKER), 429);
}

test('who completes a setup link signs in from there while the lock is kept closed [SIGN-IN-19]', async () => {
  const { userId, setupLink } = await fixture.addAccount({ password: { kind: 'setup-link' } });
  await attack(userId);
  await setUp(setupLink, HOME);
  assert.equal(await signIn(userId, NEXT, HOME), undefined);
  await attack(userId);
  assert.equal(await signIn(userId, NEXT, HOME), undefined);
  assert.equal(await signIn(userId, NEXT, OFFICE), 429, 'other unknown networks stay locked');
});

test('a setup link lifts the lock that its own network brought upon itself [SIGN-IN-19]', async () => {
  const { userId, email } = await fixture.addAccount();
  assert.equal(await signIn(userId, PASSWORD, HOME), undefined);
  const deps = { ...fixture.signIn, keys: fixture.keys, publicBaseUrl: 'https://records.example.org/api/v1' };
  const reset = {
    ...operatorOn(email),
    password: { kind: 'setup-link' as const },
    mustChangePassword: false,
  };
  const { setupLink } = await resetPassword(deps, reset, new Date());
  for (let count = 0; count < 5; count += 1) await signIn(userId, 'wrong', HOME);
  assert.equal(await signIn(userId, 'wrong', HOME), 429);
  await setUp(setupLink, HOME);
  assert.equal(await signIn(userId, NEXT, HOME), undefined);
});

test('who changes the password signs in from there while the lock is kept closed [SIGN-IN-19]', async () => {
  const { userId } = await fixture.addAccount({ mustChangePassword: true });
  const change = { identity: userId, credential: PASSWORD, newCredential: NEXT, userType: 'EHR' };
  await changePassword(fixture.signIn, change, contextOf(HOME));
  await attack(userId);
  assert.equal(await signIn(userId, NEXT, HOME), undefined);
});

/** The command, run to its end: what it printed. */
async function unlock(...argv: string[]): Promise<{ document: unknown; text: string }> {
  const printed: { document: unknown; text: string }[] = [];
  const environment: Pick<CommandEnvironment, 'withSession' | 'print'> = {
    withSession: (work) =>
      work({
        db: fixture.database.pool,
        adminUrl: '',
        keys: fixture.keys,
        cursors: createCursorCodec(fixture.keys.derive('cursor')),
        publicBaseUrl: '',
      }),
    print: (document, text) => void printed.push({ document, text }),
  };
  const quiet = { writeErr: () => undefined, writeOut: () => undefined };
  const command = unlockAccountCommand(environment).exitOverride().configureOutput(quiet);
  await asCommand(command.parseAsync(argv, { from: 'user' }));
  assert.equal(printed.length, 1, 'one document is printed');
  return { document: printed[0]?.document, text: printed[0]?.text ?? '' };
}

test('account unlock --network lets that network in while the lock is kept closed [SIGN-IN-17, ADM-31]', async () => {
  const { userId, email } = await fixture.addAccount();
  await attack(userId);
  const { document, text } = await unlock('--email', email.toUpperCase(), '--network', HOME);
  assert.deepEqual(document, { userId, email, network: '192.0.2.0/24' });
  assert.match(text, /192\.0\.2\.0\/24/);
  await attack(userId);
  assert.equal(await signIn(userId, PASSWORD, HOME), undefined);
  assert.equal(await signIn(userId, PASSWORD, OFFICE), 429);
  const { rows } = await fixture.database.pool.query({
    text: `
      select actor_kind, after
      from administration_audit
      where organisation_id = $1
        and subject_id = $2
        and action = 'account.unlock'`,
    values: [fixture.organisationId, userId],
  });
  assert.deepEqual(rows, [{ actor_kind: 'operator', after: { network: '192.0.2.0/24' } }]);
});

test('account unlock lifts every lock of the account, and none of another [SIGN-IN-17]', async () => {
  const [{ userId, email }, other] = [await fixture.addAccount(), await fixture.addAccount()];
  assert.equal(await signIn(userId, PASSWORD, HOME), undefined);
  for (let count = 0; count < 5; count += 1) await signIn(userId, 'wrong', HOME);
  await attack(userId);
  await attack(other.userId);
  assert.deepEqual((await unlock('--email', email)).document, { userId, email });
  assert.equal(await signIn(userId, PASSWORD, HOME), undefined);
  assert.equal(await signIn(userId, PASSWORD, OFFICE), undefined);
  assert.equal(await signIn(other.userId, PASSWORD, OFFICE), 429);
});

test('a network that is none, or wider than one that is counted, is refused', async () => {
  const { email } = await fixture.addAccount();
  for (const network of ['home', '192.0.2.0/23', '2001:db8::/63', '192.0.2.1/x', '192.0.2.1/33', ''])
    await assert.rejects(unlock('--email', email, '--network', network), UsageError, network);
  await assert.rejects(unlock('--email', 'nobody@example.org'), CommandError);
});
