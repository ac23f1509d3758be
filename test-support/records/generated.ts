/**
 * Records made for what sources get wrong, or say in another way than the profiles: each vital sign under each code and
 * unit, pressures apart, reasons without values, scores, versions out of order, a patient who was merged,
 * an order after its results, strings that mean quantities, visits and specimens, and results without an order.
 * `meta.profile` claims what the answer must follow.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { VITAL_SIGN_PROFILES } from '../fhir/vital-sign-profiles.ts';

const PATIENT = '7f000000-0000-4000-8000-000000000001';
const MERGED = '7f000000-0000-4000-8000-000000000002';
const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';
const PROFILE = 'http://hl7.org/fhir/StructureDefinition/';
const UCUM = 'http://unitsofmeasure.org';

const coded = (system: string, code: string) => ({ coding: [{ system, code }] });
const loinc = (code: string) => coded('http://loinc.org', code);
const absent = (code: string) => coded('http://terminology.hl7.org/CodeSystem/data-absent-reason', code);

/** Codes that sources send alone for the sign of a profile. */
const NARROWER: Readonly<Record<string, readonly string[]>> = {
  heartrate: ['8889-8', '8893-0', '40443-4'],
  oxygensat: ['59408-5'],
  bodytemp: ['8331-1', '8332-9', '8328-7', '8333-7', '8329-5'],
  bodyheight: ['3137-7', '8306-3', '8308-9'],
  headcircum: ['8287-5'],
  bodyweight: ['3141-9', '8351-9'],
  bp: ['55284-4', '35094-2'],
};

/** Other ways to write a unit, and units that are converted. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  resprate: ['breaths/min', 'bpm'],
  heartrate: ['bpm', 'beats/min'],
  oxygensat: ['percent'],
  bodytemp: ['°C', 'F', 'K'],
  bodyheight: ['m', 'ft', 'inches'],
  headcircum: ['mm'],
  bodyweight: ['lbs', 'oz', 'stone'],
  bmi: ['kg/m^2'],
};

let number = 0;
/** Each at a time of its own, so that each is a set, unless `more` says when. */
function observation(profiles: readonly string[], more: object): { id: string; [element: string]: unknown } {
  number += 1;
  return {
    resourceType: 'Observation',
    id: `7f000000-0000-4000-8001-${String(number).padStart(12, '0')}`,
    meta: { profile: profiles.map((name) => `${PROFILE}${name}`) },
    identifier: [{ system: 'https://ward.example/signs', value: String(number) }],
    status: 'final',
    category: [coded(CATEGORY, 'vital-signs')],
    subject: { reference: `Patient/${PATIENT}` },
    effectiveDateTime: new Date(Date.UTC(2024, 0, 1, 0, number)).toISOString(),
    ...more,
  };
}

const quantity = (value: number, unit: string) => ({
  valueQuantity: { value, unit, system: UCUM, code: unit },
});
const pressure = (code: string, value: object) => ({ code: loinc(code), ...value });
const both = [pressure('8480-6', quantity(120, 'mm[Hg]')), pressure('8462-4', quantity(80, 'mm[Hg]'))];

/** Every profile under its own code and narrower ones, in each unit and without any. */
function signs(): object[] {
  return [...VITAL_SIGN_PROFILES.values()].flatMap(({ name, code, units }) => {
    if (code === undefined || units.length === 0) return [];
    const under = [code, ...(NARROWER[name] ?? [])].map(loinc);
    return under.flatMap((concept) => [
      ...units.map((unit) => observation([name], { code: concept, ...quantity(37.1, unit) })),
      ...(SPELLINGS[name] ?? []).map((unit) =>
        observation([name], { code: concept, valueQuantity: { value: 37.1, unit } }),
      ),
      observation([name], { code: concept, category: undefined, ...quantity(37.1, units[0] ?? '') }),
      ...(name === 'bmi'
        ? []
        : [
            observation([name], { code: concept, valueQuantity: { value: 37.1 } }),
            observation([name], { code: concept, valueQuantity: { value: 37.1, unit: 'furlong' } }),
            observation([name], { code: concept, valueString: 'not well' }),
            observation([name], { code: concept, dataAbsentReason: absent('not-performed') }),
          ]),
    ]);
  });
}

