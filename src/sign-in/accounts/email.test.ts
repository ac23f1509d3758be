import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEmail, normaliseEmail } from './email.ts';

test('addresses that differ in case alone are one, also where a capital letter has no sign of its own [SIGN-IN-4]', () => {
  for (const email of [
    'ris@example.org',
    'ǰan@example.org',
    'ταΐ@example.gr',
    'straße@example.de',
    'élan@example.fr',
  ])
    for (const other of [email, email.normalize('NFD')])
      assert.equal(normaliseEmail(other), normaliseEmail(email));
  assert.equal(normaliseEmail('ǰan@example.org'.toUpperCase()), normaliseEmail('ǰan@example.org'));
  assert.equal(normaliseEmail('ταΐ@example.gr'.toUpperCase()), normaliseEmail('ταΐ@example.gr'));
});

test('an address shows what it is: it has no control characters, and no marks that change the direction of text', () => {
  for (const email of ['ris@example.org', 'élan+lab@example.fr', 'مختبر@مثال.إختبار', 'מעבדה@example.org'])
    assert.ok(isEmail(email), email);
  const hidden = '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u0007\u001b\u007f\u0085\u2028\ud800';
  for (const mark of [...hidden, ' ', '@'])
    for (const email of [`r${mark}is@example.org`, `ris@exam${mark}ple.org`])
      assert.ok(!isEmail(email), JSON.stringify(email));
});
