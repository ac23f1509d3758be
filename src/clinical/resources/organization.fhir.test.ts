/** What R4 does not let an Organization say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invariantFaults } from '../../../test-support/fhir/fhir-invariants.ts';
import { ID, map } from '../../../test-support/records/mapped-rows.ts';
import { NO_TRANSLATIONS } from '../../terminology/maps/apply-map.ts';
import { emitContext } from '../content/coded-content.ts';
import { resourceObject } from '../description/describe.ts';
import { ORGANIZATION } from './organization.fhir.ts';

test('nothing of an organisation is of use home, which the import counts [HTTP-30]', () => {
  const work = { system: 'phone', value: '1', use: 'work' };
  const given = {
    resourceType: 'Organization',
    name: 'Hospital',
    telecom: [{ system: 'phone', value: '2', use: 'home' }, work],
    address: [{ use: 'home', city: 'Lagos' }, { use: 'home' }],
  };
  assert.deepEqual(invariantFaults(given, 'Organization').sort(), [
    'Organization: org-2',
    'Organization: org-2',
    'Organization: org-3',
  ]);
  const notKept: string[] = [];
  const { row } = map(ORGANIZATION.read, given, notKept);
  assert.deepEqual(notKept, [
    'Organization.telecom.use',
    'Organization.address.use',
    'Organization.address.use',
  ]);
  const record = { ...row.values, id: ID } as never;
  const sent = resourceObject(ORGANIZATION, record, emitContext('o', NO_TRANSLATIONS));
  assert.deepEqual(sent.telecom, [{ system: 'phone', value: '2' }, work]);
  assert.deepEqual(sent.address, [{ city: 'Lagos' }]);
  assert.deepEqual(invariantFaults(sent, 'Organization'), []);
});
