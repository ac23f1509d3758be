/**
 * What an Encounter covers (docs/encounters.md, "Dates"), from the import to the answer of a search: every
 * precision of `period` and of `date`, in time zones with daylight saving, against a model that compares calendar
 * text instead of instants.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { bundle, encounter, patient } from '../test-support/records/clinic.ts';
import { type TestAccount, useEmptyApi } from '../test-support/service/api.ts';
import { sized } from '../test-support/sized.ts';

/** In Cairo, 26 April 2024 begins at 01:00: there is no midnight. */
const TIME_ZONES = ['UTC', 'America/New_York', 'Europe/Berlin', 'Africa/Cairo', 'Asia/Kathmandu'];
const accounts = new Map<string, TestAccount>();

const api = await useEmptyApi();
for (const timeZone of TIME_ZONES)
  accounts.set(timeZone, await api.createAccount(await api.createTenant({ timeZone })));

interface Period {
  start?: string;
  end?: string;
}

interface Found {
  id: string;
  period?: Period;
}

/** Import Encounters of a new patient with these periods; their ids are in the order of the periods. */
async function importVisits(timeZone: string, periods: readonly Period[]) {
  const someone = patient();
  const ids = periods.map((): string => randomUUID());
  const visits = periods.map((period, place) =>
    encounter(`urn:uuid:${someone.id}`, { id: ids[place], period }),
  );
  await importBundle(accounts.get(timeZone)?.token ?? '', bundle([someone, ...visits]));
  return { patientId: String(someone.id), ids };
}

