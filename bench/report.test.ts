import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asMarkdown, asText, whatWasMeasured } from './report.ts';

const ROWS = [
  {
    part: 'encounters',
    what: 'Encounter read',
    measured: '10,100/s',
    reached: '0.77 of (a)',
    aim: '1.0 of (a)',
  },
  { part: 'lab', what: 'Again | anew', measured: '5/s', reached: '', aim: '' },
];

test('the table as text has aligned columns', () => {
  assert.equal(
    asText(ROWS),
    [
      'Part         What             Aim          Reached       Measured',
      'encounters   Encounter read   1.0 of (a)   0.77 of (a)   10,100/s',
      'lab          Again | anew                                5/s',
    ].join('\n'),
  );
});

test('the line above the table says what was measured', () => {
  const measured = { rounds: 3, records: 1_000_000, quick: false };
  assert.equal(whatWasMeasured(measured), 'Medians of 3 rounds, 1000000 patients and encounters');
  assert.equal(
    whatWasMeasured({ rounds: 1, records: 20_000, quick: true }),
    'Medians of 1 round, 20000 patients and encounters, quick',
  );
});

test('the table as Markdown', () => {
  assert.equal(
    asMarkdown(ROWS),
    [
      '| Part | What | Aim | Reached | Measured |',
      '|---|---|---|---|---|',
      '| encounters | Encounter read | 1.0 of (a) | 0.77 of (a) | 10,100/s |',
      '| lab | Again \\| anew |  |  | 5/s |',
    ].join('\n'),
  );
});
