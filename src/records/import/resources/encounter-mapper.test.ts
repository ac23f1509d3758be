import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { bundle } from '../../../../test-support/records/clinic.ts';
import { countsOf, useImportTest } from '../../../../test-support/records/import.ts';
import { coded, ID, map, TARGET } from '../../../../test-support/records/mapped-rows.ts';
import { ENCOUNTER } from '../../../clinical/resources/encounter.fhir.ts';

const t = await useImportTest();

const VISIT = {
  resourceType: 'Encounter',
  id: 'e1',
  status: 'finished',
  class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'IMP', display: 'inpatient' },
  subject: { reference: 'Patient/t' },
};

test('Encounter, every element that the model has [IN-5]', () => {
  const { row, unread } = map(ENCOUNTER.read, {
    ...VISIT,
    identifier: [
      { use: 'official', system: 'urn:v', value: '7' },
      { system: 'urn:v', value: '7' },
      { value: 'no system' },
    ],
    type: [coded('t')],
    priority: coded('p'),
    participant: [
      {
        type: [coded('ATND')],
        individual: { reference: 'Practitioner/t', display: 'Dr. A' },
        period: { start: '2024-01-01', end: '2024-01-02' },
      },
      { individual: { reference: 'RelatedPerson/9', display: 'A friend' } },
    ],
    period: { start: '2024-01-01T08:00:00+01:00', end: '2024-01-03' },
    reasonCode: [coded('r')],
    hospitalization: { dischargeDisposition: coded('home') },
    location: [
      {
        location: { reference: 'Location/t', display: 'Ward' },
        status: 'completed',
        period: { start: '2024' },
      },
    ],
    serviceProvider: { reference: 'Organization/t', display: 'Hospital' },
  });
  assert.deepEqual(unread, []);
  assert.deepEqual(row, {
    id: ID,
    values: {
      patient_id: TARGET,
      status: 'finished',
      class_code: 'IMP',
      class_display: 'inpatient',
      period_start: '2024-01-01T07:00:00.000Z',
      // The end of that day in Lagos, which is an hour ahead of UTC.
      period_end: '2024-01-03T23:00:00.000Z',
      period_start_source: '2024-01-01T08:00:00+01:00',
      period_end_source: '2024-01-03',
      sort_start: '2024-01-01T07:00:00.000Z',
      identifier: [
        { use: 'official', system: 'urn:v', value: '7' },
        { system: 'urn:v', value: '7' },
        { value: 'no system' },
      ],
      type: [coded('t')],
      priority: coded('p'),
      reason_code: [coded('r')],
      discharge_disposition: coded('home'),
      service_provider_id: TARGET,
      service_provider_display: 'Hospital',
    },
    children: {
      encounter_participant: [
        {
          position: 0,
          practitioner_id: TARGET,
          display: 'Dr. A',
          type: [coded('ATND')],
          period_start: '2024-01-01',
          period_end: '2024-01-02',
        },
        { position: 1, display: 'A friend' },
      ],
      encounter_location: [
        { position: 0, location_id: TARGET, display: 'Ward', status: 'completed', period_start: '2024' },
      ],
      encounter_identifier: [{ position: 0, system: 'urn:v', value: '7' }],
    },
  });
});

test('Encounter, the least that it may have', () => {
  const { row } = map(ENCOUNTER.read, VISIT);
  assert.deepEqual(row.values, {
    patient_id: TARGET,
    status: 'finished',
    class_code: 'IMP',
    class_display: 'inpatient',
    sort_start: '-infinity',
  });
});

test('a service provider who is only a name is counted: the answer refers to the organisation of the facility [ENC-6, IN-7]', async () => {
  const [patient, hospital] = [randomUUID(), randomUUID()];
  const visit = (serviceProvider: object) => ({
    ...VISIT,
    id: randomUUID(),
    subject: { reference: `Patient/${patient}` },
    serviceProvider,
  });
  const reference = `Organization/${hospital}`;
  await t.run([{ resourceType: 'Patient', id: patient }]);
  const named = await t.run([visit({ display: 'Hill Clinic' })]);
  assert.deepEqual(
    [countsOf(named.notKept), countsOf(named.unresolved)],
    [{ 'Encounter.serviceProvider': 1 }, {}],
  );
  const missing = await t.run([visit({ reference, display: 'Hill Clinic' })]);
  assert.deepEqual(
    [countsOf(missing.notKept), countsOf(missing.unresolved)],
    [{}, { 'Encounter.serviceProvider': 1 }],
  );
  // It comes with a later file of the same import.
  const found = await t.run([
    visit({ reference, display: 'Hill Clinic' }),
    { resourceType: 'Organization', id: hospital },
  ]);
  assert.deepEqual([found.notKept, found.unresolved], [[], []]);
});

