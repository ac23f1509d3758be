/** Words of both catalogues for what the service names by a code. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONNECTION_TEST_RESULTS } from '../../../src/exchange/connection-tests/connection-test.schema.ts';
import { ACCESS_ACTIONS } from '../../../src/privacy/access-log/access-log.ts';
import { PLANNED_FAULTS } from '../../../src/publish/publish.schema.ts';
import { PERMISSIONS } from '../../../src/tenancy/roles/permissions.ts';
import { en } from './en.ts';
import { fr } from './fr.ts';

/** The codes below a part of a catalogue, with their words. */
function wordsBelow(part: object, path: readonly string[] = []): [code: string, words: string][] {
  return Object.entries(part).flatMap(([name, below]: [string, unknown]) =>
    typeof below === 'string'
      ? [[[...path, name].join('.'), below] as [string, string]]
      : wordsBelow(below as object, [...path, name]),
  );
}

const codesOf = (part: object) => wordsBelow(part).map(([code]) => code);

for (const [language, catalogue] of Object.entries({ en, fr }))
  test(`every permission, fault, result and access of the service has its words, and no other has: ${language} [WEB-67]`, () => {
    const { patient, permissions, publishing, exchangeConnections } = catalogue;
    assert.deepEqual(codesOf(permissions).sort(), Object.keys(PERMISSIONS).sort());
    assert.deepEqual(codesOf(publishing.faults).sort(), [...PLANNED_FAULTS].sort());
    assert.deepEqual(codesOf(exchangeConnections.testResults).sort(), [...CONNECTION_TEST_RESULTS].sort());
    assert.deepEqual(codesOf(patient.actions).sort(), [...ACCESS_ACTIONS].sort());
    assert.ok(wordsBelow(permissions).every(([, words]) => /^\p{Lu}/u.test(words)));
  });

test('the words of permissions are others in French [WEB-67]', () => {
  const english = new Map(wordsBelow(en.permissions));
  for (const [code, words] of wordsBelow(fr.permissions)) assert.notEqual(words, english.get(code), code);
});
