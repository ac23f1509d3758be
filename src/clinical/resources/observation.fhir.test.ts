import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ID, LOCAL, ORGANISATION, PATIENT, sent } from '../../../test-support/records/sent-observation.ts';
import { Decimal } from '../../fhir/json.ts';
import type { ObservationRecord } from './observation.fhir.ts';

const ORDER = '6f000000-0000-4000-8000-000000000004';
const TRANSLATIONS = new Map([
  [
    `${LOCAL.system}\n${LOCAL.code}`,
    [{ system: 'http://loinc.org', code: '2951-2', display: 'Sodium [Moles/volume] in Serum or Plasma' }],
  ],
]);

describe('a laboratory result as an Observation', () => {
  test('every element, from the record', () => {
    const resource = sent(
      {
        orderId: ORDER,
        encounterId: '6f000000-0000-4000-8000-000000000005',
        effectiveType: 'dateTime',
        effectiveStart: '2024-03-05T08:50:00+01:00',
        issued: '2024-03-05T10:02:11.250+01:00',
        performer: [{ type: 'Practitioner', id: '6f000000-0000-4000-8000-000000000006', display: 'Dr. A' }],
        valueType: 'Quantity',
        valueNumber: new Decimal('140.0'),
        valueUnit: 'mmol/L',
        valueUnitSystem: 'http://unitsofmeasure.org',
        valueUnitCode: 'mmol/L',
        interpretation: [
          {
            coding: [
              { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: 'N' },
            ],
          },
        ],
        note: [{ authorString: 'lab', text: 'repeated' }],
        specimen: { display: 'serum' },
        referenceRanges: [
          { lowNumber: new Decimal('135.0'), lowUnit: 'mmol/L', highNumber: 145, text: 'adults' },
          { text: 'see the report' },
        ],
      },
      TRANSLATIONS,
    );
    assert.deepEqual(resource, {
      resourceType: 'Observation',
      id: ID,
      identifier: [{ system: `urn:uuid:${ORGANISATION}`, value: ID }],
      basedOn: [{ reference: `ServiceRequest/${ORDER}` }],
      status: 'final',
      category: [
        {
          coding: [
            {
              system: 'http://terminology.hl7.org/CodeSystem/observation-category',
              code: 'laboratory',
              display: 'Laboratory',
            },
          ],
        },
      ],
      code: {
        coding: [
          { system: 'http://loinc.org', code: '2951-2', display: 'Sodium [Moles/volume] in Serum or Plasma' },
          LOCAL,
        ],
        text: 'Natrium',
      },
      subject: { reference: `Patient/${PATIENT}` },
      encounter: { reference: 'Encounter/6f000000-0000-4000-8000-000000000005' },
      effectiveDateTime: '2024-03-05T08:50:00+01:00',
      issued: '2024-03-05T10:02:11.250+01:00',
      performer: [{ reference: 'Practitioner/6f000000-0000-4000-8000-000000000006', display: 'Dr. A' }],
      valueQuantity: { value: 140, unit: 'mmol/L', system: 'http://unitsofmeasure.org', code: 'mmol/L' },
      interpretation: [
        {
          coding: [
            { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: 'N' },
          ],
        },
      ],
      note: [{ authorString: 'lab', text: 'repeated' }],
      specimen: { display: 'serum' },
      referenceRange: [
        {
          low: { value: 135, unit: 'mmol/L', system: 'http://unitsofmeasure.org', code: 'mmol/L' },
          high: { value: 145 },
          text: 'adults',
        },
        { text: 'see the report' },
      ],
    });
  });

  test('an unmapped code stays as it is: no LOINC is made up', () => {
    assert.deepEqual(sent({ valueType: 'string', valueText: 'x' }).code, {
      coding: [LOCAL],
      text: 'Natrium',
    });
  });

  test('the order that the source names is not replaced', () => {
    const basedOn = [{ type: 'ServiceRequest', id: PATIENT }];
    assert.deepEqual(sent({ orderId: ORDER, basedOn }).basedOn, [{ reference: `ServiceRequest/${PATIENT}` }]);
  });

  for (const [name, value, expected] of [
    [
      'a comparator',
      { valueType: 'Quantity', valueNumber: 5, valueComparator: '<' },
      { valueQuantity: { value: 5, comparator: '<' } },
    ],
    [
      'a unit code without a system',
      { valueType: 'Quantity', valueNumber: 5, valueUnitCode: 'arbitrary units' },
      { valueQuantity: { value: 5, unit: 'arbitrary units' } },
    ],
    [
      'a coded result',
      { valueType: 'CodeableConcept', valueConcept: { text: 'positive' } },
      { valueCodeableConcept: { text: 'positive' } },
    ],
    ['true', { valueType: 'boolean', valueText: 'true' }, { valueBoolean: true }],
    ['false', { valueType: 'boolean', valueText: 'false' }, { valueBoolean: false }],
    ['a whole number', { valueType: 'integer', valueNumber: 3 }, { valueInteger: 3 }],
    ['a time', { valueType: 'time', valueText: '07:30:00' }, { valueTime: '07:30:00' }],
    ['a date', { valueType: 'dateTime', valueText: '2024-05' }, { valueDateTime: '2024-05' }],
    [
      'a ratio',
      { valueType: 'Ratio', valueStructure: { numerator: { value: 1 }, denominator: { value: 128 } } },
      { valueRatio: { numerator: { value: 1 }, denominator: { value: 128 } } },
    ],
    [
      'a range',
      { valueType: 'Range', valueStructure: { low: { value: 1 } } },
      { valueRange: { low: { value: 1 } } },
    ],
    [
      'a period',
      { valueType: 'Period', valueStructure: { start: '2024' } },
      { valuePeriod: { start: '2024' } },
    ],
    [
      'sampled data',
      {
        valueType: 'SampledData',
        valueStructure: { origin: { value: 0 }, period: 10, dimensions: 1, data: '1 2' },
      },
      { valueSampledData: { origin: { value: 0 }, period: 10, dimensions: 1, data: '1 2' } },
    ],
  ] as const) {
    test(`${name} is written as its own type`, () => {
      const resource = sent(value as Partial<ObservationRecord>);
      for (const [element, content] of Object.entries(expected)) assert.deepEqual(resource[element], content);
      assert.equal(resource.dataAbsentReason, undefined);
    });
  }

  test('without value and reason the value is unknown; the reason of the source stands', () => {
    const reason = { text: 'haemolysed' };
    assert.deepEqual(sent({ dataAbsentReason: reason }).dataAbsentReason, reason);
    assert.equal(
      (sent({ status: 'registered' }).dataAbsentReason as { coding: { code: string }[] }).coding[0]?.code,
      'unknown',
    );
  });

  test('a reason beside a value, which R4 forbids, is left out', () => {
    assert.equal(
      sent({ valueType: 'string', valueText: 'x', dataAbsentReason: { text: 'y' } }).dataAbsentReason,
      undefined,
    );
  });

  test('a range without bounds and text, which R4 forbids, is left out', () => {
    assert.equal(sent({ referenceRanges: [{ type: { text: 'normal' } }] }).referenceRange, undefined);
  });

  for (const status of [
    'registered',
    'preliminary',
    'final',
    'amended',
    'corrected',
    'cancelled',
    'entered-in-error',
    'unknown',
  ] as const)
    test(`status ${status} goes out as it is`, () => assert.equal(sent({ status }).status, status));
});
