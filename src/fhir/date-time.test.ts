import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isTimeZone, parseDateTime } from './date-time.ts';

const ZONES = [
  'UTC',
  'Africa/Lagos',
  'America/New_York',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'America/Sao_Paulo',
];

function span(text: string, zone = 'UTC'): [string, string] | undefined {
  const parsed = parseDateTime(text);
  if (parsed === undefined) return undefined;
  const { start, end } = parsed.span(zone);
  return [start.toISOString(), end.toISOString()];
}

describe('parseDateTime', () => {
  test('stands for the whole of its precision', () => {
    assert.deepEqual(span('2026'), ['2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z']);
    assert.deepEqual(span('2026-02'), ['2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z']);
    assert.deepEqual(span('2024-02-29'), ['2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z']);
    assert.deepEqual(span('2026-03-01T10:20Z'), ['2026-03-01T10:20:00.000Z', '2026-03-01T10:21:00.000Z']);
    assert.deepEqual(span('2026-03-01T10:20:30Z'), ['2026-03-01T10:20:30.000Z', '2026-03-01T10:20:31.000Z']);
    assert.deepEqual(span('2026-03-01T10:20:30.5Z'), [
      '2026-03-01T10:20:30.500Z',
      '2026-03-01T10:20:30.501Z',
    ]);
    assert.deepEqual(span('2026-03-01T10:20:30+05:45'), [
      '2026-03-01T04:35:30.000Z',
      '2026-03-01T04:35:31.000Z',
    ]);
    assert.deepEqual(span('9999-12-31'), ['9999-12-31T00:00:00.000Z', '+010000-01-01T00:00:00.000Z']);
  });

  test('takes a leap second, which begins when the second before it ends', () => {
    assert.deepEqual(span('2016-12-31T23:59:60Z'), ['2017-01-01T00:00:00.000Z', '2017-01-01T00:00:01.000Z']);
    assert.deepEqual(span('2017-01-01T00:59:60.5+01:00'), [
      '2017-01-01T00:00:00.500Z',
      '2017-01-01T00:00:00.501Z',
    ]);
    assert.equal(parseDateTime('2016-12-31T23:59:60Z')?.text, '2016-12-31T23:59:60Z');
  });

  test('names its precision and keeps its text', () => {
    for (const [text, precision] of [
      ['2026', 'year'],
      ['2026-03', 'month'],
      ['2026-03-01', 'day'],
      ['2026-03-01T10:20:30.123456789-03:00', 'time'],
      ['2026-03-01T10:20:30.1234567890123-03:00', 'time'],
    ] as const)
      assert.deepEqual([parseDateTime(text)?.text, parseDateTime(text)?.precision], [text, precision]);
  });

  test('takes days in the zone that it is given, over changes of the clock', () => {
    assert.deepEqual(span('2026-03-01', 'Africa/Lagos'), [
      '2026-02-28T23:00:00.000Z',
      '2026-03-01T23:00:00.000Z',
    ]);
    assert.deepEqual(span('2026-03-08', 'America/New_York'), [
      '2026-03-08T05:00:00.000Z',
      '2026-03-09T04:00:00.000Z',
    ]);
    assert.deepEqual(span('2026-11-01', 'America/New_York'), [
      '2026-11-01T04:00:00.000Z',
      '2026-11-02T05:00:00.000Z',
    ]);
    // Midnight did not exist on this day; it began at one.
    assert.deepEqual(span('2018-11-04', 'America/Sao_Paulo'), [
      '2018-11-04T03:00:00.000Z',
      '2018-11-05T02:00:00.000Z',
    ]);
  });

  test('does not let the zone touch what has one', () => {
    for (const zone of ZONES)
      assert.deepEqual(span('2026-03-01T10:20:30+01:00', zone), span('2026-03-01T10:20:30+01:00'));
  });

  test('joins days, months and years without gap or overlap in every zone', () => {
    const day = fc.date({ min: new Date('1900-01-02'), max: new Date('2200-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(day, fc.constantFrom(...ZONES), (date, zone) => {
        const text = date.toISOString().slice(0, 10);
        const next = new Date(date.getTime() + 86_400_000).toISOString().slice(0, 10);
        const [today, tomorrow] = [parseDateTime(text)?.span(zone), parseDateTime(next)?.span(zone)];
        assert.deepEqual(today?.end, tomorrow?.start);
        assert.ok((today?.start ?? 0) <= (today?.end ?? 0));
        const month = parseDateTime(text.slice(0, 7))?.span(zone);
        const year = parseDateTime(text.slice(0, 4))?.span(zone);
        assert.ok(month && year && today);
        assert.ok(year.start <= month.start && month.start <= today.start);
        assert.ok(today.end <= month.end && month.end <= year.end);
      }),
    );
  });

  test('reads every instant that it writes', () => {
    fc.assert(
      fc.property(
        fc.date({
          min: new Date('0001-01-01T00:00:00Z'),
          max: new Date('9999-12-31T23:59:59.999Z'),
          noInvalidDate: true,
        }),
        (date) => assert.deepEqual(parseDateTime(date.toISOString())?.span('UTC').start, date),
      ),
    );
  });

  test('refuses everything else', () => {
    const refused = [
      ...[
        '',
        ' ',
        '26',
        '02026',
        '0000',
        '2026-',
        '2026-1',
        '2026-00',
        '2026-13',
        '2026-02-30',
        '2025-02-29',
      ],
      ...[
        '2026-01-32',
        '2026-01-00',
        '2026/01/01',
        '20260101',
        '2026-01-01T',
        '2026-01-01T10',
        '2026-01-01T10Z',
      ],
      ...['2026-01-01T10:20', '2026-01-01T10:20:30', '2026-01-01T24:00:00Z', '2026-01-01T10:60:00Z'],
      ...[
        '2026-01-01T10:20:61Z',
        '2026-01-01T10:20:30.Z',
        '2026-01-01T10:20:30+15:00',
        '2026-01-01T10:20:30+14:01',
      ],
      ...[
        '2026-01-01T10:20:30+01:60',
        '2026-01-01T10:20:30+0100',
        '2026-01-01T10:20:30 01:00',
        '2026-01-01t10:20:30z',
      ],
      ...[
        '2026-01-01 10:20:30Z',
        ' 2026-01-01',
        '2026-01-01 ',
        '2026-01-01\n',
        '-2026',
        '+2026',
        '２０２６',
        'ge2026',
      ],
    ];
    for (const text of refused) assert.equal(parseDateTime(text), undefined, text);
  });

  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^\d{4}(-\d{2}){0,2}(T\d{2}:\d{2}(:\d{2})?Z)?$/)),
        (text) => {
          parseDateTime(text)?.span('Africa/Lagos');
        },
      ),
    );
  });
});

describe('isTimeZone', () => {
  test('knows zones of the IANA database [ADM-21]', () => {
    for (const zone of ZONES) assert.equal(isTimeZone(zone), true, zone);
    for (const zone of ['', 'Mars/Base', 'Lagos', 'UTC+25', "'; drop", '+01:00', 'SystemV/EST5'])
      assert.equal(isTimeZone(zone), false, zone);
  });

  test('every zone that it knows has days', () => {
    const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC', 'EST', 'US/Eastern', 'Etc/GMT+5'];
    for (const zone of zones) {
      assert.equal(isTimeZone(zone), true, zone);
      assert.ok(parseDateTime('2026-03-01')?.span(zone), zone);
    }
  });
});
