/** What the R4 invariants of data types forbid is refused or left out, so that it never goes out again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ElementReader } from './element-reader.ts';
import { type JsonObject, ResourceRejected } from './json-resource.ts';
import { duration, quantity, range, ratio, sampledData, simpleQuantity } from './measured.ts';
import { timing } from './timing.ts';

const UCUM = 'http://unitsofmeasure.org';
const reader = (value: JsonObject) => new ElementReader(value, 'T', 'UTC');
const refuses = (work: () => unknown, message: string) => assert.throws(work, new ResourceRejected(message));
const NO_COMPARATOR = 'comparator is not allowed here (R4 invariant sqty-1)';

test('a code without a system is the text of the unit, and is not kept beside one', () => {
  assert.deepEqual(quantity(reader({ value: 1, code: 'mg' })), { value: 1, unit: 'mg' });
  const both = reader({ value: 1, comparator: '<', unit: 'milligram', code: 'mg' });
  assert.deepEqual(quantity(both), { value: 1, comparator: '<', unit: 'milligram' });
  assert.deepEqual(both.unread(), ['T.code']);
  const coded = { value: 1, unit: 'milligram', system: UCUM, code: 'mg' };
  assert.deepEqual(quantity(reader(coded)), coded);
});

test('a duration has the UCUM code of a unit of time beside its value, and no other code [HTTP-30]', () => {
  const coded = (unit: string | undefined, code: string) => ({
    value: 3,
    ...(unit && { unit }),
    system: UCUM,
    code,
  });
  for (const [given, kept] of [
    [coded('Tage', 'd'), coded('Tage', 'd')],
    [coded(undefined, 'mo_j'), coded(undefined, 'mo_j')],
    [{ value: 3, code: 'h' }, coded(undefined, 'h')],
    [{ value: 3, unit: 'min' }, coded('min', 'min')],
    [{ value: 3, unit: 'Days' }, coded('Days', 'd')],
    [coded('days', 'days'), coded('days', 'd')],
    [
      { value: 3, unit: 'nights', system: UCUM },
      { value: 3, unit: 'nights' },
    ],
    [coded(undefined, 'mg'), { value: 3, unit: 'mg' }],
    [{ value: 3, system: 'urn:oid:1.2', code: 'h' }, { value: 3 }],
    [coded('d', 'h/d'), { value: 3, unit: 'd' }],
    [
      { value: 3, code: 'per  day' },
      { value: 3, unit: 'per  day' },
    ],
    [{ unit: 'h', system: UCUM, code: 'h' }, { unit: 'h' }],
  ] as const)
    assert.deepEqual(duration(reader(given)), kept);
  assert.deepEqual(timing(reader({ repeat: { boundsDuration: { value: 3, unit: 'days' } } })), {
    repeat: { boundsDuration: coded('days', 'd') },
  });
});

test('a SimpleQuantity has no comparator', () => {
  refuses(() => simpleQuantity(reader({ value: 1, comparator: '<' })), `T.${NO_COMPARATOR}`);
  refuses(() => range(reader({ low: { value: 1, comparator: '>' } })), `T.low.${NO_COMPARATOR}`);
  refuses(
    () => sampledData(reader({ origin: { value: 1, comparator: '>' }, period: 1, dimensions: 1 })),
    `T.origin.${NO_COMPARATOR}`,
  );
});

test('the low of a range is not greater than its high, where both have one unit', () => {
  const of = (low: object, high: object) => reader({ low, high });
  refuses(() => range(of({ value: 10 }, { value: 9.5 })), 'T.low is greater than high (R4 invariant rng-2)');
  for (const [low, high] of [
    [{ value: 1 }, { value: 1 }],
    [
      { value: 10, unit: 'mg' },
      { value: 1, unit: 'g' },
    ],
    [{ unit: 'mg' }, { value: 1, unit: 'mg' }],
  ] as const)
    assert.deepEqual(range(of(low, high)), { low, high });
});

test('a ratio has both of its parts', () => {
  assert.equal(ratio(reader({})), undefined);
  refuses(() => ratio(reader({ numerator: { value: 1 } })), 'T.denominator is missing');
  refuses(() => ratio(reader({ denominator: { value: 1 } })), 'T.numerator is missing');
});

test('a timing has the codes, dates and times of R4, and what they stand beside', () => {
  const repeat = (more: JsonObject) => () => timing(reader({ repeat: more }));
  const event = ['2024', '2024-02-29T10:00:00Z'];
  const full = {
    event,
    repeat: { period: 8, periodUnit: 'h', dayOfWeek: ['mon'], when: ['PCV'], offset: 30 },
  };
  assert.deepEqual(timing(reader(full)), full);
  refuses(
    () => timing(reader({ event: ['today'] })),
    'T.event is not a FHIR dateTime, or that day or time does not exist',
  );
  refuses(repeat({ period: 1 }), 'T.repeat.periodUnit is missing, but period is given');
  refuses(repeat({ duration: 1 }), 'T.repeat.durationUnit is missing, but duration is given');
  refuses(repeat({ countMax: 1 }), 'T.repeat.count is missing, but countMax is given');
  refuses(repeat({ offset: 1 }), 'T.repeat.when is missing, but offset is given');
  refuses(repeat({ offset: 1, when: [null] }), 'T.repeat.when is missing, but offset is given');
  refuses(repeat({ period: -1, periodUnit: 'h' }), 'T.repeat.period is negative');
  refuses(repeat({ periodUnit: 'hour' }), 'T.repeat.periodUnit is not one of s, min, h, d, wk, mo, a');
  for (const [name, value] of Object.entries({ dayOfWeek: 'monday', timeOfDay: '25:00:00', when: 'noon' }))
    refuses(repeat({ [name]: [value] }), `T.repeat.${name} has a value that FHIR R4 does not know`);
  refuses(
    repeat({ when: ['HS'], timeOfDay: ['08:00:00'] }),
    'T.repeat.when is not allowed beside timeOfDay (R4 invariant tim-10)',
  );
  refuses(
    repeat({ when: ['CM'], offset: 30 }),
    'T.repeat.offset is not allowed beside C, CM, CD, CV (R4 invariant tim-9)',
  );
  const bounds = { boundsPeriod: { start: '2024' }, boundsDuration: { value: 1, unit: 'day' } };
  refuses(repeat(bounds), 'T.repeat.bounds[x] is given with more than one type');
});

test('a list whose items have nothing but extensions is no list', () => {
  for (const name of ['event', 'dayOfWeek', 'timeOfDay', 'when'])
    assert.equal(
      timing(reader(name === 'event' ? { event: [null] } : { repeat: { [name]: [null] } })),
      undefined,
    );
});
