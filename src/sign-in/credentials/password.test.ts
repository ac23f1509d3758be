import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuMs } from '../../../test-support/cpu-time.ts';
import { answered } from '../../../test-support/service/worded-errors.ts';
import { CHEAP_COST, refusalOf } from '../../../test-support/sign-in/sign-in.ts';
import { createPasswords, generatePassword } from './password.ts';

const cheap = (hashConcurrency: number, hashQueue: number) =>
  createPasswords({ hashConcurrency, hashQueue, cost: CHEAP_COST });

test('a flood beyond the places and the queue gets 503 with retry-after, and the rest is served [SIGN-IN-20, SEC-8]', async () => {
  const passwords = createPasswords({ hashConcurrency: 2, hashQueue: 3 });
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, () => refusalOf(passwords.verify(undefined, 'guess'))),
  );
  const refused = outcomes.filter((outcome) => outcome !== undefined);
  assert.equal(refused.length, 7);
  for (const refusal of refused) {
    assert.equal(refusal?.statusCode, 503);
    assert.match(refusal?.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  }
  assert.equal(await passwords.verify(undefined, 'guess'), false, 'the places are free again');
  passwords.beginAttempt('192.0.2.0/24').leave();
});

test('a full queue is refused before any other work', async () => {
  const passwords = cheap(1, 0);
  const first = passwords.hash('one');
  assert.throws(() => answered(() => passwords.beginAttempt('192.0.2.0/24')), { statusCode: 503 });
  await first;
  passwords.beginAttempt('192.0.2.0/24').leave();
});

test('a network has no more attempts under way than could ever hash; others are not touched', () => {
  const passwords = cheap(2, 3);
  const attempts = Array.from({ length: 5 }, () => passwords.beginAttempt('192.0.2.0/24'));
  assert.throws(() => answered(() => passwords.beginAttempt('192.0.2.0/24')), { statusCode: 503 });
  passwords.beginAttempt('198.51.100.0/24').leave();
  attempts[0]?.leave();
  passwords.beginAttempt('192.0.2.0/24').leave();
});

test('a failure gives its place back', async () => {
  const passwords = cheap(1, 0);
  await assert.rejects(passwords.verify('not a hash', 'x'), TypeError);
  assert.ok(await passwords.hash('x'));
});

test('without a hash the work is that of a real one and nothing matches [SIGN-IN-11]', async () => {
  const passwords = createPasswords({ hashConcurrency: 1, hashQueue: 1 });
  const hash = await passwords.hash('right');
  const time = async (work: () => Promise<boolean>): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      times.push(await cpuMs(async () => assert.equal(await work(), false)));
    }
    return Math.min(...times);
  };
  const real = await time(() => passwords.verify(hash, 'wrong'));
  const decoy = await time(() => passwords.verify(undefined, 'wrong'));
  assert.ok(decoy > real / 3 && decoy < real * 3, `decoy ${decoy} ms, real ${real} ms`);
});

test('accents typed in either way are one password', async () => {
  const passwords = cheap(1, 1);
  assert.equal(await passwords.verify(await passwords.hash('caf\u00e9'), 'cafe\u0301'), true);
});

test('generated passwords are long, plain and never the same [SEC-5]', () => {
  const made = new Set(Array.from({ length: 200 }, generatePassword));
  assert.equal(made.size, 200);
  for (const password of made) assert.match(password, /^[A-HJ-NP-Za-km-z2-9]{24}$/);
});
