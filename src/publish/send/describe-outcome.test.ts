import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { describeIssues } from './describe-outcome.ts';
import { CAPITALISED_NAMES, KNOWN_WORDS } from './known-words.ts';

const SENT = {
  resourceType: 'Observation',
  id: 'o',
  subject: { reference: 'Patient/p', display: 'Noor Rivers' },
  valueQuantity: { value: 7.25, unit: 'mmol/L' },
  note: [{ text: 'Quokkaitis suspected' }],
};

describe('what a target says about a refusal', () => {
  test('its own words stay, values go [PUB-29]', () => {
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

  const said = (diagnostics: string) =>
    describeIssues([{ severity: 'error', code: 'invalid', diagnostics }], SENT).replace(
      /^error invalid: /,
      '',
    );

  test('names made of ordinary words do not come through, nor do findings', () => {
    const cleaned: [string, string][] = [
      ['Patient Will May not found', 'Patient … not found'],
      ['Patient Max Long already exists', 'Patient … already exists'],
      ['Patient Max Key is expired and must not be updated', 'Patient … is … and must not be updated'],
      ['Condition resolved: An Do', 'Condition …'],
      ['Value Large not allowed for Leukocytes', '… not allowed for …'],
      ['Field Base not found', '… not found'],
      ['No match. Rule, Case: not found', 'No match. …: not found'],
      ['max long already exists', '… already exists'],
      ['Heart failure not allowed', '… not allowed'],
      [
        'HAPI-1094: Resource Patient/123 not found, specified in path: Observation.subject',
        '… Patient/… not found, specified in path: Observation.subject',
      ],
      ['Invalid Observation', 'Invalid Observation'],
    ];
    for (const [told, wanted] of cleaned) assert.equal(said(told), wanted);
  });

  test('no word with a capital comes through but the first one and types, and no digit', () => {
    const known = fc.constantFrom(...KNOWN_WORDS, ...CAPITALISED_NAMES, 'subject', 'valueQuantity');
    const capitalised = known.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
    const word = fc.oneof(
      known,
      capitalised,
      known.map((one) => one.toUpperCase()),
      fc.constantFrom('7.25', '1984-05-01', 'a1', 'value2', 'Noor', 'Ünal', '²', '٣'),
    );
    const text = fc.array(fc.tuple(word, fc.constantFrom(' ', ' ', '. ', ': ', '/', ', ', '-', "' ")), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(text, (parts) => {
        const told = said(parts.flat().join(''));
        assert.doesNotMatch(told, /\p{N}/u);
        const words = told.match(/[\p{L}']+/gu) ?? [];
        const names = words.filter((one) => /^\p{Lu}/u.test(one) && !CAPITALISED_NAMES.has(one));
        assert.ok(names.length === 0 || (names.length === 1 && told.startsWith(names[0] ?? '')), told);
        if (names.length === 1 && words[1] !== undefined && words[1] === parts[1]?.[0])
          assert.ok(!/^\p{Lu}/u.test(words[1]) || CAPITALISED_NAMES.has(words[1]), told);
      }),
      { numRuns: 500 },
    );
  });

  test('whatever a target writes, every word that comes through is on the list or an element of what was sent [PUB-29]', () => {
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
          assert.ok(
            KNOWN_WORDS.has(word.toLowerCase()) ||
              CAPITALISED_NAMES.has(word) ||
              names.has(word) ||
              word === 'at',
            word,
          );
      }),
    );
  });
});
