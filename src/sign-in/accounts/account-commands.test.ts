/** The account and key commands, from their arguments to their --json output. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import type { Command } from 'commander';
import { asCommand } from '../../../test-support/service/worded-errors.ts';
import { createSignInFixture, statusOf } from '../../../test-support/sign-in/sign-in.ts';
import { type CommandEnvironment, CommandError, UsageError } from '../../platform/command/command.ts';
import { createCursorCodec } from '../../platform/http/cursor.ts';
import { consoleAddress } from '../console/console-address.ts';
import { KEY_COMMANDS, listKeysCommand, rotateKeyCommand } from '../keys/signing-key.command.ts';
import { removeSecondFactorCommand } from '../second-factor/remove-second-factor.command.ts';
import { login } from '../sessions/login.ts';
import {
  ACCOUNT_COMMANDS,
  createAccountCommand,
  disableAccountCommand,
  enableAccountCommand,
  listAccountsCommand,
  resetPasswordCommand,
} from './account.command.ts';

type Printed = Record<string, string> & { items: Record<string, unknown>[] };

const fixture = await createSignInFixture();
after(() => fixture.close());

async function run(
  make: (environment: CommandEnvironment) => Command,
  argv: readonly string[],
  stdin = '',
): Promise<{ document: Printed; text: string }> {
  const printed: { document: unknown; text: string }[] = [];
  const environment: CommandEnvironment = {
    withSession: (work) =>
      work({
        db: fixture.database.pool,
        adminUrl: fixture.database.adminUrl,
        keys: fixture.keys,
        cursors: createCursorCodec(fixture.keys.derive('cursor')),
        publicBaseUrl: 'https://records.example.org/api/v1',
      }),
    print: (document, text) => void printed.push({ document, text }),
    json: true,
    fail: () => assert.fail('no command of an account fails after it printed'),
    env: {},
    stdout: process.stdout,
    stdin: Readable.from([Buffer.from(stdin)]),
    stderr: process.stderr,
    now: () => new Date(),
  };
  const quiet = { writeErr: () => undefined, writeOut: () => undefined };
  const command = make(environment).exitOverride().configureOutput(quiet);
  await asCommand(command.parseAsync([...argv], { from: 'user' }));
  const [only] = printed;
  assert.ok(only !== undefined && printed.length === 1, 'one document is printed');
  return { document: JSON.parse(JSON.stringify(only.document)) as Printed, text: only.text };
}

const newEmail = () => `system-${randomUUID()}@example.org`;
const createArguments = (email: string, changed: Record<string, string> = {}) => {
  const options = {
    organisation: fixture.organisationId,
    facility: fixture.facilityId,
    email,
    role: fixture.role,
    ...changed,
  };
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
};
const create = (email: string, more: readonly string[] = [], stdin = '') =>
  run(createAccountCommand, [...createArguments(email), ...more], stdin);
const signIn = (identity = '', credential = '', userType = 'EHR') =>
  login(
    fixture.signIn,
    { identity, credential, userType },
    { databaseTime: new Date(), correlationId: 'test', remoteAddress: '192.0.2.10' },
  );

test('account create prints { userId, email, password }, and the password signs in [SIGN-IN-1, SIGN-IN-2, CMD-8]', async () => {
  const email = newEmail();
  const { document, text } = await create(email.toUpperCase());
  assert.deepEqual(Object.keys(document).sort(), ['email', 'password', 'userId']);
  assert.equal(document.email, email);
  assert.match(document.userId ?? '', /^[0-9a-f-]{14}4[0-9a-f-]{21}$/);
  assert.ok(text.includes(document.password ?? 'missing'));
  assert.equal((await signIn(document.userId, document.password)).userType, 'EHR');
});

test('account create takes the password from standard input and does not print it [CMD-6]', async () => {
  const { document } = await create(newEmail(), ['--password-stdin'], 'from standard input\n');
  assert.deepEqual(Object.keys(document).sort(), ['email', 'userId']);
  assert.ok(await signIn(document.userId, 'from standard input'));
});

test('account create of a person prints the address of the console, with a name for this machine [SIGN-IN-70]', async () => {
  const { document, text } = await create(newEmail(), ['--type', 'STAFF']);
  assert.equal(document.console, 'https://records.example.org/console/');
  assert.match(text, /^Console {3}https:\/\/records\.example\.org\/console\/$/m);
  assert.equal(consoleAddress('http://127.0.0.1:3000/api/v1'), 'http://localhost:3000/console/');
  assert.equal(consoleAddress('http://[::1]:3000/a/api/v1'), 'http://localhost:3000/a/console/');
  assert.equal(consoleAddress('http://10.0.0.1/api/v1'), 'http://10.0.0.1/console/');
});

test('account remove-second-factor names the account, and refuses one that is unknown [SIGN-IN-71]', async () => {
  const email = newEmail();
  const { document: account } = await create(email, ['--type', 'STAFF']);
  const { document } = await run(removeSecondFactorCommand, ['--email', email]);
  assert.deepEqual(document, { userId: account.userId, email });
  await assert.rejects(run(removeSecondFactorCommand, ['--email', newEmail()]), CommandError);
});

test('account create prints a setup link in place of a password [SIGN-IN-44, CMD-8]', async () => {
  const { document } = await create(newEmail(), ['--setup-link', '--type', 'STAFF']);
  assert.deepEqual(Object.keys(document).sort(), ['console', 'email', 'setupLink', 'userId']);
  assert.match(document.setupLink ?? '', /^https:\/\/records\.example\.org\/console\/set-password#token=/);
});

test('account create takes a type, several facilities and the flag', async () => {
  const { document } = await create(newEmail(), ['--type', 'STAFF', '--must-change-password']);
  const reply = await signIn(document.userId, document.password, 'STAFF');
  assert.equal(reply.userType, 'STAFF');
  assert.equal(reply.mustChangePassword, true);
});

test('account create says what is unknown, taken or malformed', async () => {
  const taken = newEmail();
  await create(taken);
  const failing = (changed: Record<string, string>, more: string[] = [], stdin = '') =>
    run(createAccountCommand, [...createArguments(newEmail(), changed), ...more], stdin);
  const unknown = randomUUID();
  await assert.rejects(
    failing({ email: taken.toUpperCase() }),
    failsWith(CommandError, /exists already.*: npx interchange account list --organisation ID$/),
  );
  await assert.rejects(failing({ organisation: unknown }), failsWith(CommandError, /no organisation/));
  await assert.rejects(failing({ facility: unknown }), failsWith(CommandError, /no facility/));
  await assert.rejects(failing({ role: 'nothing' }), failsWith(CommandError, /no role nothing/));
  await assert.rejects(failing({ organisation: 'x' }), failsWith(UsageError, /UUID/));
  await assert.rejects(failing({ email: 'no address' }), failsWith(UsageError, /--email/));
  await assert.rejects(failing({ facility: ',' }), failsWith(UsageError, /--facility/));
  await assert.rejects(failing({ type: 'ROBOT' }), failsWith(UsageError, /EHR, STAFF/));
  await assert.rejects(failing({}, ['--password-stdin', '--setup-link']), failsWith(UsageError, /not both/));
  await assert.rejects(failing({}, ['--password-stdin'], 'short\n'), failsWith(UsageError, /at least 12/));
  await assert.rejects(failing({}, ['--password-stdin'], ''), failsWith(UsageError, /standard input/));
  await assert.rejects(failing({}, ['--password', 'x']), { code: 'commander.unknownOption' });
});

test('a facility of another organisation is unknown', async () => {
  const other = await createSignInFixture();
  try {
    const argv = createArguments(newEmail(), { facility: other.facilityId });
    await assert.rejects(run(createAccountCommand, argv), failsWith(CommandError, /no facility/));
  } finally {
    await other.close();
  }
});

test('disable refuses sign-ins until enable; the password stays [SIGN-IN-2, SIGN-IN-48, CMD-9]', async () => {
  const { document: account } = await create(newEmail());
  const email = account.email ?? '';
  const disabled = await run(disableAccountCommand, ['--email', email.toUpperCase()]);
  assert.deepEqual(disabled.document, { userId: account.userId, email, disabled: true });
  assert.equal(await statusOf(signIn(account.userId, account.password)), 403);
  const enabled = await run(enableAccountCommand, ['--email', email]);
  assert.deepEqual(enabled.document, { userId: account.userId, email, disabled: false });
  assert.ok(await signIn(account.userId, account.password));
});

test('reset-password prints a new password; the old one is no longer good [CMD-9]', async () => {
  const { document: account } = await create(newEmail(), ['--must-change-password']);
  const { document } = await run(resetPasswordCommand, ['--email', account.email ?? '']);
  assert.deepEqual(Object.keys(document).sort(), ['email', 'password', 'userId']);
  assert.notEqual(document.password, account.password);
  assert.equal(await statusOf(signIn(account.userId, account.password)), 403);
  assert.equal((await signIn(account.userId, document.password)).mustChangePassword, true, 'the flag stays');
  const link = await run(resetPasswordCommand, ['--email', account.email ?? '', '--setup-link']);
  assert.ok(link.document.setupLink);
  assert.equal(await statusOf(signIn(account.userId, document.password)), 403);
});

test('an unknown email is said so', async () => {
  for (const command of [disableAccountCommand, enableAccountCommand, resetPasswordCommand])
    await assert.rejects(
      run(command, ['--email', 'nobody@example.org']),
      failsWith(CommandError, /no account/),
    );
});

test('account list shows every account of the organisation and no hash', async () => {
  const { document: account } = await create(newEmail());
  const { document, text } = await run(listAccountsCommand, ['--organisation', fixture.organisationId]);
  const listed = document.items.find(({ userId }) => userId === account.userId);
  assert.equal(listed?.email, account.email);
  assert.deepEqual(listed?.facilityIds, [fixture.facilityId]);
  assert.equal(listed?.role, 'reader');
  assert.equal(listed?.disabled, false);
  assert.equal(listed?.lastSignInAt, null);
  assert.ok(text.includes(account.email ?? 'missing'));
  assert.doesNotMatch(JSON.stringify(document), /argon2id/);
});

test('key rotate and list', async () => {
  const first = await run(rotateKeyCommand, []);
  const second = await run(rotateKeyCommand, []);
  const { document } = await run(listKeysCommand, []);
  assert.deepEqual(
    document.items.slice(0, 2).map(({ kid }) => kid),
    [second.document.kid, first.document.kid],
  );
  assert.doesNotMatch(JSON.stringify(document), /private|sealed/i);
  const third = await run(rotateKeyCommand, ['--revoke-others']);
  const after = await run(listKeysCommand, []);
  assert.deepEqual(
    after.document.items.map(({ kid }) => kid),
    [third.document.kid],
  );
});

test('every command shows an example in its help', () => {
  const environment = {} as CommandEnvironment;
  for (const make of [...ACCOUNT_COMMANDS, ...KEY_COMMANDS]) {
    let help = '';
    make(environment)
      .configureOutput({ writeOut: (text) => (help += text) })
      .outputHelp();
    assert.match(help, /Example:\n {2}npx interchange /);
  }
});

function failsWith(type: new (...given: never[]) => Error, message: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof type, `${String(error)} is not a ${type.name}`);
    assert.match(error.message, message);
    return true;
  };
}
