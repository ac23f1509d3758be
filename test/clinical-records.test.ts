/**
 * Laboratory, imaging and vital signs from import to answer: what comes out conforms to FHIR R4 by outside
 * validators, and equals what went in but for what docs/fhir-mapping.md explains.
 */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createFacility, createOrganisation } from '../src/tenancy/organisations/facilities.ts';
import { createTestDatabase, type TestDatabase } from '../test-support/database/database.ts';
import { type ClinicalCheck, checkClinicalRecords } from '../test-support/fhir/clinical-check.ts';
import { clinicalFaults } from '../test-support/fhir/clinical-conformance.ts';
import { unexplained } from '../test-support/fhir/explained-differences.ts';
import { differences } from '../test-support/fhir/round-trip.ts';
import { VITAL_SIGN_PROFILES } from '../test-support/fhir/vital-sign-profiles.ts';
import { writeGenerated } from '../test-support/records/generated.ts';

const FILES = globSync(new URL('../test-support/records/clinical/*.json', import.meta.url).pathname).sort();

describe('clinical records', () => {
  let database: TestDatabase;
  let check: ClinicalCheck;
  before(async () => {
    database = await createTestDatabase();
    const organisation = await createOrganisation(database.pool, { name: 'Organisation' });
    const organisationId = organisation.id;
    const facility = await createFacility(database.pool, { organisationId, name: 'Facility' });
    const scope = { organisationId, facilityId: facility.id, timeZone: 'Africa/Lagos' };
    check = await checkClinicalRecords(database.pool, scope, FILES);
  });
  after(() => database.drop());

  test('everything is taken, and nothing is left without a place [FETCH-26, IN-5]', () => {
    assert.deepEqual(check.imported.rejected, []);
    assert.deepEqual(check.imported.notKept, []);
    assert.deepEqual(check.imported.unresolved, []);
  });

  test('every resource conforms [HTTP-30]', () => {
    assert.deepEqual(check.faults, []);
    assert.deepEqual(Object.fromEntries(check.emitted), {
      ServiceRequest: 4,
      Observation: 14,
      DiagnosticReport: 2,
      ImagingStudy: 2,
      Encounter: 2,
    });
  });

  test('only what belongs to no order and no set is not shown', () => {
    assert.deepEqual(Object.fromEntries(check.notShown), { Observation: 1 });
  });

  test('what differs from the source is explained [HTTP-29, FETCH-26]', () => {
    assert.deepEqual(unexplained(check.differences.keys()), []);
    assert.ok(check.differences.size > 0);
  });
});

describe('generated records', () => {
  let database: TestDatabase;
  let folder: string;
  let check: ClinicalCheck;
  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'interchange-generated-'));
    const { id: organisationId } = await createOrganisation(database.pool, { name: 'Organisation' });
    const { id: facilityId } = await createFacility(database.pool, { organisationId, name: 'Facility' });
    const scope = { organisationId, facilityId, timeZone: 'UTC' };
    check = await checkClinicalRecords(database.pool, scope, [], await writeGenerated(folder));
  });
  after(async () => {
    await rm(folder, { recursive: true });
    await database.drop();
  });

  test('each is taken, and follows the profile that it claims [FETCH-8, FETCH-9, FETCH-28]', () => {
    assert.deepEqual(check.imported.rejected, []);
    assert.deepEqual(check.faults, []);
    const { Observation: observations = 0, ...others } = Object.fromEntries(check.emitted);
    assert.ok(observations > 100);
    assert.deepEqual(others, { DiagnosticReport: 1, Encounter: 2, ServiceRequest: 12, Specimen: 1 });
  });

  test('what differs from the source is explained [FETCH-26]', () => {
    assert.deepEqual(unexplained(check.differences.keys()), []);
  });
});

