/** What an import of clinical records refuses, and what it counts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { useTestDatabase } from '../../../../test-support/database/database.ts';
import { countsOf, EMPTY_REPORT, lines } from '../../../../test-support/records/import.ts';
import { importJson } from '../../../../test-support/records/import-files.ts';
import { createFacility, createOrganisation } from '../../../tenancy/organisations/facilities.ts';
import { facilityRecordId, recordId } from '../resolve/record-id.ts';

const observation = (more: object) => ({
  resourceType: 'Observation',
  id: 'o1',
  status: 'final',
  code: { text: 'Test' },
  subject: { reference: 'Patient/p1' },
  ...more,
});
const report = (more: object) => ({
  resourceType: 'DiagnosticReport',
  id: 'r1',
  status: 'final',
  code: { text: 'Report' },
  subject: { reference: 'Patient/p1' },
  ...more,
});

const BESIDE_A_VALUE =
  'is there beside a value, which FHIR R4 forbids (invariant obs-6). Send one of them, the value or the reason';
const MASKED = {
  coding: [{ system: 'http://terminology.hl7.org/CodeSystem/data-absent-reason', code: 'masked' }],
};

const database = await useTestDatabase();
const organisation = await createOrganisation(database.pool, { name: 'Organisation' });
const facility = await createFacility(database.pool, { organisationId: organisation.id, name: 'F' });
const tenant = { organisationId: organisation.id, facilityId: facility.id };
await importJson(database.pool, tenant, '{"resourceType":"Patient","id":"p1"}');

describe('clinical records that are refused', () => {
  const idHere = (id: string) => facilityRecordId(tenant.facilityId, recordId('Observation', id));

  const reasonOf = async (resource: object): Promise<string | undefined> => {
    const { rejected } = await importJson(database.pool, tenant, JSON.stringify(resource));
    return rejected[0]?.reason;
  };

  test('a value beside a component that has the code of the Observation [HTTP-30]', async () => {
    const coding = { system: 'http://loinc.org', code: '2951-2' };
    const same = {
      coding: [
        { system: 'urn:lab', code: 'NA' },
        { ...coding, display: 'Sodium' },
      ],
    };
    const doubled = (more: object) =>
      observation({
        id: 'o7',
        code: { coding: [coding] },
        component: [{ code: same, valueString: 'x' }],
        ...more,
      });
    assert.equal(
      await reasonOf(doubled({ valueString: 'y' })),
      'Observation.value[x] is there beside a component with the code of the Observation, which FHIR R4 forbids (invariant obs-7). Send the value once',
    );
    assert.equal(await reasonOf(doubled({})), undefined);
    const rate = (code: string) => ({
      coding: [{ system: 'http://loinc.org', code, display: 'Heart rate' }],
    });
    const heartRate = [{ code: rate('8867-4'), valueQuantity: { value: 71, unit: '/min' } }];
    const byOximetry = { code: rate('8889-8'), component: heartRate };
    assert.match(
      (await reasonOf(doubled({ ...byOximetry, valueQuantity: { value: 70, unit: '/min' } }))) ?? 'taken',
      /^Observation\.value\[x\] is there beside a component with the code of the Observation/,
    );
    assert.equal(await reasonOf(doubled(byOximetry)), undefined);
    const textAlone = { text: 'Sodium' };
    const component = [{ code: textAlone, valueString: 'x' }];
    assert.equal(await reasonOf(doubled({ code: textAlone, component, valueString: 'y' })), undefined);
  });

  test('a value with a reason why it is missing [IN-33]', async () => {
    const both = { valueQuantity: { value: 0, unit: 'g/dL' }, dataAbsentReason: MASKED };
    const resources = [
      observation(both),
      observation({ id: 'o2', component: [{ code: { text: 'x' }, ...both }] }),
      observation({ id: 'o3', valueString: 'x', dataAbsentReason: MASKED }),
      observation({ id: 'o4', dataAbsentReason: MASKED }),
    ];
    const rejected = ['dataAbsentReason', 'component.dataAbsentReason', 'dataAbsentReason'];
    assert.deepEqual(await importJson(database.pool, tenant, lines(resources)), {
      ...EMPTY_REPORT,
      files: 1,
      resources: { Observation: 1 },
      rejected: rejected.map((path, index) => ({
        file: 'source 1',
        entry: index + 1,
        resourceType: 'Observation',
        reason: `Observation.${path} ${BESIDE_A_VALUE}`,
      })),
      rejectedCount: 3,
      notKept: [{ element: 'Observation.id', count: 1, file: 'source 1', entry: 4 }],
    });
  });

  for (const [name, resource, reason] of [
    [
      'an unknown patient',
      observation({ subject: { reference: 'Patient/p2' } }),
      /subject refers to a Patient that is neither/,
    ],
    [
      'a group as subject',
      observation({ subject: { reference: 'Group/g' } }),
      /subject does not refer to a Patient/,
    ],
    ['no subject', observation({ subject: undefined }), /Observation\.subject is missing/],
    ['no code', observation({ code: undefined }), /Observation\.code is missing/],
    [
      'a status of another resource',
      observation({ status: 'partial' }),
      /Observation\.status is not one of registered/,
    ],
    [
      'two values',
      observation({ valueString: 'x', valueBoolean: true }),
      /value\[x\] is given with more than one type/,
    ],
    ['a value type that R4 has not', observation({ valueAttachment: {} }), /valueAttachment has a type/],
    [
      'a quantity without a number',
      observation({ valueQuantity: { unit: 'mg' } }),
      /valueQuantity\.value is missing/,
    ],
    [
      'a comparator that is none',
      observation({ valueQuantity: { value: 1, comparator: '~' } }),
      /comparator is not one of/,
    ],
    [
      'a range of values upside down',
      observation({ valueRange: { low: { value: 2 }, high: { value: 1 } } }),
      /^Observation\.valueRange\.low is greater than high \(R4 invariant rng-2\)$/,
    ],
    [
      'a range of values upside down whose bounds name one unit in two ways',
      observation({
        valueRange: {
          low: { value: 10, unit: 'mg/dL' },
          high: { value: 5, system: 'http://unitsofmeasure.org', code: 'mg/dL', unit: 'mg/dL' },
        },
      }),
      /^Observation\.valueRange\.low is greater than high \(R4 invariant rng-2\)$/,
    ],
    [
      'a note with two authors',
      observation({ note: [{ text: 'x', authorString: 'a', authorReference: { display: 'b' } }] }),
      /^Observation\.note\.author\[x\] is given with more than one type$/,
    ],
    [
      'details of an order without a code',
      {
        ...observation({ resourceType: 'ServiceRequest', status: 'active', code: undefined }),
        intent: 'order',
        orderDetail: [{ text: 'x' }],
      },
      /^ServiceRequest\.code is missing, but orderDetail is given$/,
    ],
    [
      'details of an order whose code has nothing that is kept',
      {
        ...observation({ resourceType: 'ServiceRequest', status: 'active' }),
        code: { coding: [{ extension: [{ url: 'urn:x', valueString: 'x' }] }] },
        intent: 'order',
        orderDetail: [{ text: 'x' }],
      },
      /^ServiceRequest\.code is missing, but orderDetail is given$/,
    ],
    [
      'the UID of a series in the form of STU3',
      {
        ...observation({ resourceType: 'ImagingStudy', status: 'available', code: undefined }),
        series: [{ uid: 'urn:oid:1.2.3', modality: { code: 'CT' } }],
      },
      /^ImagingStudy\.series\.uid is not a FHIR id: 1 to 64 letters, digits, - and \.$/,
    ],
    ['a number as text', observation({ valueQuantity: { value: '1' } }), /value is not a number/],
    [
      'a unit that is too long',
      observation({ valueQuantity: { value: 1, unit: 'a'.repeat(201) } }),
      /^Observation\.valueQuantity\.unit is longer than the limit of 200 characters$/,
    ],
    [
      'more digits than can be measured',
      observation({ valueQuantity: { value: JSON.rawJSON('1'.repeat(301)) } }),
      /^Observation\.valueQuantity\.value has more than 300 digits$/,
    ],
    [
      'an exponent that means as many digits',
      observation({ component: [{ code: { text: 'x' }, valueQuantity: { value: JSON.rawJSON('1e-300') } }] }),
      /^Observation\.component\.valueQuantity\.value has more than 300 digits$/,
    ],
    [
      'a place with more digits than can be stored',
      {
        resourceType: 'Location',
        id: 'l',
        position: { longitude: 1, latitude: JSON.rawJSON(`1${'0'.repeat(140_000)}`) },
      },
      /^Location\.position\.latitude has more than 300 digits$/,
    ],
    [
      'a time without a zone',
      observation({ effectiveDateTime: '2024-01-01T10:00:00' }),
      /effectiveDateTime is not a FHIR dateTime/,
    ],
    ['an issued date', observation({ issued: '2024-01-01' }), /issued is not a FHIR instant/],
    [
      'a range without bounds',
      observation({ referenceRange: [{ type: { text: 'x' } }] }),
      /referenceRange has no low, no high and no text/,
    ],
    [
      'a component without a code',
      observation({ component: [{ valueString: 'x' }] }),
      /component\.code is missing/,
    ],
    [
      'an order without intent',
      { resourceType: 'ServiceRequest', id: 's', status: 'active', subject: { reference: 'Patient/p1' } },
      /intent is missing/,
    ],
    [
      'a document that is too large',
      report({ presentedForm: [{ contentType: 'text/plain', data: 'AAAA'.repeat(3_500_000) }] }),
      /presentedForm\.data is larger than 10 MiB/,
    ],
    [
      'too many documents',
      report({
        presentedForm: Array.from({ length: 17 }, () => ({ contentType: 'text/plain', data: 'AAAA' })),
      }),
      /more than 16 documents/,
    ],
    [
      'a document that is no base64',
      report({ presentedForm: [{ contentType: 'application/pdf', data: '####' }] }),
      /presentedForm\.data is not base64/,
    ],
    [
      'a series without modality',
      {
        resourceType: 'ImagingStudy',
        id: 'i',
        status: 'available',
        subject: { reference: 'Patient/p1' },
        series: [{ uid: '1' }],
      },
      /series\.modality is missing/,
    ],
  ] as const)
    test(`${name}: with the element and the reason, never the value`, async () => {
      assert.match((await reasonOf(resource)) ?? 'taken', reason);
    });

  test('the largest and smallest numbers of HL7’s example of decimals are taken [TERM-22]', async () => {
    for (const [index, text] of ['1.000000000000000000E-245', '-1.000000000000000000E+245'].entries()) {
      const source = observation({ id: `d${index}`, valueQuantity: { value: JSON.rawJSON(text) } });
      assert.equal(await reasonOf(source), undefined);
    }
    const { rows } = await database.pool.query<{ digits: number }>({
      text: `select length(replace(ltrim(value_number::text, '-'), '.', '')) as digits from observation
        where organisation_id = $1 and value_number is not null and id = any($2::uuid[]) order by 1`,
      values: [tenant.organisationId, [idHere('d0'), idHere('d1')]],
    });
    assert.deepEqual(
      rows.map(({ digits }) => digits),
      [246, 264],
    );
  });

  test('a document of another type is counted, and the report is taken without it', async () => {
    const source = report({ id: 'r9', presentedForm: [{ contentType: 'image/png', data: 'AAAA' }] });
    const { rejected, notKept } = await importJson(database.pool, tenant, JSON.stringify(source));
    assert.deepEqual(rejected, []);
    assert.equal(countsOf(notKept)['DiagnosticReport.presentedForm'], 1);
  });

  test('a category whose system has the name of a member of every object is a category like any other', async () => {
    for (const system of ['constructor', '__proto__']) {
      const source = report({ id: 'r10', category: [{ coding: [{ system, code: 'LAB' }] }] });
      assert.deepEqual((await importJson(database.pool, tenant, JSON.stringify(source))).rejected, []);
    }
  });

  test('a bound of a reference range with a comparator, which R4 does not have there, is counted and left out', async () => {
    const high = { value: 5, unit: 'mg', comparator: '<' };
    const source = observation({ id: 'o10', referenceRange: [{ low: { value: 1 }, high }, { high }] });
    const { rejected, notKept } = await importJson(database.pool, tenant, JSON.stringify(source));
    assert.deepEqual(rejected, []);
    assert.equal(countsOf(notKept)['Observation.referenceRange.high.value'], 2);
    const { rows } = await database.pool.query({
      text: 'select rendered from observation where organisation_id = $1 and id = $2',
      values: [tenant.organisationId, idHere('o10')],
    });
    assert.match(rows[0].rendered, /"referenceRange":\[\{"low":\{"value":1\}\}\]/);
  });

  test('what has no place is counted by path; a reference that leads nowhere is counted as unresolved', async () => {
    const source = observation({
      id: 'o9',
      text: { status: 'empty', div: '<div/>' },
      extension: [{ url: 'https://x.example' }],
      performer: [{ reference: 'Practitioner/nobody' }],
      valueQuantity: { value: 1, unit: 'mg', extension: [{ url: 'https://x.example' }] },
    });
    const { notKept, unresolved } = await importJson(database.pool, tenant, JSON.stringify(source));
    assert.deepEqual(countsOf(notKept), {
      'Observation.text': 1,
      'Observation.extension': 1,
      'Observation.valueQuantity.extension': 1,
      'Observation.id': 1,
    });
    assert.deepEqual(countsOf(unresolved), { 'Observation.performer': 1 });
  });

  test('what somebody did who is not named is counted: R4 asks for who it was [IN-7]', async () => {
    const series = { uid: '1.2.3', modality: { code: 'CT' }, performer: [{ function: { text: 'read' } }] };
    const study = {
      ...observation({ id: 'i1', status: 'available' }),
      resourceType: 'ImagingStudy',
      series: [series],
    };
    const { notKept } = await importJson(
      database.pool,
      tenant,
      JSON.stringify({ ...study, code: undefined }),
    );
    assert.deepEqual(countsOf(notKept), { 'ImagingStudy.id': 1, 'ImagingStudy.series.performer': 1 });
  });

  test('identifiers in references are not lost silently: beside a reference, and without a system', async () => {
    const identifier = { system: 'urn:x', value: '1' };
    const source = observation({
      id: 'o10',
      subject: { reference: 'Patient/p1', identifier },
      focus: [{ reference: 'Patient/p1', identifier }],
      specimen: { identifier: { value: 'tube 7' } },
    });
    const { notKept, unresolved } = await importJson(database.pool, tenant, JSON.stringify(source));
    assert.deepEqual(countsOf(notKept), {
      'Observation.focus.identifier': 1,
      'Observation.id': 1,
      'Observation.subject.identifier': 1,
    });
    assert.deepEqual(countsOf(unresolved), { 'Observation.specimen': 1 });
    const { rows } = await database.pool.query({
      text: 'select specimen from observation where organisation_id = $1 and id = $2',
      values: [tenant.organisationId, idHere('o10')],
    });
    assert.deepEqual(rows, [{ specimen: { display: 'tube 7' } }]);
  });

  test('a bad result refuses its whole Bundle; nothing of it is written', async () => {
    const bundle = {
      resourceType: 'Bundle',
      type: 'batch',
      entry: [
        { resource: observation({ id: 'good' }) },
        { resource: observation({ id: 'bad', status: 'x' }) },
      ],
    };
    const { rejected, resources } = await importJson(database.pool, tenant, JSON.stringify(bundle));
    assert.deepEqual(
      rejected.map(({ entry, resourceType }) => [entry, resourceType]),
      [[2, 'Observation']],
    );
    assert.deepEqual(resources, {});
  });
});
