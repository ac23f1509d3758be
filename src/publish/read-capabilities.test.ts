import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkCapabilities } from './read-capabilities.ts';
import type { IdPolicy, ReferencePolicy, TargetSettings } from './target.ts';

const ALL = [
  'Organization',
  'Practitioner',
  'Location',
  'Patient',
  'Encounter',
  'ServiceRequest',
  'Observation',
  'ImagingStudy',
  'DiagnosticReport',
];

interface Declared {
  types?: string[];
  conditionalCreate?: boolean;
}

function check(
  idPolicy: IdPolicy,
  referencePolicy: ReferencePolicy,
  { types = ALL, conditionalCreate = true }: Declared = {},
) {
  const resource = types.map((type) => ({
    type,
    interaction: ['create', 'update', 'search-type'].map((code) => ({ code })),
    updateCreate: true,
    conditionalCreate,
    searchParam: [{ name: 'identifier', type: 'token' }],
  }));
  const statement = {
    resourceType: 'CapabilityStatement',
    fhirVersion: '4.0.1',
    rest: [{ mode: 'server', resource }],
  };
  const answer = { kind: 'answered', status: 200, body: JSON.stringify(statement) } as const;
  const said = { ...answer, retryAfterMs: undefined, etag: undefined, location: undefined };
  return checkCapabilities(said, { idPolicy, referencePolicy } as TargetSettings);
}

const without = (...missing: string[]) => ({ types: ALL.filter((type) => !missing.includes(type)) });

describe('what a CapabilityStatement says about a target', () => {
  test('every type that may be sent is looked at', () => {
    assert.deepEqual(
      check('server', 'send')
        .types.map(({ type }) => type)
        .sort(),
      [...ALL].sort(),
    );
    assert.deepEqual(
      check('client', 'literal').types.map(({ type }) => type),
      ['ServiceRequest', 'Observation', 'ImagingStudy', 'DiagnosticReport'],
    );
  });

  test('a type that every publish sends is needed', () => {
    const { ok, faults } = check('client', 'literal', without('Observation'));
    assert.deepEqual([ok, faults], [false, ['Observation: it takes no update (PUT).']]);
  });

  test('a type that only some publishes send is not, and who needs it is said', () => {
    const { ok, faults, advice } = check('server', 'send', without('ImagingStudy', 'Location'));
    assert.deepEqual([ok, faults], [true, []]);
    assert.match(
      advice.join('\n'),
      /ImagingStudy: it takes no update \(PUT\)\. Only imaging orders with studies/,
    );
    assert.match(
      advice.join('\n'),
      /Location: it takes no create \(POST\)\. Only encounters with a location/,
    );
  });

  test('without conditional create a late create makes a double, which is said', () => {
    const { advice } = check('server', 'literal', { conditionalCreate: false });
    assert.match(advice.join('\n'), /carries out after its time-out makes one all the same/);
    assert.deepEqual(check('client', 'literal', { conditionalCreate: false }).advice, []);
  });
});
