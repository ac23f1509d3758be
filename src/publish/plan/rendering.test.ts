import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { IdPolicy, ReferencePolicy } from '../servers/fhir-server.ts';
import { createRendering, unknownReferences } from './rendering.ts';

const ORGANISATION = '7d0f3a52-7c55-4a0e-9c3e-0d5f4a1d2b11';
const patient = { resourceType: 'Patient', id: 'p' };
const pulse = {
  resourceType: 'Observation',
  id: 'o',
  subject: { reference: 'Patient/p' },
  performer: [{ reference: 'Practitioner/d' }],
  derivedFrom: [{ reference: 'Observation/elsewhere' }],
};

const rendering = (idPolicy: IdPolicy, referencePolicy: ReferencePolicy) =>
  createRendering({
    resources: [pulse],
    referenced: {
      records: referencePolicy === 'literal' ? [] : [patient],
      withheld: new Map(),
      otherPatients: new Map(),
    },
    organisationId: ORGANISATION,
    server: { idPolicy, referencePolicy },
  });

describe('references that cannot be followed at the target', () => {
  test('send: what is not on record here', () => {
    assert.deepEqual(unknownReferences(rendering('client', 'send'), pulse), [
      'Practitioner/d',
      'Observation/elsewhere',
    ]);
  });

  test('ids by the server: a result that was never published there', () => {
    assert.deepEqual(unknownReferences(rendering('server', 'literal'), pulse), ['Observation/elsewhere']);
  });

  test('none once the target is known to hold it, nor where the operator says that it does', () => {
    const sent = rendering('server', 'literal');
    sent.known.set('Observation/elsewhere', '77');
    assert.deepEqual(unknownReferences(sent, pulse), []);
    assert.deepEqual(unknownReferences(rendering('client', 'literal'), pulse), []);
  });
});
