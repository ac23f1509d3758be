import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FhirServerSettings, IdPolicy, ReferencePolicy } from './fhir-server.ts';
import { checkCapabilities } from './read-capabilities.ts';

const ALL = [
  'Organization',
  'Practitioner',
  'Location',
  'Patient',
  'Encounter',
  'ServiceRequest',
  'Specimen',
  'Observation',
  'ImagingStudy',
  'DiagnosticReport',
];

interface Declared {
  types?: string[];
  conditionalCreate?: boolean;
  updateCreate?: boolean | undefined;
}

function check(idPolicy: IdPolicy, referencePolicy: ReferencePolicy, declared: Declared = {}) {
  const {
    types = ALL,
    conditionalCreate,
    updateCreate,
  } = {
    conditionalCreate: true,
    updateCreate: true,
    ...declared,
  };
  const resource = types.map((type) => ({
    type,
    interaction: ['create', 'update', 'search-type'].map((code) => ({ code })),
    updateCreate,
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
  return checkCapabilities(said, { idPolicy, referencePolicy } as FhirServerSettings);
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
      ['ServiceRequest', 'Specimen', 'Observation', 'ImagingStudy', 'DiagnosticReport'],
    );
  });

  test('what is not declared is advice, of a type that every publish sends too [PUB-54]', () => {
    const { ok, faults, advice } = check('client', 'literal', without('Observation'));
    assert.deepEqual([ok, faults], [true, []]);
    assert.deepEqual(advice, [
      'Observation: the server does not declare that it accepts updates (PUT). Find out with --probe.',
    ]);
  });

  test('a type that only some publishes send is not, and who needs it is said', () => {
    const { ok, faults, advice } = check('server', 'send', without('ImagingStudy', 'Location', 'Specimen'));
    assert.deepEqual([ok, faults], [true, []]);
    assert.match(
      advice.join('\n'),
      /Location, Specimen, ImagingStudy: .* accepts creates \(POST\)\. .* Only encounters with a location and orders with specimens and imaging orders with studies need it/,
    );
  });

  test('ids of ours: not declared is advice, declared as not taken is a fault [PUB-54]', () => {
    const silent = check('client', 'literal', { updateCreate: undefined });
    assert.deepEqual([silent.ok, silent.faults], [true, []]);
    assert.deepEqual(silent.advice, [
      'ServiceRequest, Specimen, Observation, ImagingStudy, DiagnosticReport: the server does not declare that it accepts our ids (updateCreate). Many servers accept them all the same; for one that does not, use --id-policy server. Find out with --probe.',
    ]);
    const refusing = check('client', 'literal', { updateCreate: false });
    assert.deepEqual(
      [refusing.ok, refusing.faults],
      [
        false,
        [
          'ServiceRequest, Specimen, Observation, ImagingStudy, DiagnosticReport: the server declares that it does not accept our ids (updateCreate: false). Use --id-policy server.',
        ],
      ],
    );
    assert.deepEqual(check('server', 'literal', { updateCreate: false }).faults, []);
  });

  test('without conditional create a late create makes a double, which is said', () => {
    const { advice } = check('server', 'literal', { conditionalCreate: false });
    assert.match(advice.join('\n'), /carries out after the time-out makes a duplicate/);
    assert.deepEqual(check('client', 'literal', { conditionalCreate: false }).advice, []);
  });
});