describe('the checks themselves', () => {
  const pressure = {
    resourceType: 'Observation',
    id: 'a',
    status: 'final',
    category: [
      {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' },
        ],
      },
    ],
    code: { coding: [{ system: 'http://loinc.org', code: '85354-9' }] },
    subject: { reference: 'Patient/a' },
    effectiveDateTime: '2024-01-01T10:00:00Z',
    component: [
      {
        code: { coding: [{ system: 'http://loinc.org', code: '8480-6' }] },
        valueQuantity: { value: 120, unit: 'mmHg', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
      },
      {
        code: { coding: [{ system: 'http://loinc.org', code: '8462-4' }] },
        valueQuantity: { value: 80, unit: 'mmHg', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
      },
    ],
  };
  const faulty = (change: object) => clinicalFaults(JSON.stringify({ ...pressure, ...change }));

  test('a good blood pressure passes', () => {
    assert.deepEqual(faulty({}), []);
  });

  for (const [name, change, by] of [
    ['a missing status', { status: undefined }, 'validators'],
    ['a status of another resource', { status: 'partial' }, 'validators'],
    ['an effective time without seconds', { effectiveDateTime: '2024-01-01T10:00Z' }, 'schema'],
    ['a month for a time', { effectiveDateTime: '2024-01' }, 'vital signs: vitalsigns: vs-1'],
    ['a missing component', { component: pressure.component.slice(0, 1) }, 'vital signs: bp'],
    ['an empty component', { component: [{ code: { text: 'x' } }] }, 'vital signs: vitalsigns: vs-3'],
    ['neither value nor component', { component: undefined }, 'vital signs: vitalsigns: vs-2'],
    ['a value and a reason without it', { valueString: 'x', dataAbsentReason: { text: 'y' } }, 'obs-6'],
    ['a value on the panel', { valueString: '120/80' }, 'vital signs: bp: has valueString'],
    ['an empty list', { note: [] }, 'validators'],
    ['two vital-signs categories', { category: [...pressure.category, ...pressure.category] }, 'category: 2'],
    ['a range without bounds', { referenceRange: [{ type: { text: 'x' } }] }, 'obs-3'],
  ] as const) {
    test(`${name} does not pass`, () => {
      const faults = faulty(change);
      assert.ok(
        faults.some((fault) => fault.includes(by)),
        faults.join('\n'),
      );
    });
  }

  for (const [name, code, claimed] of [
    ['55284-4, by its components', '55284-4', []],
    ['8331-1, by the profile that it claims', '8331-1', ['http://hl7.org/fhir/StructureDefinition/bodytemp']],
  ] as const)
    test(`a code without the one that its profile fixes does not pass: ${name}`, () => {
      const observation = { ...pressure, code: { coding: [{ system: 'http://loinc.org', code }] } };
      const faults = clinicalFaults(JSON.stringify(observation), claimed);
      assert.ok(
        faults.some((fault) => /code lacks (85354-9|8310-5)/.test(fault)),
        faults.join('\n'),
      );
    });

  test('the table of the profiles is that of their pages', () => {
    const table = [...VITAL_SIGN_PROFILES.values()].map(({ name, code, units, components }) => [
      name,
      code,
      units.join(' '),
      components.map((one) => `${one.code} ${one.units.join(' ')}`).join(', '),
    ]);
    assert.deepEqual(
      table.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
      [
        ['bmi', '39156-5', 'kg/m2', ''],
        ['bodyheight', '8302-2', 'cm [in_i]', ''],
        ['bodytemp', '8310-5', 'Cel [degF]', ''],
        ['bodyweight', '29463-7', 'kg [lb_av] g', ''],
        ['bp', '85354-9', '', '8480-6 mm[Hg], 8462-4 mm[Hg]'],
        ['headcircum', '9843-4', 'cm [in_i]', ''],
        ['heartrate', '8867-4', '/min', ''],
        ['oxygensat', '2708-6', '%', ''],
        ['resprate', '9279-1', '/min', ''],
        ['vitalsigns', undefined, '', ''],
        ['vitalspanel', '85353-1', '', ''],
      ],
    );
  });

  test('a unit that the profile does not allow does not pass', () => {
    const code = { coding: [{ system: 'http://loinc.org', code: '8867-4' }] };
    const valueQuantity = { value: 70, unit: 'bpm', system: 'http://unitsofmeasure.org', code: 'bpm' };
    const faults = faulty({ code, component: undefined, valueQuantity });
    assert.ok(faults.includes('vital signs: valueQuantity: bpm is not one of /min'), faults.join('\n'));
  });

  test('a lost digit, a moved item and a changed code are differences', () => {
    const source = { value: 1.2, coding: [{ code: 'a' }, { code: 'b' }], note: ['x'], left: 1 };
    const answer = { value: 1.3, coding: [{ code: 'b' }, { code: 'a' }], note: ['x', 'y'], more: 1 };
    assert.deepEqual(differences(source, answer, 'R'), [
      { path: 'R.value', kind: 'changed' },
      { path: 'R.coding', kind: 'reordered' },
      { path: 'R.note', kind: 'added' },
      { path: 'R.left', kind: 'left out' },
      { path: 'R.more', kind: 'added' },
    ]);
    assert.deepEqual(unexplained(['changed Observation.status', 'left out Observation.text']), [
      'changed Observation.status',
    ]);
  });
});
