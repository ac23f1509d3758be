import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answered } from '../../test-support/service/worded-errors.ts';
import { HttpError } from '../platform/http/errors.ts';
import { parseDateFilter, parseEncounterSearch } from './search-parameters.ts';

const filter = (text: string, timeZone = 'UTC') => {
  const { endsFrom, startsBefore } = parseDateFilter(text, timeZone);
  return [endsFrom?.toISOString(), startsBefore?.toISOString()];
};

test('a bare date and eq are the whole of it, ge its start, le its end [ENC-14, ENC-15]', () => {
  const day = ['2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z'];
  assert.deepEqual(filter('2024-02-29'), day);
  assert.deepEqual(filter('eq2024-02-29'), day);
  assert.deepEqual(filter('ge2024-02-29'), [day[0], undefined]);
  assert.deepEqual(filter('le2024-02-29'), [undefined, day[1]]);
});

test('each precision stands for its span [ENC-15]', () => {
  assert.deepEqual(filter('2024'), ['2024-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z']);
  assert.deepEqual(filter('2024-12'), ['2024-12-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z']);
  assert.deepEqual(filter('2024-01-01T10:00Z'), ['2024-01-01T10:00:00.000Z', '2024-01-01T10:01:00.000Z']);
  assert.deepEqual(filter('2024-01-01T10:00:05+02:00'), [
    '2024-01-01T08:00:05.000Z',
    '2024-01-01T08:00:06.000Z',
  ]);
});

test('a date without a zone is a day of the facility, daylight saving included [ENC-16]', () => {
  assert.deepEqual(filter('2024-03-31', 'Europe/Berlin'), [
    '2024-03-30T23:00:00.000Z',
    '2024-03-31T22:00:00.000Z',
  ]);
  assert.deepEqual(filter('2024-11-03', 'America/New_York'), [
    '2024-11-03T04:00:00.000Z',
    '2024-11-04T05:00:00.000Z',
  ]);
});

test('anything else is 400 [ENC-14]', () => {
  const faults = [
    '',
    'ge',
    'gt2024',
    'lt2024',
    'ne2024',
    'ap2024',
    'sa2024',
    'eb2024',
    'GE2024',
    '2024-13',
    '2024-02-30',
    '2024-1-1',
    '24',
    '2024-01-01T10:00',
    '2024-01-01T10:00:00 02:00',
    '2024-01-01T25:00:00Z',
    '2024,2025',
    'gege2024',
    ' 2024',
    '2024\n',
  ];
  for (const text of faults)
    assert.throws(
      () => answered(() => parseDateFilter(text, 'UTC')),
      (error) => error instanceof HttpError && error.statusCode === 400,
      JSON.stringify(text),
    );
});

test('two dates must both hold [ENC-14]', () => {
  const search = (date: string[]) => parseEncounterSearch({ patient: 'x', date }, 'UTC').date;
  assert.deepEqual(search(['ge2024-01-01', 'le2024-01-31']), {
    endsFrom: new Date('2024-01-01T00:00:00Z'),
    startsBefore: new Date('2024-02-01T00:00:00Z'),
  });
  assert.deepEqual(search(['2024', '2024-06']), search(['2024-06']));
  assert.deepEqual(search(['ge2024', 'ge2023']), search(['ge2024']));
});

test('the patient may be bare or a reference, in either case of letters [ENC-10]', () => {
  const patient = (text: string) => parseEncounterSearch({ patient: text }, 'UTC').patientId;
  assert.equal(patient('Patient/AB'), 'ab');
  assert.equal(patient('AB'), 'ab');
});
