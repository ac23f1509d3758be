/** Blood pressure that came in parts, and what a set has beside vital signs (https://hl7.org/fhir/R4/bp.html). */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { clinicalFaults } from '../../../test-support/fhir/clinical-conformance.ts';
import { vitalSignFaults } from '../../../test-support/fhir/vital-sign-rules.ts';
import { importJson } from '../../../test-support/records/import-files.ts';
import { type Json, type Tenant, type TestAccount, useEmptyApi } from '../../../test-support/service/api.ts';

const PATIENT = '7e000000-0000-4000-8000-000000000001';
const SYSTOLIC = '7e000000-0000-4000-8000-000000000011';
const DIASTOLIC = '7e000000-0000-4000-8000-000000000012';
const PANEL = '7e000000-0000-4000-8000-000000000013';
const OTHER = '7e000000-0000-4000-8000-000000000014';

const UCUM = 'http://unitsofmeasure.org';
const coded = (system: string, code: string, display: string) => ({ coding: [{ system, code, display }] });
const loinc = (code: string, display: string) => coded('http://loinc.org', code, display);
const VITAL_SIGNS = coded(
  'http://terminology.hl7.org/CodeSystem/observation-category',
  'vital-signs',
  'Vital Signs',
);
const EXAM = coded('http://terminology.hl7.org/CodeSystem/observation-category', 'exam', 'Exam');
const BLOOD_PRESSURE = loinc('85354-9', 'Blood pressure panel with all children optional');
const SYSTOLIC_CODE = loinc('8480-6', 'Systolic blood pressure');
const DIASTOLIC_CODE = loinc('8462-4', 'Diastolic blood pressure');
const HEART_RATE = loinc('8867-4', 'Heart rate');
const perMinute = { value: 72, unit: '/min', system: UCUM, code: '/min' };
const UNKNOWN = coded('http://terminology.hl7.org/CodeSystem/data-absent-reason', 'unknown', 'Unknown');
const high = coded('http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', 'H', 'High');
const arm = (side: string) => ({ text: `${side} upper arm` });
const EXTENSION = 'http://hl7.org/fhir/StructureDefinition/observation-';
const position = (text: string) => ({
  extension: [{ url: `${EXTENSION}bodyPosition`, valueCodeableConcept: { text } }],
});
const mmHg = (value: number) => ({ value, unit: 'mm[Hg]', system: UCUM, code: 'mm[Hg]' });

const observation = (id: string, elements: object) => ({
  resourceType: 'Observation',
  id,
  identifier: [{ system: 'https://ward.example/signs', value: id }],
  status: 'final',
  category: [VITAL_SIGNS],
  subject: { reference: `Patient/${PATIENT}` },
  effectiveDateTime: '2024-07-01T10:00:00Z',
  ...elements,
});
const systolic = (more: object = {}) =>
  observation(SYSTOLIC, { code: SYSTOLIC_CODE, valueQuantity: mmHg(121), ...more });
const diastolic = (more: object = {}) =>
  observation(DIASTOLIC, { code: DIASTOLIC_CODE, valueQuantity: mmHg(79), ...more });

const api = await useEmptyApi();