test('Encounter periods are instants in the time zone of the facility', () => {
  const instants = (period: object) => {
    const { values } = map(ENCOUNTER.read, { ...VISIT, period }).row;
    return [values.period_start, values.period_end];
  };
  assert.deepEqual(instants({ start: '2024-01-01' }), ['2023-12-31T23:00:00.000Z', undefined]);
  assert.deepEqual(instants({ start: '2024', end: '2024' }), [
    '2023-12-31T23:00:00.000Z',
    '2024-12-31T23:00:00.000Z',
  ]);
  // A date-time is the instant itself, not the second that it stands for.
  assert.deepEqual(instants({ end: '2024-01-01T00:00:00Z' }), [undefined, '2024-01-01T00:00:00.000Z']);
  assert.throws(
    () => instants({ start: '2024-01-02', end: '2024-01-01' }),
    /Encounter.period ends before it starts/,
  );
});

test('Encounter statuses: the five as they are, those of a visit under way as in-progress, no other [ENC-3, ENC-36]', () => {
  for (const status of ['planned', 'in-progress', 'finished', 'cancelled', 'entered-in-error']) {
    const notKept: string[] = [];
    assert.equal(map(ENCOUNTER.read, { ...VISIT, status }, notKept).row.values.status, status);
    assert.deepEqual(notKept, []);
  }
  for (const status of ['arrived', 'triaged', 'onleave']) {
    const notKept: string[] = [];
    assert.equal(map(ENCOUNTER.read, { ...VISIT, status }, notKept).row.values.status, 'in-progress');
    assert.deepEqual(notKept, ['Encounter.status']);
  }
  for (const status of ['unknown', 'completed', 'Finished', undefined])
    assert.throws(() => map(ENCOUNTER.read, { ...VISIT, status }), /^ResourceRejected: Encounter\.status is/);
});

test('the end of an Encounter that is under way is not kept: searches find it on every later day [ENC-7, ENC-17]', () => {
  const period = { start: '2024-01-01', end: '2024-01-02' };
  for (const [status, isKept] of [
    ['in-progress', false],
    ['onleave', false],
    ['planned', true],
    ['finished', true],
    ['cancelled', true],
  ] as const) {
    const notKept: string[] = [];
    const { values } = map(ENCOUNTER.read, { ...VISIT, status, period }, notKept).row;
    assert.equal(values.period_start_source, '2024-01-01');
    assert.equal(values.period_end_source, isKept ? '2024-01-02' : undefined, status);
    assert.equal(values.period_end === undefined, !isKept);
    assert.equal(notKept.includes('Encounter.period.end'), !isKept);
  }
});

test('Encounter class is v3 ActCode, whose system may be left out of a known code [ENC-4]', () => {
  const classOf = (value: object) => map(ENCOUNTER.read, { ...VISIT, class: value }).row.values.class_code;
  assert.equal(classOf({ code: 'EMER' }), 'EMER');
  assert.equal(classOf({ ...VISIT.class, code: 'OBSENC' }), 'OBSENC');
  const refusals: [object, RegExp][] = [
    [{ code: 'outpatient' }, /class\.system is missing, and the code is not one of AMB, EMER/],
    [{ system: 'urn:local', code: 'AMB' }, /class\.system is not http:\/\/terminology/],
    [{ system: VISIT.class.system }, /class\.code is missing/],
  ];
  for (const [value, reason] of refusals) assert.throws(() => classOf(value), reason);
  assert.throws(() => map(ENCOUNTER.read, { ...VISIT, class: undefined }), /Encounter\.class is missing/);
});

test('a class that HL7 v3 ActCode does not have among its encounter classes is taken and named [ENC-4]', async () => {
  const patient = randomUUID();
  const { system } = VISIT.class;
  const visits = ['IMP', 'OUTP'].map((code) => ({
    ...VISIT,
    id: randomUUID(),
    class: { system, code },
    subject: { reference: `Patient/${patient}` },
  }));
  const documents = [bundle([{ resourceType: 'Patient', id: patient }, ...visits])];
  const { rejected, notices } = await t.run(documents);
  assert.deepEqual(rejected, []);
  const reason =
    'has a class of the system HL7 v3 ActCode that is none of AMB, EMER, FLD, HH, IMP, ACUTE, NONAC, OBSENC, PRENC, SS, VR. It was taken, and is sent as it is. If it is wrong, correct it in the source';
  assert.deepEqual(notices, [{ file: '0.json', entry: 3, resourceType: 'Encounter', reason }]);
  assert.deepEqual((await t.run(documents)).notices, [], 'nothing was written');
});
