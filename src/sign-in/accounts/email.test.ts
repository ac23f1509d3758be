import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normaliseEmail } from './email.ts';

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
