import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { vitalSignFaults } from '../../../test-support/fhir/vital-sign-rules.ts';
import { observationResource } from '../../../test-support/records/observation-resources.ts';
import { ID, LOCAL, ORGANISATION, PATIENT, sent } from '../../../test-support/records/sent-observation.ts';
import { Decimal } from '../../fhir/json.ts';
import { emitContext } from '../content/coded-content.ts';
import type { ObservationRecord } from '../resources/observation.fhir.ts';

describe('a vital sign as an Observation', () => {
  const loinc = (code: string) => ({ coding: [{ system: 'http://loinc.org', code }] });
  const vital = (code: string, record: Partial<ObservationRecord>) =>
    sent({
      kind: 'vital-sign',
      code: loinc(code),
      effectiveType: 'dateTime',
      effectiveStart: '2024-05-01',
      ...record,
    });
  const measured = (value: number | Decimal, unit: string): Partial<ObservationRecord> => ({
    valueType: 'Quantity',
    valueNumber: value,
    valueUnit: unit,
  });

  test('category vital-signs exactly once, first, beside the others of the source', () => {
    const vitalSigns = {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }],
    };
    const { category } = vital('8867-4', {
      ...measured(70, 'bpm'),
      category: [{ text: 'ward' }, vitalSigns, vitalSigns],
    });
    assert.deepEqual(category, [vitalSigns, { text: 'ward' }]);
  });

  test('a local code that a map leads to a vital sign follows the profile too', () => {
    const translations = new Map([
      [`${LOCAL.system}\n${LOCAL.code}`, [{ system: 'http://loinc.org', code: '8867-4' }]],
    ]);
    const resource = sent(
      { kind: 'other', effectiveType: 'dateTime', effectiveStart: '2024-05-01', ...measured(70, 'bpm') },
      translations,
    );
    assert.deepEqual(resource.valueQuantity, {
      value: 70,
      unit: 'bpm',
      system: 'http://unitsofmeasure.org',
      code: '/min',
    });
  });

  test('a blood pressure without anything has both components with reasons, and no value of its own', () => {
    const resource = vital('85354-9', measured(120, 'mmHg'));
    assert.equal(resource.valueQuantity, undefined);
    const components = resource.component as {
      code: { coding: { code: string }[] };
      dataAbsentReason: unknown;
    }[];
    assert.deepEqual(
      components.map(({ code, dataAbsentReason }) => [code.coding[0]?.code, dataAbsentReason !== undefined]),
      [
        ['8480-6', true],
        ['8462-4', true],
      ],
    );
  });

  test('digits of an allowed unit are the digits of the source', () => {
    const record: ObservationRecord = {
      id: ID,
      patientId: PATIENT,
      kind: 'vital-sign',
      status: 'final',
      code: loinc('29463-7'),
      effectiveType: 'dateTime',
      effectiveStart: '2024-05-01',
      ...measured(new Decimal('71.50'), 'kg'),
    };
    const text = JSON.stringify(observationResource(record, emitContext(ORGANISATION, new Map())));
    assert.ok(text.includes('"value":71.50,'), text);
  });

  test('a pressure in a unit that is none gives a reason in the component and a note', () => {
    const resource = vital('85354-9', {
      components: [
        { code: loinc('8480-6'), ...measured(12, 'furlong') },
        { code: loinc('8462-4'), ...measured(80, 'mmHg') },
      ],
    });
    assert.deepEqual(resource.note, [{ text: 'Systolic blood pressure: reported as 12 furlong' }]);
    const [systolic] = resource.component as { valueQuantity?: unknown }[];
    assert.equal(systolic?.valueQuantity, undefined);
  });

  const text = (valueText: string): Partial<ObservationRecord> => ({ valueType: 'string', valueText });
  const notes = ({ note }: Record<string, unknown>) =>
    (note as { text: string }[] | undefined)?.map((one) => one.text);

  /** It follows its profile, and says in words what the profile has no place for. */
  function requireConformant(resource: Record<string, unknown>, ...words: string[]): void {
    assert.deepEqual(vitalSignFaults(resource as { resourceType: string }), []);
    assert.deepEqual(notes(resource) ?? [], words);
  }

  test('a blood pressure in words: both components with reasons, the words as a note', () => {
    requireConformant(vital('85354-9', text('120/80 mmHg')), 'Reported as 120/80 mmHg');
  });

  test('a pressure in words is a component with a reason, and a note', () => {
    const components = [
      { code: loinc('8480-6'), ...text('about 120') },
      { code: loinc('8462-4'), ...measured(80, 'mmHg') },
    ];
    requireConformant(vital('85354-9', { components }), 'Systolic blood pressure: reported as about 120');
  });

  test('a blood pressure under 55284-4 alone is one of its profile [FETCH-28]', () => {
    const part = (code: string, value: number) => ({ code: loinc(code), ...measured(value, 'mm[Hg]') });
    const vitalSigns = {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }],
    };
    const resource = vital('55284-4', {
      category: [vitalSigns],
      components: [part('8480-6', 120), part('8462-4', 80)],
    });
    requireConformant(resource);
    const quantity = { unit: 'mm[Hg]', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' };
    assert.deepEqual(resource, {
      resourceType: 'Observation',
      id: ID,
      identifier: [{ system: `urn:uuid:${ORGANISATION}`, value: ID }],
      status: 'final',
      category: [vitalSigns],
      code: {
        coding: [
          {
            system: 'http://loinc.org',
            code: '85354-9',
            display: 'Blood pressure panel with all children optional',
          },
          { system: 'http://loinc.org', code: '55284-4' },
        ],
      },
      subject: { reference: `Patient/${PATIENT}` },
      effectiveDateTime: '2024-05-01',
      component: [
        { code: loinc('8480-6'), valueQuantity: { value: 120, ...quantity } },
        { code: loinc('8462-4'), valueQuantity: { value: 80, ...quantity } },
      ],
    });
  });

  for (const [code, profile, unit] of [
    ['8331-1', '8310-5', 'Cel'],
    ['8332-9', '8310-5', 'Cel'],
    ['8328-7', '8310-5', 'Cel'],
    ['8333-7', '8310-5', 'Cel'],
    ['3141-9', '29463-7', 'kg'],
    ['3137-7', '8302-2', 'cm'],
    ['8287-5', '9843-4', 'cm'],
    ['59408-5', '2708-6', '%'],
    ['8329-5', '8310-5', 'Cel'],
    ['8306-3', '8302-2', 'cm'],
    ['8351-9', '29463-7', 'kg'],
    ['8889-8', '8867-4', '/min'],
    ['8893-0', '8867-4', '/min'],
  ] as const)
    test(`${code} carries ${profile}, which its profile fixes [FETCH-28]`, () => {
      const category = [
        {
          coding: [
            { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' },
          ],
        },
      ];
      const resource = vital(code, { category, ...measured(37, unit) });
      requireConformant(resource);
      const { coding } = resource.code as { coding: { code: string }[] };
      assert.deepEqual(
        coding.map((one) => one.code),
        [profile, code],
      );
    });

  test('pressures without a unit are notes that say which pressure each is [FETCH-27]', () => {
    const components = [
      { code: loinc('8480-6'), valueType: 'Quantity' as const, valueNumber: new Decimal('101.36') },
      { code: loinc('8462-4'), valueType: 'Quantity' as const, valueNumber: new Decimal('62.50') },
    ];
    const coding = (system: string, code: string, display: string) => ({
      coding: [{ system, code, display }],
    });
    const dataAbsentReason = coding(
      'http://terminology.hl7.org/CodeSystem/data-absent-reason',
      'unsupported',
      'Unsupported',
    );
    const resource = vital('85354-9', { components });
    requireConformant(
      resource,
      'Systolic blood pressure: reported as 101.36',
      'Diastolic blood pressure: reported as 62.50',
    );
    assert.deepEqual(resource, {
      resourceType: 'Observation',
      id: ID,
      identifier: [{ system: `urn:uuid:${ORGANISATION}`, value: ID }],
      status: 'final',
      category: [
        coding('http://terminology.hl7.org/CodeSystem/observation-category', 'vital-signs', 'Vital Signs'),
      ],
      code: loinc('85354-9'),
      subject: { reference: `Patient/${PATIENT}` },
      effectiveDateTime: '2024-05-01',
      note: resource.note,
      component: [
        { code: loinc('8480-6'), dataAbsentReason },
        { code: loinc('8462-4'), dataAbsentReason },
      ],
    });
  });

  test('of two systolic pressures the first is the component, the other a note', () => {
    const components = [120, 130].map((value) => ({ code: loinc('8480-6'), ...measured(value, 'mmHg') }));
    const resource = vital('85354-9', { components });
    requireConformant(resource, 'Also reported: Systolic blood pressure 130 mmHg');
    assert.equal((resource.component as unknown[]).length, 2);
  });

  const values: [string, Partial<ObservationRecord>, string][] = [
    ['a string', text('fast'), 'fast'],
    ['an integer', { valueType: 'integer', valueNumber: 72 }, '72'],
    ['a code', { valueType: 'CodeableConcept', valueConcept: { text: 'febrile' } }, 'febrile'],
    ['a range', { valueType: 'Range', valueStructure: { low: { value: 60 } } }, '{"low":{"value":60}}'],
  ];
  for (const [name, value, words] of values)
    test(`${name} where the profile has quantities only: a reason, and a note`, () => {
      for (const code of ['8867-4', '8310-5']) {
        const resource = vital(code, value);
        requireConformant(resource, `Reported as ${words}`);
        assert.ok(resource.dataAbsentReason);
      }
    });

  test('a quantity without a number is none', () => {
    requireConformant(vital('8867-4', { valueType: 'Quantity', valueUnit: '/min' }), 'Reported as /min');
  });

  test('a local code that has the number of the LOINC code stays where that one goes [TERM-3]', () => {
    const local = { system: LOCAL.system, code: '39156-5' };
    const { code } = vital('39156-5', { code: { coding: [...loinc('39156-5').coding, local] } });
    assert.deepEqual((code as { coding: unknown }).coding, [local]);
  });

  test('a result of a laboratory with the code of a vital sign and without a time says that the time is not known', () => {
    const result = sent({
      ...{ kind: 'laboratory', code: loinc('8867-4'), issued: '2024-05-01T10:00:00Z' },
      ...measured(70, '/min'),
    });
    requireConformant(result);
    assert.deepEqual(result._effectiveDateTime, {
      extension: [
        { url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' },
      ],
    });
    assert.equal(result.effectiveDateTime, undefined);
  });

  test('a time that is not known to the day is said in a note, because the profiles ask for one to the day [HTTP-30]', () => {
    const times: [Partial<ObservationRecord>, string][] = [
      [{ effectiveType: 'dateTime', effectiveStart: '2024-05' }, '2024-05'],
      [
        { effectiveType: 'Period', effectiveStart: '2024', effectiveEnd: '2024-05-01' },
        '{"start":"2024","end":"2024-05-01"}',
      ],
      [{ effectiveType: 'Timing', effectiveTiming: { event: ['2024-05-01'] } }, '{"event":["2024-05-01"]}'],
    ];
    for (const [time, text] of times) {
      const note = [{ text: 'drawn twice' }];
      const result = sent({
        ...{ kind: 'laboratory', code: loinc('8867-4'), note },
        ...measured(70, '/min'),
        ...time,
      });
      assert.deepEqual(vitalSignFaults(result as { resourceType: string }), []);
      assert.deepEqual(result.note, [...note, { text: `Time reported as ${text}` }]);
    }
    // The profiles allow a Period.
    const day = {
      id: ID,
      patientId: PATIENT,
      kind: 'laboratory',
      status: 'final',
      code: loinc('8867-4'),
    } as const;
    const record: ObservationRecord = { ...day, effectiveType: 'Period', effectiveStart: '2024-05-01' };
    const { effectivePeriod, note } = observationResource(record, emitContext(ORGANISATION, new Map()));
    assert.deepEqual([effectivePeriod, note], [{ start: '2024-05-01' }, undefined]);
  });

  test('a body mass index without a value does not go by the code whose profile requires one', () => {
    const own = vital('39156-5', {});
    requireConformant(own);
    assert.deepEqual(own.code, { text: 'Body mass index (BMI) [Ratio]' });
    const mapped = new Map([
      [`${LOCAL.system}\n${LOCAL.code}`, [{ system: 'http://loinc.org', code: '39156-5' }]],
    ]);
    const record: Partial<ObservationRecord> = {
      kind: 'vital-sign',
      effectiveType: 'dateTime',
      effectiveStart: '2024-05-01',
    };
    const local = sent(record, mapped);
    requireConformant(local);
    assert.deepEqual((local.code as { coding: unknown }).coding, [LOCAL]);
    const valued = sent({ ...record, ...measured(22, 'kg/m2') }, mapped);
    requireConformant(valued);
    assert.equal((valued.code as { coding: { code: string }[] }).coding[0]?.code, '39156-5');
  });
});
