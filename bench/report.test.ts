import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asMarkdown, asText } from './report.ts';

const ROWS = [
  { what: 'Encounter read', measured: '10,100/s', reached: '0.77 of (a)', aim: '1.0 of (a)' },
  { what: 'Again | anew', measured: '5/s', reached: '', aim: '' },
];

test('the table as text has aligned columns', () => {
  assert.equal(
    asText(ROWS),
    [
      'What             Measured   Reached       Aim',
      'Encounter read   10,100/s   0.77 of (a)   1.0 of (a)',
      'Again | anew     5/s',
    ].join('\n'),
  );
});

test('the table as Markdown', () => {
  assert.equal(
    asMarkdown(ROWS),
    [
      '| What | Measured | Reached | Aim |',
      '|---|---|---|---|',
      '| Encounter read | 10,100/s | 0.77 of (a) | 1.0 of (a) |',
      '| Again \\| anew | 5/s |  |  |',
    ].join('\n'),
  );
});
