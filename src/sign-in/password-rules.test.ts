import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwordFault } from './password-rules.ts';

const EMAIL = 'amara.okafor@clinic.example.org';

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

test('eleven characters are too few, twelve are enough; characters count, not code units', async () => {
  assert.match((await passwordFault('k2v9x7q4m1z', EMAIL)) ?? '', /at least 12/);
  assert.equal(await passwordFault('k2v9x7q4m1zp', EMAIL), undefined);
  assert.match((await passwordFault('🎈🐘🌳🚲⛵🎻', EMAIL)) ?? '', /at least 12/);
});

test('a password of more than 1,024 characters is refused', async () => {
  assert.match((await passwordFault('k2v9x7q4m1zp'.repeat(100), EMAIL)) ?? '', /at most 1024/);
});

test('common passwords are refused, in any case and with digits and signs around them', async () => {
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

test('the email address, its local part and either with digits behind are refused', async () => {
  for (const password of [EMAIL, EMAIL.toUpperCase(), 'amara.okafor', 'Amara.Okafor2026', `${EMAIL}1`])
    assert.match((await passwordFault(password, EMAIL)) ?? '', /email/, password);
});
