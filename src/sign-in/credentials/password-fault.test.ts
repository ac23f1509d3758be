import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuMs } from '../../../test-support/cpu-time.ts';
import { assertGoodPassword } from './password.ts';

const EMAIL = 'amara.okafor@clinic.example.org';

/** Why a password is refused, as the person is told; undefined when it is good. */
const passwordFault = (password: string, email: string): Promise<string | undefined> =>
  assertGoodPassword(password, email).then(
    () => undefined,
    (error: Error) => error.message,
  );

test('good passwords pass', async () => {
  for (const password of [
    'correct horse battery staple',
    'Test-password-123',
    'a7Kq9x2Wm4Zt',
    '4827-xy-9921-7',
    'мой длинный пароль',
    'Lagos bus at noon',
  ])
    assert.equal(await passwordFault(password, EMAIL), undefined, password);
});

test('eleven characters are too few, twelve are enough; characters count, not code units [SEC-6]', async () => {
  assert.match((await passwordFault('k2v9x7q4m1z', EMAIL)) ?? '', /at least 12/);
  assert.equal(await passwordFault('k2v9x7q4m1zp', EMAIL), undefined);
  assert.match((await passwordFault('🎈🐘🌳🚲⛵🎻', EMAIL)) ?? '', /at least 12/);
  assert.match((await passwordFault('äöéñçàk2'.normalize('NFD'), EMAIL)) ?? '', /at least 12/);
});

test('a password of more than 1,024 characters is refused [SEC-6]', async () => {
  assert.match((await passwordFault('k2v9x7q4m1zp'.repeat(100), EMAIL)) ?? '', /at most 1024/);
  const emoji = Array.from({ length: 600 }, (_, index) =>
    String.fromCodePoint(0x1f300 + ((index * 37) % 600)),
  );
  assert.equal(await passwordFault(emoji.join(''), EMAIL), undefined);
});

test('common passwords are refused, in any case and with digits and signs around them [SEC-6]', async () => {
  for (const password of [
    'unbelievable',
    'Administrator',
    'qwerty123456',
    'password1234',
    'Password!!!!',
    '123456789012',
    '987654321098',
    'abcdefghijklm',
    'aaaaaaaaaaaa',
    'abcabcabcabc',
    'passwordpassword',
    'iloveyou2026!',
  ])
    assert.match((await passwordFault(password, EMAIL)) ?? '', /most common/, password);
});

test('the email address, its local part and either with digits behind are refused [SEC-6]', async () => {
  for (const password of [EMAIL, EMAIL.toUpperCase(), 'amara.okafor', 'Amara.Okafor2026', `${EMAIL}1`])
    assert.match((await passwordFault(password, EMAIL)) ?? '', /email/, password);
});

test('a password that grows past 1,024 characters when it is folded is refused', async () => {
  const password = `a${'\u2057'.repeat(1_022)}a`;
  assert.equal(password.length, 1_024);
  assert.match((await passwordFault(password, EMAIL)) ?? '', /at most 1024/);
});

test('no password costs the event loop more than a moment [SEC-7]', async () => {
  await passwordFault('the list is read once', EMAIL);
  for (const password of [
    `a${'\u2057'.repeat(1_022)}a`,
    `a${'!'.repeat(1_022)}a`,
    `${'!'.repeat(1_023)}a`,
    `${'a!'.repeat(511)}aa`,
    'a'.repeat(1_024),
    `${'abcdef'.repeat(170)}x`,
    '\u0300\u0316'.repeat(512),
  ]) {
    const all = await cpuMs(async () => {
      for (let round = 0; round < 20; round += 1) await passwordFault(password, EMAIL);
    });
    const each = all / 20;
    assert.ok(each < 5, `${each} ms for ${password.slice(0, 4)}`);
  }
});