/** Answers what was unchanged, by type. */
async function importBundle(token: string, body: object): Promise<Record<string, number>> {
  const answer = await api.call('/imports/fhir', {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/fhir+json' },
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json.rejected, []);
  return answer.json.unchanged;
}

async function search(timeZone: string, patientId: string, dates: readonly string[]): Promise<Found[]> {
  const query = new URLSearchParams({ patient: patientId, purposeOfUse: 'OPS', _count: '100' });
  for (const date of dates) query.append('date', date);
  const answer = await api.call(`/encounters/fhir/Encounter?${query}`, {
    token: accounts.get(timeZone)?.token ?? '',
  });
  assert.equal(answer.status, 200, answer.text);
  return (answer.json.entry ?? []).map(({ resource }: { resource: Found }) => resource);
}

test('a visit that ended on a day is not found on the next; one that ended at its first instant is [ENC-18]', async () => {
  const periods = [
    { start: '2024-03-30', end: '2024-03-30' },
    { start: '2024-03-30', end: '2024-03-31T00:00:00+01:00' },
  ];
  const { patientId, ids } = await importVisits('Europe/Berlin', periods);
  const found = async (date: string) =>
    (await search('Europe/Berlin', patientId, [date])).map(({ id }) => ids.indexOf(id)).sort();
  assert.deepEqual(await found('2024-03-30'), [0, 1]);
  assert.deepEqual(await found('2024-03-31'), [1]);
  assert.deepEqual(await found('ge2024-03-31'), [1]);
  assert.deepEqual(await found('ge2024-03-30T23:59:59+01:00'), [0, 1]);
  assert.deepEqual(await found('le2024-03-29'), []);
});

test('a changed time zone counts for stored visits once they are imported again [ENC-16, ADM-21]', async () => {
  const account = await api.createAccount(await api.createTenant({ timeZone: 'UTC' }));
  accounts.set('moved', account);
  const someone = patient();
  const visit = encounter(`urn:uuid:${someone.id}`, {
    id: randomUUID(),
    period: { start: '2024-03-30', end: '2024-03-30' },
  });
  const { token } = account;
  const again = () => importBundle(token, bundle([someone, visit]));
  const found = async (date: string) => (await search('moved', String(someone.id), [date])).length;
  await again();
  const changed = await api.call(`/facilities/${account.facilityId}`, {
    method: 'PATCH',
    token,
    body: { timeZone: 'Asia/Tokyo' },
  });
  assert.equal(changed.status, 200, changed.text);
  assert.equal(await found('2024-03-31'), 1, 'its days are those of UTC');
  assert.deepEqual(await again(), { Patient: 1 });
  assert.deepEqual(
    [await found('2024-03-29'), await found('2024-03-30'), await found('2024-03-31')],
    [0, 1, 0],
  );
  assert.deepEqual(await again(), { Encounter: 1, Patient: 1 });
});

test('the first and the last day that FHIR can write are taken in every time zone [ENC-8]', async () => {
  const periods = [
    { start: '0001-01-01', end: '9999-12-31' },
    { start: '0001-01-01T00:00:00+01:00', end: '9999-12-31T23:59:59-05:00' },
  ];
  for (const timeZone of TIME_ZONES) {
    const { patientId, ids } = await importVisits(timeZone, periods);
    for (const date of ['2024', '0001-01-01', '9999-12-31']) {
      const found = await search(timeZone, patientId, [date]);
      assert.deepEqual(found.map(({ id }) => id).sort(), ids.toSorted(), `${timeZone} ${date}`);
      for (const { id, period } of found) assert.deepEqual(period, periods[ids.indexOf(id)]);
    }
  }
});

test('a finished visit without an end says that it is unknown, and can be imported again as it came [ENC-8]', async () => {
  const unknown = { url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' };
  const periods = [{ start: '2024-03-30' }, { start: '2024-03-30', _end: { extension: [unknown] } }];
  const { patientId } = await importVisits('UTC', periods);
  const found = await search('UTC', patientId, ['ge2025']);
  assert.deepEqual(
    found.map(({ period }) => period),
    [periods[1], periods[1]],
  );
});

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** Days about which the time zones change their clocks, and where a month and a year begin. */
const days = fc.constantFrom(
  '2024-01-01',
  '2024-03-10',
  '2024-03-31',
  '2024-04-26',
  '2024-10-27',
  '2024-11-01',
  '2024-11-03',
);
/** An instant of such a day or the next, often on the second where a day begins somewhere. */
const instants = fc
  .tuple(
    days,
    fc.integer({ min: -14, max: 38 }),
    fc.constantFrom(0, 15, 30, 45),
    fc.constantFrom(-1, 0, 0, 1),
  )
  .map(
    ([day, hour, minute, second]) =>
      Date.parse(`${day}T00:00:00Z`) + hour * HOUR + (minute * 60 + second) * SECOND,
  );
const offsets = fc.constantFrom('Z', '+01:00', '-05:00', '+05:45');
const dateLengths = fc.constantFrom('2024'.length, '2024-01'.length, '2024-01-01'.length);

const dateTexts = (timeZone: string) =>
  fc.tuple(instants, dateLengths).map(([at, length]) => dayAt(at, timeZone).slice(0, length));
const timeTexts = fc.tuple(instants, offsets).map(([at, offset]) => timeAt(at, offset));
const moments = (timeZone: string) => fc.oneof(timeTexts, dateTexts(timeZone));

const periodsIn = (timeZone: string): fc.Arbitrary<Period> =>
  fc
    .record({
      start: fc.option(moments(timeZone), { nil: undefined, freq: 6 }),
      end: fc.option(moments(timeZone), { nil: undefined, freq: 4 }),
    })
    .map(({ start, end }) => ({ ...(start && { start }), ...(end && { end }) }))
    .filter(({ start, end }) => !start || !end || endsAtOrAfter(end, start, timeZone));

/** Search values may leave out the seconds, or have thousandths. */
const searchValues = (timeZone: string) =>
  fc.oneof(
    dateTexts(timeZone),
    timeTexts,
    timeTexts.map((text) => text.replace(/:\d\d(?=Z|[+-]\d\d:\d\d$)/, '')),
    timeTexts.map((text) => text.replace(/(?=Z$|[+-]\d\d:\d\d$)/, '.500')),
  );

const cases = fc.constantFrom(...TIME_ZONES).chain((timeZone) =>
  fc.record({
    timeZone: fc.constant(timeZone),
    periods: fc.array(periodsIn(timeZone), { minLength: 1, maxLength: 12 }),
    searches: fc.array(
      fc.array(fc.tuple(fc.constantFrom('', 'eq', 'ge', 'le'), searchValues(timeZone)), {
        minLength: 1,
        maxLength: 2,
      }),
      { minLength: 8, maxLength: 12 },
    ),
  }),
);

test('every precision, time zone, prefix and end: what is found is what the calendar says [ENC-17, ENC-18, ENC-19]', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ timeZone, periods, searches }) => {
      const { patientId, ids } = await importVisits(timeZone, periods);
      for (const values of searches) {
        const dates = values.map(([prefix, value]) => prefix + value);
        const found = await search(timeZone, patientId, dates);
        const expected = ids.filter((_, place) =>
          values.every(([prefix, value]) => touches(periods[place] ?? {}, prefix, value, timeZone)),
        );
        assert.deepEqual(found.map(({ id }) => id).sort(), expected.sort(), `date ${dates.join(' and ')}`);
        for (const { id, period: { start, end } = {} } of found)
          assert.deepEqual({ ...(start && { start }), ...(end && { end }) }, periods[ids.indexOf(id)]);
      }
    }),
    { numRuns: sized(20, 60) },
  );
});