describe('blood pressure in parts', () => {
  let tenant: Tenant;
  let account: TestAccount;
  beforeEach(async () => {
    tenant = await api.createTenant();
    account = await api.createAccount(tenant, { permissions: ['encounters.vitals.read'] });
    await take({ resourceType: 'Patient', id: PATIENT });
  });

  async function take(...resources: object[]): Promise<void> {
    for (const resource of resources) {
      const { rejected } = await importJson(api.database.pool, tenant, JSON.stringify(resource));
      assert.deepEqual(rejected, []);
    }
  }
  const get = (path: string) => api.call(path, { token: account.token });
  const read = (id: string) => get(`/fhir/Observation/${id}?purposeOfUse=TREATMENT`);
  /** The resources of the only set, each of which conforms and is what its fullUrl answers; the list counts them. */
  async function set(): Promise<Json[]> {
    const { json } = await get(`/encounters/vitals?patient=${PATIENT}`);
    assert.equal(json.items.length, 1);
    const { json: answer } = await get(`/encounters/vitals/${json.items[0]?.vitalSetId}/clinical/fhir`);
    const resources = ((answer.bundle.entry ?? []) as Json[]).map(({ resource }) => resource as Json);
    for (const resource of resources) {
      assert.deepEqual(clinicalFaults(JSON.stringify(resource)), []);
      assert.deepEqual((await read(String(resource.id))).json, resource);
    }
    assert.equal(json.items[0]?.vitalSigns, resources.length);
    return resources;
  }
  const absent = (code: object) => ({ code, dataAbsentReason: UNKNOWN });

  test('a systolic and a diastolic pressure are one, with all that was said of both [FETCH-9, FETCH-29]', async () => {
    const [ward, nurse] = [{ display: 'Ward 3' }, { display: 'Nurse A' }];
    const range = { high: mmHg(130), text: 'adults' };
    await take(
      diastolic({
        category: [VITAL_SIGNS, EXAM],
        issued: '2024-07-01T10:02:00Z',
        performer: [nurse],
        bodySite: arm('left'),
        note: [{ text: 'lying' }],
      }),
      systolic({
        code: { coding: [...SYSTOLIC_CODE.coding, { system: 'https://ward.example/codes', code: 'SYS' }] },
        issued: '2024-07-01T10:01:00Z',
        performer: [ward, nurse],
        interpretation: [high],
        referenceRange: [range],
      }),
    );
    const expected = observation(SYSTOLIC, {
      identifier: [SYSTOLIC, DIASTOLIC].map((value) => ({ system: 'https://ward.example/signs', value })),
      category: [VITAL_SIGNS, EXAM],
      code: BLOOD_PRESSURE,
      issued: '2024-07-01T10:02:00Z',
      performer: [ward, nurse],
      note: [{ text: 'lying' }],
      bodySite: arm('left'),
      component: [
        {
          code: { coding: [...SYSTOLIC_CODE.coding, { system: 'https://ward.example/codes', code: 'SYS' }] },
          valueQuantity: mmHg(121),
          interpretation: [high],
          referenceRange: [range],
        },
        { code: DIASTOLIC_CODE, valueQuantity: mmHg(79) },
      ],
    });
    assert.deepEqual(await set(), [expected]);
    assert.equal((await read(DIASTOLIC)).status, 404);
  });

  test('one alone is a blood pressure too, under its own id, until the other comes [FETCH-9, FETCH-29]', async () => {
    await take(diastolic());
    const [alone] = await set();
    assert.deepEqual(
      alone,
      observation(DIASTOLIC, {
        code: BLOOD_PRESSURE,
        component: [{ code: DIASTOLIC_CODE, valueQuantity: mmHg(79) }, absent(SYSTOLIC_CODE)],
      }),
    );
    await take(systolic());
    assert.deepEqual(
      (await set()).map(({ id }) => id),
      [SYSTOLIC],
    );
  });

  test('one that has components or members is a blood pressure too, with its value in a component [FETCH-9]', async () => {
    const [first, second] = [SYSTOLIC_CODE, DIASTOLIC_CODE].map((code, n) => ({
      code,
      valueQuantity: mmHg([118, 77][n] ?? 0),
    }));
    const member = { display: 'Cuff pressure' };
    await take(systolic({ interpretation: [high], component: [second], hasMember: [member] }));
    assert.deepEqual(await set(), [
      observation(SYSTOLIC, {
        code: BLOOD_PRESSURE,
        hasMember: [member],
        component: [{ code: SYSTOLIC_CODE, valueQuantity: mmHg(121), interpretation: [high] }, second],
      }),
    ]);
    // Without a value of its own, its components have them, and what is said beside its code stays there.
    const ofWard = { system: 'https://ward.example/codes', code: 'BP' };
    const code = { coding: [...SYSTOLIC_CODE.coding, ofWard], text: 'Pressure' };
    const said = { dataAbsentReason: UNKNOWN, interpretation: [high], component: [first, second] };
    await take(systolic({ code, valueQuantity: undefined, ...said }));
    assert.deepEqual(await set(), [
      observation(SYSTOLIC, {
        code: { coding: [...BLOOD_PRESSURE.coding, ofWard], text: 'Pressure' },
        ...said,
      }),
    ]);
    await take(systolic({ valueQuantity: undefined, hasMember: [member] }));
    assert.deepEqual(await set(), [
      observation(SYSTOLIC, {
        code: BLOOD_PRESSURE,
        hasMember: [member],
        component: [absent(SYSTOLIC_CODE), absent(DIASTOLIC_CODE)],
      }),
    ]);
  });

  test('pressures of two arms stay apart, and those that contradict each other too [FETCH-29]', async () => {
    await take(
      systolic({ bodySite: arm('left') }),
      { ...systolic({ bodySite: arm('right') }), id: OTHER, identifier: undefined },
      diastolic({ bodySite: arm('right') }),
    );
    const both = await set();
    assert.deepEqual(
      both.map(({ id, bodySite, component }) => [id, bodySite, component?.[1]]),
      [
        [SYSTOLIC, arm('left'), absent(DIASTOLIC_CODE)],
        [OTHER, arm('right'), { code: DIASTOLIC_CODE, valueQuantity: mmHg(79) }],
      ],
    );
    await take(diastolic({ bodySite: arm('right'), status: 'entered-in-error' }));
    assert.deepEqual((await set()).length, 3);
  });

  test('a pressure that was corrected stands alone until the other one has its status too [FETCH-29]', async () => {
    const pressures = async () => (await set()).map(({ id, status }) => [id, status]);
    await take(systolic(), diastolic());
    assert.deepEqual(await pressures(), [[SYSTOLIC, 'final']]);
    await take(diastolic({ status: 'corrected' }));
    assert.deepEqual(
      (await pressures()).toSorted(),
      [
        [SYSTOLIC, 'final'],
        [DIASTOLIC, 'corrected'],
      ].toSorted(),
    );
    await take(systolic({ status: 'corrected' }));
    assert.deepEqual(await pressures(), [[SYSTOLIC, 'corrected']]);
  });

  test('pressures lying and standing stay apart, and each has its other one [FETCH-29]', async () => {
    const again = { identifier: undefined };
    await take(systolic(position('lying')), diastolic(position('standing')));
    assert.equal((await set()).length, 2);
    await take(
      diastolic(position('lying')),
      { ...systolic(position('standing')), id: OTHER, ...again },
      { ...diastolic({ ...position('standing'), valueQuantity: mmHg(65) }), id: PANEL, ...again },
    );
    const both = await set();
    assert.deepEqual(
      both.map(({ id, extension, component }) => [id, extension, component?.[1]?.valueQuantity]),
      [
        [SYSTOLIC, position('lying').extension, mmHg(79)],
        [OTHER, position('standing').extension, mmHg(65)],
      ],
    );
  });

  test('a pressure that is about somebody else stays apart from one of the patient [FETCH-29]', async () => {
    const focus = [{ reference: `Patient/${PATIENT}`, display: 'Donor' }];
    const code = [{ url: `${EXTENSION}focusCode`, valueCodeableConcept: { text: 'Fetus' } }];
    await take(systolic({ focus }), diastolic());
    assert.equal((await set()).length, 2);
    await take(systolic({ extension: code }));
    assert.equal((await set()).length, 2);
    await take(diastolic({ extension: code }));
    assert.equal((await set()).length, 1);
  });

  test('a pressure of one moment and one over a time stay apart, each with its own time [FETCH-29]', async () => {
    const effectivePeriod = { start: '2024-07-01T10:00:00Z', end: '2024-07-02T10:00:00Z' };
    await take(systolic(), diastolic({ effectiveDateTime: undefined, effectivePeriod }));
    assert.deepEqual(
      (await set()).map((one) => [one.id, one.effectiveDateTime, one.effectivePeriod]),
      [
        [SYSTOLIC, '2024-07-01T10:00:00Z', undefined],
        [DIASTOLIC, undefined, effectivePeriod],
      ],
    );
    await take(systolic({ effectiveDateTime: undefined, effectivePeriod }));
    const both = await set();
    assert.deepEqual(
      both.map((one) => [one.id, one.effectivePeriod]),
      [[SYSTOLIC, effectivePeriod]],
    );
  });

  test('an instant is a time as any other, and goes out as the profile has it [FETCH-9, FETCH-29]', async () => {
    const instant = { effectiveDateTime: undefined, effectiveInstant: '2024-07-01T12:00:00+02:00' };
    await take(systolic(instant), diastolic());
    const [joined] = await set();
    assert.equal(joined?.effectiveInstant, undefined);
    assert.equal(joined?.effectiveDateTime, '2024-07-01T10:00:00Z');
    await take(
      diastolic(instant),
      observation(OTHER, { ...instant, code: HEART_RATE, valueQuantity: perMinute }),
    );
    assert.deepEqual(
      (await set()).map((one) => [one.effectiveDateTime, one.effectiveInstant]),
      [instant, instant].map(({ effectiveInstant }) => [effectiveInstant, undefined]),
    );
  });

  test('a bound without a unit is in the unit of the source, where the value was converted [TERM-20]', async () => {
    const range = (low: number, high: object) => [{ low: { value: low }, high }];
    const cm = { value: 200, unit: 'cm', system: UCUM, code: 'cm' };
    await take(
      systolic({ valueQuantity: { value: 16, unit: 'kPa' }, referenceRange: range(12, { value: 18.5 }) }),
      observation(OTHER, {
        code: loinc('8302-2', 'Body height'),
        valueQuantity: { value: 1.75, unit: 'm' },
        referenceRange: range(1.5, cm),
      }),
    );
    const [pressure, height] = await set();
    const kPa = { unit: 'kPa', system: UCUM, code: 'kPa' };
    const ranges = [pressure?.component?.[0], height].map((one) => one?.referenceRange);
    assert.equal(pressure?.component?.[0]?.valueQuantity?.value, 120);
    assert.deepEqual(ranges, [
      [{ low: { value: 12, ...kPa }, high: { value: 18.5, ...kPa } }],
      [{ low: { value: 1.5, unit: 'm' }, high: cm }],
    ]);
  });

  test('without identifiers of the source, one has our identifier of its own id alone [FETCH-29]', async () => {
    const bare = { identifier: undefined };
    await take(systolic(bare), diastolic(bare));
    const own = { system: `urn:uuid:${tenant.organisationId}`, value: SYSTOLIC };
    assert.deepEqual(
      (await set()).map(({ identifier }) => identifier),
      [[own]],
    );
  });

  test('what one of them says of the other, the one does not say of itself [FETCH-29]', async () => {
    const derivedFrom = [{ reference: `Observation/${SYSTOLIC}` }];
    await take(systolic(), diastolic({ derivedFrom }));
    assert.deepEqual(
      (await set()).map((one) => [one.id, one.derivedFrom]),
      [[SYSTOLIC, undefined]],
    );
    const hasMember = [SYSTOLIC, DIASTOLIC].map((id) => ({ reference: `Observation/${id}` }));
    await take(
      observation(PANEL, { code: BLOOD_PRESSURE, hasMember, derivedFrom: hasMember }),
      observation(OTHER, { code: HEART_RATE, valueQuantity: perMinute, derivedFrom }),
    );
    assert.deepEqual(
      (await set()).map((one) => [one.id, one.hasMember, one.derivedFrom]),
      [
        [PANEL, undefined, undefined],
        [OTHER, undefined, [{ reference: `Observation/${PANEL}` }]],
      ],
    );
  });

  test('two of each that nothing tells apart stay by themselves [FETCH-29]', async () => {
    const again = { identifier: undefined };
    await take(systolic(), { ...systolic(), id: OTHER, ...again }, diastolic(), {
      ...diastolic(),
      id: PANEL,
      ...again,
    });
    assert.equal((await set()).length, 4);
  });

  test('a panel that has both as members holds their values; what referred to one refers to it [FETCH-29]', async () => {
    const member = (id: string) => ({ reference: `Observation/${id}` });
    await take(
      systolic(),
      diastolic(),
      observation(PANEL, { code: BLOOD_PRESSURE, hasMember: [member(SYSTOLIC), member(DIASTOLIC)] }),
      observation(OTHER, {
        code: loinc(
          '85353-1',
          'Vital signs, weight, height, head circumference, oxygen saturation and BMI panel',
        ),
        hasMember: [member(PANEL), member(DIASTOLIC)],
      }),
    );
    assert.deepEqual(await set(), [
      observation(PANEL, {
        identifier: [PANEL, SYSTOLIC, DIASTOLIC].map((value) => ({
          system: 'https://ward.example/signs',
          value,
        })),
        code: BLOOD_PRESSURE,
        component: [
          { code: SYSTOLIC_CODE, valueQuantity: mmHg(121) },
          { code: DIASTOLIC_CODE, valueQuantity: mmHg(79) },
        ],
      }),
      observation(OTHER, {
        code: loinc(
          '85353-1',
          'Vital signs, weight, height, head circumference, oxygen saturation and BMI panel',
        ),
        hasMember: [member(PANEL)],
      }),
    ]);
  });

  test('a panel under another LOINC code holds the values of its members too [FETCH-9, FETCH-28, FETCH-29]', async () => {
    const hasMember = [SYSTOLIC, DIASTOLIC].map((id) => ({ reference: `Observation/${id}` }));
    for (const code of [loinc('35094-2', 'Blood pressure panel'), loinc('55284-4', 'Blood pressure')]) {
      await take(systolic(), diastolic(), observation(PANEL, { code, hasMember }));
      assert.deepEqual(
        (await set()).map(({ id, code: { coding }, component, hasMember: members }) => [
          id,
          (coding as Json[]).map((one) => one.code),
          (component as Json[]).map(({ valueQuantity }) => valueQuantity?.value),
          members,
        ]),
        [[PANEL, ['85354-9', code.coding[0]?.code], [121, 79], undefined]],
      );
    }
  });

  test('a single pressure that also has the code of a narrower panel keeps it [FETCH-28, FETCH-29]', async () => {
    const narrower = loinc('55284-4', 'Blood pressure').coding;
    for (const [single, code] of [
      [systolic(), SYSTOLIC_CODE],
      [diastolic(), DIASTOLIC_CODE],
    ] as const)
      await take({ ...single, code: { coding: [...narrower, ...code.coding] } });
    assert.deepEqual(
      (await set()).map(({ code, component }) => [code, (component as Json[]).map((one) => one.code)]),
      [[{ coding: [...BLOOD_PRESSURE.coding, ...narrower] }, [SYSTOLIC_CODE, DIASTOLIC_CODE]]],
    );
  });

  test('a panel holds one pressure of each kind; a further one stays by itself [FETCH-29]', async () => {
    const member = (id: string) => ({ reference: `Observation/${id}` });
    const second = { ...systolic({ valueQuantity: mmHg(130) }), id: OTHER, identifier: undefined };
    const members = [member(SYSTOLIC), member(OTHER), member(DIASTOLIC)];
    await take(
      systolic(),
      second,
      diastolic(),
      observation(PANEL, { code: BLOOD_PRESSURE, hasMember: members }),
    );
    const answered = await set();
    const shown = answered.map(({ id, hasMember, component }) => ({
      id,
      hasMember,
      values: (component as Json[]).map(({ valueQuantity }) => (valueQuantity as Json | undefined)?.value),
    }));
    assert.deepEqual(
      shown.toSorted((a, b) => String(b.id).localeCompare(String(a.id))),
      [
        { id: OTHER, hasMember: undefined, values: [130, undefined] },
        { id: PANEL, hasMember: [member(OTHER)], values: [121, 79] },
      ],
    );
  });

  test('of two times of issue the later one goes out, also where it is a leap second [FETCH-29]', async () => {
    await take(
      systolic({ issued: '2016-12-31T23:59:59.5Z' }),
      diastolic({ issued: '2016-12-31T23:59:60.5Z' }),
    );
    assert.deepEqual(
      (await set()).map(({ issued }) => issued),
      ['2016-12-31T23:59:60.5Z'],
    );
  });

  test('a pressure that a report lists is a result by itself, and its set says so at once [FETCH-22, FETCH-29]', async () => {
    await take(systolic(), diastolic());
    assert.equal((await set()).length, 1);
    await take({
      resourceType: 'DiagnosticReport',
      id: OTHER,
      status: 'final',
      category: [coded('http://terminology.hl7.org/CodeSystem/v2-0074', 'LAB', 'Laboratory')],
      code: { text: 'Pressure profile' },
      subject: { reference: `Patient/${PATIENT}` },
      issued: '2024-07-01T11:00:00Z',
      result: [{ reference: `Observation/${DIASTOLIC}` }],
    });
    const [first, second, ...others] = await set();
    assert.deepEqual(others, []);
    assert.deepEqual([first?.id, first?.basedOn], [SYSTOLIC, undefined]);
    assert.deepEqual([second?.id, second?.basedOn?.length], [DIASTOLIC, 1]);
  });

  test('a score in the category of vital signs goes out as it came [FETCH-30]', async () => {
    const score = observation(OTHER, {
      category: [EXAM, VITAL_SIGNS, { text: 'ward' }],
      code: loinc('91148-7', 'Functional movement screen score'),
      valueInteger: 3,
    });
    const pulse = observation(PANEL, {
      code: loinc('8867-4', 'Heart rate'),
      valueQuantity: { value: 72, unit: '/min', system: UCUM, code: '/min' },
    });
    await take(score, pulse);
    assert.deepEqual(await set(), [pulse, score]);
  });

  test('a score follows the base profile of vital signs: one category, and no instant [FETCH-30]', async () => {
    const { effectiveDateTime, ...score } = observation(OTHER, {
      code: loinc('91148-7', 'Functional movement screen score'),
      valueInteger: 3,
    });
    const [more, again] = [{ text: 'ward' }, { ...VITAL_SIGNS, text: 'vitals' }];
    await take({ ...score, category: [EXAM, VITAL_SIGNS, more, again], effectiveInstant: effectiveDateTime });
    const [sent] = await set();
    assert.deepEqual(vitalSignFaults(sent, ['http://hl7.org/fhir/StructureDefinition/vitalsigns']), []);
    assert.deepEqual(sent, { ...score, category: [EXAM, VITAL_SIGNS, more], effectiveDateTime });
  });
});
