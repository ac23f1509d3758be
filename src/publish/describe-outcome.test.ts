import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { describeIssues } from './describe-outcome.ts';
import { KNOWN_WORDS } from './known-words.ts';

const SENT = {
  resourceType: 'Observation',
  id: 'o',
  subject: { reference: 'Patient/p', display: 'Noor Rivers' },
  valueQuantity: { value: 7.25, unit: 'mmol/L' },
  note: [{ text: 'Quokkaitis suspected' }],
};

describe('what a target says about a refusal', () => {
  test('its own words stay, values go', () => {
    const issue = {
      severity: 'error',
      code: 'invalid',
      expression: ['Observation.value.ofType(Quantity)'],
      diagnostics: 'Value "7.25" in valueQuantity of Noor Rivers is not valid: Quokkaitis suspected',
    };
    assert.equal(
      describeIssues([issue], SENT),
      'error invalid at Observation.value.ofType(Quantity): Value … in valueQuantity of … is not valid: …',
    );
  });

  test('details come before diagnostics, warnings only where there is nothing worse', () => {
    const issues = [
      { severity: 'warning', code: 'informational', diagnostics: 'deprecated' },
      { severity: 'fatal', code: 'not-found', details: { text: 'Resource not found' }, diagnostics: 'stack' },
    ];
    assert.equal(describeIssues(issues, SENT), 'fatal not-found: Resource not found');
    assert.equal(describeIssues(issues.slice(0, 1), SENT), 'warning informational: …');
  });

  test('codes and severities that are not of FHIR are not repeated', () => {
    assert.equal(describeIssues([{ severity: 'Rivers', code: 'Noor' }], SENT), 'error');
    assert.equal(describeIssues([], SENT), '');
  });

  test('at most five are told', () => {
    const many = Array.from({ length: 8 }, () => ({ severity: 'error', code: 'invalid' }));
    assert.match(describeIssues(many, SENT), /^(error invalid; ){5}and 3 more$/);
  });

  test('whatever a target writes, every word that comes through is on the list or an element of what was sent', () => {
    const names = new Set([
      'Observation',
      'resourceType',
      'id',
      'subject',
      'reference',
      'display',
      'valueQuantity',
    ]);
    for (const name of ['value', 'unit', 'note', 'text']) names.add(name);
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.lorem(),
      fc.constant("it's 'Noor' \"7.25"),
    );
    fc.assert(
      fc.property(text, text, text, (diagnostics, details, path) => {
        const said = describeIssues(
          [{ severity: 'error', code: 'value', diagnostics, details: { text: details }, expression: [path] }],
          SENT,
        );
        for (const word of said.replace(/^error value/, '').match(/[\p{L}\p{N}_'’]+/gu) ?? [])
          assert.ok(KNOWN_WORDS.has(word.toLowerCase()) || names.has(word) || word === 'at', word);
      }),
    );
  });
});