function touches({ start, end }: Period, prefix: string, value: string, timeZone: string): boolean {
  if (start === undefined && end === undefined) return false;
  const ends = end === undefined || endsAtOrAfter(end, value, timeZone);
  const starts = start === undefined || startsBeforeTheEndOf(start, value, timeZone);
  if (prefix === 'ge') return ends;
  return prefix === 'le' ? starts : ends && starts;
}

/** `end` as a date is over when its text is past; `begin` stands for its first instant. */
function endsAtOrAfter(end: string, begin: string, timeZone: string): boolean {
  if (isTime(end) && isTime(begin)) return Date.parse(end) >= Date.parse(begin);
  const [ended, began] = sameLength(dayOf(end, timeZone), dayOf(begin, timeZone));
  return ended >= began;
}

function startsBeforeTheEndOf(start: string, value: string, timeZone: string): boolean {
  const last = isTime(value) ? Date.parse(value) + resolutionMs(value) - 1 : undefined;
  if (isTime(start) && last !== undefined) return Date.parse(start) <= last;
  const [started, ended] = sameLength(
    dayOf(start, timeZone),
    last === undefined ? value : dayAt(last, timeZone),
  );
  return started <= ended;
}

function sameLength(a: string, b: string): [string, string] {
  const length = Math.min(a.length, b.length);
  return [a.slice(0, length), b.slice(0, length)];
}

function isTime(text: string): boolean {
  return text.includes('T');
}

/** What an instant is precise to: a minute, a second or a thousandth. */
function resolutionMs(text: string): number {
  if (text.includes('.')) return 1;
  return /T\d\d:\d\d:/.test(text) ? SECOND : 60 * SECOND;
}

/** The calendar day, or the month or year that the text is. */
function dayOf(text: string, timeZone: string): string {
  return isTime(text) ? dayAt(Date.parse(text), timeZone) : text;
}

/** `YYYY-MM-DD` on the calendar of the time zone: the Swedish way to write a date. */
function dayAt(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(at);
}

/** The instant, written with an offset. */
function timeAt(at: number, offset: string): string {
  if (offset === 'Z') return `${new Date(at).toISOString().slice(0, 19)}Z`;
  const [sign, hours, minutes] = [offset[0], Number(offset.slice(1, 3)), Number(offset.slice(4))];
  const shiftMs = (hours * 60 + minutes) * 60 * SECOND * (sign === '-' ? -1 : 1);
  return new Date(at + shiftMs).toISOString().slice(0, 19) + offset;
}
