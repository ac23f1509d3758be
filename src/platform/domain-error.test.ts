import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError, commandErrorOf, UsageError } from './command/command.ts';
import { DomainError, domainErrors } from './domain-error.ts';
import { HttpError, httpErrorOf } from './http/errors.ts';

const CATALOGUE = {
  bad_zone: {
    status: 400,
    exitCode: 2,
    text: ({ field }: { field: string }) => `${field} is not a time zone. Example: ${field} UTC`,
  },
  too_many: {
    status: 503,
    retryAfterSeconds: 5,
    headers: { connection: 'close' },
    text: 'Too many orders are open.',
    command: 'Too many orders are open. Close some with: order close',
  },
  locked: {
    status: 429,
    text: ({ retryAfterSeconds }: { retryAfterSeconds: number }) => `Wait ${retryAfterSeconds} seconds.`,
  },
  file_exists: { text: ({ path }: { path: string }) => `${path} exists already.` },
} as const;

const FRENCH = {
  bad_zone: ({ field }: { field: string }) => `${field} n’est pas un fuseau horaire.`,
  too_many: 'Trop de demandes sont ouvertes.',
  locked: ({ retryAfterSeconds }: { retryAfterSeconds: number }) => `Attendez ${retryAfterSeconds} secondes.`,
};

const orderError = domainErrors(CATALOGUE, FRENCH);

test('an error has its code, its values and its words, and keeps its cause', () => {
  const cause = new Error('from below');
  const error = orderError('bad_zone', { field: 'timeZone' }, { cause });
  assert.ok(error instanceof DomainError);
  assert.deepEqual(
    [error.code, error.values, error.message, error.cause],
    ['bad_zone', { field: 'timeZone' }, 'timeZone is not a time zone. Example: timeZone UTC', cause],
  );
});

test('HTTP answers with the status, the words and the headers of the catalogue', () => {
  const answer = httpErrorOf(orderError('too_many'));
  assert.ok(answer instanceof HttpError);
  assert.deepEqual(
    [answer.statusCode, answer.code, answer.message, answer.headers],
    [503, 'too_many', 'Too many orders are open.', { connection: 'close', 'retry-after': '5' }],
  );
  assert.deepEqual(httpErrorOf(orderError('locked', { retryAfterSeconds: 30 }))?.headers, {
    'retry-after': '30',
  });
});

test('HTTP has no answer for an error without a status', () => {
  assert.equal(httpErrorOf(orderError('file_exists', { path: 'a.csv' })), undefined);
});

test('the command line names the option in place of the member, and ends with the exit code of the catalogue', () => {
  for (const [field, option] of [
    ['timeZone', '--time-zone'],
    ['facilityId', '--facility'],
    ['facilityIds', '--facility'],
    ['id', '--id'],
    ['name', '--name'],
  ] as const) {
    const error = commandErrorOf(orderError('bad_zone', { field }));
    assert.ok(error instanceof UsageError);
    assert.equal(error.message, `${option} is not a time zone. Example: ${option} UTC`);
  }
  const failed = commandErrorOf(orderError('file_exists', { path: 'a.csv' }));
  assert.ok(failed instanceof CommandError);
  assert.equal(failed.message, 'a.csv exists already.');
});

test('the command line has words of its own where the catalogue gives them', () => {
  assert.match(commandErrorOf(orderError('too_many')).message, /Close some with: order close/);
});

test('an error has French words of the same values, and English ones where only commands end with it', () => {
  assert.deepEqual(orderError('bad_zone', { field: 'timeZone' }).words, {
    en: 'timeZone is not a time zone. Example: timeZone UTC',
    fr: 'timeZone n’est pas un fuseau horaire.',
  });
  assert.equal(httpErrorOf(orderError('too_many'))?.words.fr, 'Trop de demandes sont ouvertes.');
  const { words } = orderError('file_exists', { path: 'a.csv' });
  assert.equal(words.fr, words.en);
});

test('French words that are forgotten, too many, or made of other values are errors of the compiler', () => {
  const { locked: _, ...forgotten } = FRENCH;
  // @ts-expect-error locked has no French words.
  domainErrors(CATALOGUE, forgotten);
  // @ts-expect-error No route answers with file_exists.
  domainErrors(CATALOGUE, { ...FRENCH, file_exists: 'Le fichier existe déjà.' });
  // @ts-expect-error bad_zone has no value max.
  domainErrors(CATALOGUE, { ...FRENCH, bad_zone: ({ max }: { max: number }) => `${max}` });
  // @ts-expect-error locked is worded with a value.
  domainErrors(CATALOGUE, { ...FRENCH, locked: 'Attendez.' });
});
