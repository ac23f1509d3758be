import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { describeIssues } from './describe-outcome.ts';

const said = (...issues: object[]) => describeIssues(issues, 'Observation');

describe('what a FHIR server says about a refusal', () => {
  test('severity, code and element stay; its texts go [PUB-29]', () => {
    const issue = {
      severity: 'error',
      code: 'invalid',
      expression: ['Observation.value.ofType(Quantity)'],
      details: { text: 'Value 7.25 of Noor Rivers is not valid' },
      diagnostics: 'Quokkaitis suspected',
    };
    assert.equal(said(issue), 'error invalid at Observation.value.ofType(Quantity)');
  });

  test('warnings are told only where there is nothing worse', () => {
    const issues = [
      { severity: 'warning', code: 'informational' },
      { severity: 'fatal', code: 'not-found' },
    ];
    assert.equal(said(...issues), 'fatal not-found');
    assert.equal(said(...issues.slice(0, 1)), 'warning informational');
  });

  test('codes and severities that are not of FHIR are not repeated', () => {
    assert.equal(said({ severity: 'Rivers', code: 'Noor' }), 'error');
    assert.equal(said(), '');
  });

  test('at most five are told', () => {
    const many = Array.from({ length: 8 }, () => ({ severity: 'error', code: 'invalid' }));
    assert.match(said(...many), /^(error invalid; ){5}and 3 more$/);
  });

  test('the first path into the resource is told, of the expressions, then of the locations', () => {
    const told = (expression: unknown, location?: unknown) => said({ code: 'value', expression, location });
    assert.equal(told(['Observation.component[2].code']), 'error value at Observation.component[2].code');
    assert.equal(told(undefined, ['Observation.status']), 'error value at Observation.status');
    assert.equal(told(["Observation.note.where(text='Quokkaitis')"]), 'error value at Observation.note');
    assert.equal(told(['Observation.value.7.25']), 'error value at Observation.value');
    assert.equal(told(['Line 3', 'Observation.subject']), 'error value at Observation.subject');
    assert.equal(told(['Observation.note.where(Okafor)']), 'error value at Observation.note');
    assert.equal(told(['Observation.code.okafor.ada']), 'error value at Observation.code');
    for (const path of [
      'Noor Rivers',
      'Observation.okafor.hivPositive',
      'Rivers',
      'Patient.name',
      'Observation.Rivers',
      7,
      null,
    ])
      assert.equal(told([path], path), 'error value', String(path));
  });

  test('whatever a server writes, only codes of FHIR and a path into the resource come through [PUB-29]', () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.lorem(), fc.constant('Observation.note'));
    fc.assert(
      fc.property(text, text, text, text, (severity, code, diagnostics, path) => {
        const told = said({
          severity,
          code,
          diagnostics,
          details: { text: diagnostics },
          expression: [path],
        });
        assert.match(
          told,
          /^(fatal|error|warning|information)( [a-z-]+)?( at Observation[A-Za-z.[\]()0-9]*)?$/,
        );
      }),
    );
  });
});