function pressures(): object[] {
  const at = { effectiveDateTime: '2024-06-01T10:00:00Z' };
  const members = both.map((one) => observation([], { ...one, effectiveDateTime: '2024-06-01T11:00:00Z' }));
  return [
    ...['85354-9', ...(NARROWER.bp ?? [])].flatMap((code) => [
      observation(['bp'], { code: loinc(code), component: both }),
      observation(['bp'], { code: loinc(code), component: both.slice(1) }),
      observation(['bp'], {
        code: loinc(code),
        component: [
          pressure('8480-6', { valueQuantity: { value: 101.36 } }),
          pressure('8462-4', { valueString: '60' }),
        ],
      }),
      observation(['bp'], {
        code: loinc(code),
        component: [
          pressure('8480-6', { dataAbsentReason: absent('error') }),
          pressure('8462-4', { dataAbsentReason: absent('masked') }),
        ],
      }),
      observation(['bp'], { code: loinc(code), component: both.map((one) => ({ ...one, ...kiloPascal })) }),
    ]),
    ...both.map((one) => observation(['bp'], { ...one, ...at })),
    observation(['bp'], pressure('8480-6', { valueQuantity: { value: 101.36 } })),
    ...members,
    observation(['vitalspanel'], {
      code: loinc('85353-1'),
      effectiveDateTime: '2024-06-01T11:00:00Z',
      hasMember: members.map(({ id }) => ({ reference: `Observation/${id}` })),
    }),
  ];
}
const kiloPascal = { valueQuantity: { value: 16.0, unit: 'kPa', system: UCUM, code: 'kPa' } };

const score = (more: object) => observation([], { code: loinc('91148-7'), valueInteger: 7, ...more });

function result(version: string, value: number): object {
  return {
    resourceType: 'Observation',
    id: '7f000000-0000-4000-8002-000000000001',
    meta: { versionId: version, lastUpdated: `2024-06-0${version}T10:00:00Z` },
    status: version === '1' ? 'final' : 'corrected',
    category: [coded(CATEGORY, 'laboratory')],
    code: loinc('2823-3'),
    subject: { reference: `Patient/${MERGED}` },
    effectiveDateTime: '2024-06-01T10:00:00Z',
    ...quantity(value, 'mmol/L'),
  };
}

const PATIENTS = [
  { resourceType: 'Patient', id: PATIENT },
  {
    resourceType: 'Patient',
    id: MERGED,
    active: false,
    link: [{ other: { reference: `Patient/${PATIENT}` }, type: 'replaced-by' }],
  },
];

/** Files of the Bundles, each for an import of its own, in this order. */
export async function writeGenerated(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const [index, bundle] of generatedRecords().entries()) {
    const file = join(folder, `generated-${index}.json`);
    await writeFile(file, JSON.stringify(bundle));
    files.push(file);
  }
  return files;
}

/** An order whose report and result come in an earlier import. */
function lateOrder(): object[][] {
  const basedOn = [{ reference: 'ServiceRequest/7f000000-0000-4000-8003-000000000001' }];
  const result = finding({ code: loinc('718-7'), basedOn, ...quantity(13.5, 'g/dL') });
  const report = {
    resourceType: 'DiagnosticReport',
    id: '7f000000-0000-4000-8003-000000000002',
    status: 'final',
    category: [coded('http://terminology.hl7.org/CodeSystem/v2-0074', 'LAB')],
    code: loinc('58410-2'),
    subject: { reference: `Patient/${PATIENT}` },
    basedOn,
    result: [{ reference: `Observation/${result.id}` }],
  };
  const order = {
    resourceType: 'ServiceRequest',
    id: '7f000000-0000-4000-8003-000000000001',
    status: 'completed',
    intent: 'order',
    code: loinc('58410-2'),
    subject: { reference: `Patient/${PATIENT}` },
  };
  return [[report], [result], [order]];
}

/** What a string means, and a performer who has no name but that of a contained resource. */
function readings(): object[] {
  const laboratory = { resourceType: 'Organization', id: 'laboratory', name: 'Hill Laboratory' };
  return [
    finding({ code: loinc('6598-7'), valueString: '<0.01' }),
    finding({
      code: loinc('2823-3'),
      contained: [laboratory],
      performer: [{ reference: '#laboratory' }],
      ...quantity(4.1, 'mmol/L'),
    }),
  ];
}

/** A visit inside of a visit, and a culture: specimen, members, what follows from what, and a concentration. */
function wholes(): object[] {
  const [visit, ward, specimen, order] = ['1', '2', '3', '4'].map(
    (last) => `7f000000-0000-4000-8004-00000000000${last}`,
  );
  const encounter = (id: string | undefined, more: object) => ({
    resourceType: 'Encounter',
    id,
    status: 'finished',
    class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'IMP' },
    subject: { reference: `Patient/${PATIENT}` },
    period: { start: '2024-06-01T08:00:00Z', end: '2024-06-03T08:00:00Z' },
    ...more,
  });
  const ofCulture = {
    specimen: { reference: `Specimen/${specimen}` },
    encounter: { reference: `Encounter/${ward}` },
  };
  const susceptible = finding({
    ...ofCulture,
    code: loinc('18964-7'),
    valueCodeableConcept: coded('http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', 'S'),
    interpretation: [coded('http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', 'S')],
    extension: [
      {
        url: 'http://mimic.mit.edu/fhir/mimic/StructureDefinition/dilution-details',
        valueQuantity: { value: 0.5, comparator: '<=', unit: 'mg/L' },
      },
    ],
  });
  const organism = finding({
    ...ofCulture,
    code: loinc('600-7'),
    valueCodeableConcept: { text: 'Escherichia coli' },
    basedOn: [{ reference: `ServiceRequest/${order}` }],
    hasMember: [{ reference: `Observation/${susceptible.id}` }],
  });
  return [
    encounter(visit, {
      serviceType: { text: 'Internal medicine' },
      priority: { text: 'urgent' },
      hospitalization: {
        admitSource: coded('http://terminology.hl7.org/CodeSystem/admit-source', 'emd'),
        dischargeDisposition: coded('http://terminology.hl7.org/CodeSystem/discharge-disposition', 'home'),
      },
    }),
    encounter(ward, { partOf: { reference: `Encounter/${visit}` }, serviceType: { text: 'Intensive care' } }),
    {
      resourceType: 'Specimen',
      id: specimen,
      status: 'available',
      type: { text: 'Urine' },
      subject: { reference: `Patient/${PATIENT}` },
      collection: { collectedDateTime: '2024-06-01T09:00:00Z', method: { text: 'midstream' } },
    },
    {
      resourceType: 'ServiceRequest',
      id: order,
      status: 'completed',
      intent: 'order',
      code: loinc('630-4'),
      subject: { reference: `Patient/${PATIENT}` },
      specimen: [{ reference: `Specimen/${specimen}` }],
    },
    susceptible,
    organism,
    finding({
      ...ofCulture,
      code: { text: 'Infection of the urinary tract' },
      valueBoolean: true,
      derivedFrom: [{ reference: `Observation/${organism.id}` }],
    }),
  ];
}

/** Results without an order, of one time and of others: with no category, with one of several, with one of their own. */
function unordered(): object[] {
  const at = { effectiveDateTime: '2024-06-05T10:00:00Z' };
  const categories = [
    undefined,
    ...['exam', 'procedure', 'therapy'].map((code) => coded(CATEGORY, code)),
    { text: 'Blood gas' },
  ];
  return categories.flatMap((category) => {
    const result = { code: loinc('718-7'), category: category === undefined ? undefined : [category] };
    return [
      finding({ ...result, ...at, ...quantity(13.5, 'g/dL') }),
      finding({ ...result, ...quantity(14, 'g/dL') }),
    ];
  });
}

/** Of no vital sign. */
function finding(more: object): { id: string; [element: string]: unknown } {
  return observation([], { category: [coded(CATEGORY, 'laboratory')], ...more });
}

function generatedRecords(): object[] {
  number = 0;
  const bundles = [
    [
      ...PATIENTS,
      ...signs(),
      ...pressures(),
      score({}),
      score({ category: [coded(CATEGORY, 'survey'), coded(CATEGORY, 'vital-signs')] }),
    ],
    [result('2', 4.1)],
    [result('1', 41)],
    ...lateOrder(),
    readings(),
    wholes(),
    unordered(),
  ];
  return bundles.map((resources) => ({
    resourceType: 'Bundle',
    type: 'collection',
    entry: resources.map((resource) => ({ resource })),
  }));
}
