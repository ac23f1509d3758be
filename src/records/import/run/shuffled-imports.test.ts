/**
 * The records of ten patients end in the same state in however many imports they come, in whatever order, and with
 * however many workers: byte for byte as they are fetched.
 */
import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { bundle, type Resource } from '../../../../test-support/records/clinic.ts';
import { lines, sourceOf } from '../../../../test-support/records/import.ts';
import { type Tenant, useEmptyApi } from '../../../../test-support/service/api.ts';
import { sized } from '../../../../test-support/sized.ts';
import { createFacility, createOrganisation } from '../../../tenancy/organisations/facilities.ts';
import { importRecords } from '../import-records.ts';
import type { ImportDocument } from '../import-report.ts';

const SEEDS = sized(4, 200);
/** In one test. */
const AT_ONCE = 20;
/** The same in every organisation: ids are made for a facility. */
const FACILITY = randomUUID();
const PATIENTS = Array.from({ length: 10 }, (_, index) => `p${index}`);

const api = await useEmptyApi();

const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';
const ORDER_NUMBERS = 'http://hospital.example/orders';
const to = (type: string, id: string) => ({ reference: `${type}/${id}` });
const category = (code: string) => [{ coding: [{ system: CATEGORY, code }] }];

/** What one patient has; which links there are differs from patient to patient. */
function recordsOf(patient: string, number: number): Resource[] {
  const id = (name: string) => `${name}-${patient}`;
  const has = (divisor: number) => number % divisor === 0;
  const subject = to('Patient', patient);
  const encounter = to('Encounter', id('visit'));
  const time = (minute: number) => `2024-03-0${(number % 9) + 1}T10:${String(minute).padStart(2, '0')}:00Z`;
  const of = (resourceType: string, name: string, more: object): Resource => ({
    resourceType,
    id: id(name),
    status: 'final',
    code: { text: name },
    subject,
    ...more,
  });
  const order = (name: string, more: object = {}) =>
    of('ServiceRequest', name, { status: 'active', intent: 'order', encounter, ...more });
  const result = (name: string, minute: number, more: object = {}) =>
    of('Observation', name, {
      category: category('laboratory'),
      effectiveDateTime: time(minute),
      valueString: name,
      encounter,
      ...more,
    });
  const report = (name: string, more: object) =>
    of('DiagnosticReport', name, { issued: time(30), category: undefined, ...more });
  const sign = (name: string, code: string, unit: string) =>
    of('Observation', name, {
      category: category('vital-signs'),
      code: { coding: [{ system: 'http://loinc.org', code }] },
      effectiveDateTime: time(1),
      valueQuantity: { value: 80, unit, system: 'http://unitsofmeasure.org', code: unit },
      encounter,
    });
  const ofBlood = { specimen: to('Specimen', id('blood')) };
  const byNumber = {
    type: 'ServiceRequest',
    identifier: { system: ORDER_NUMBERS, value: id('asked') },
    display: 'The order',
  };
  const visit = {
    resourceType: 'Encounter',
    id: id('visit'),
    status: 'finished',
    class: { code: 'AMB', system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode' },
    subject,
    period: { start: time(0) },
    participant: [{ individual: { ...to('Practitioner', 'doctor'), display: 'Dr. Brook' } }],
    serviceProvider: to('Organization', 'hospital'),
  };
  const laboratory = [
    order('asked', {
      identifier: [{ system: ORDER_NUMBERS, value: id('asked') }],
      requester: to('Practitioner', 'doctor'),
      ...(has(3) ? { reasonReference: [to('Observation', id('alone'))] } : {}),
    }),
    result('of-order', 10, { basedOn: [has(4) ? byNumber : to('ServiceRequest', id('asked'))] }),
    result('alone', 11, { performer: [to('Organization', 'hospital')], category: undefined }),
    result('member', 12),
    result('panel', 12, { hasMember: [to('Observation', id('member'))], valueString: undefined }),
    result('listed', 13),
    { resourceType: 'Specimen', id: id('blood'), subject },
    result('together', 12),
    result('sodium', 14, has(4) ? ofBlood : {}),
    result('potassium', 14, { ...ofBlood, ...(has(3) ? { encounter: undefined } : {}) }),
    result('creatinine', 14, { ...ofBlood, status: 'preliminary', code: { text: 'sodium' } }),
    report('found', {
      result: [to('Observation', id('listed')), ...(has(4) ? [to('Observation', id('panel'))] : [])],
      ...(has(3) ? { basedOn: [to('ServiceRequest', id('asked'))] } : {}),
    }),
  ];
  const imaging = [
    order('picture', { category: category('imaging') }),
    of('ImagingStudy', 'study', {
      status: 'available',
      code: undefined,
      started: time(20),
      encounter,
      ...(has(3) ? { basedOn: [to('ServiceRequest', id('picture'))] } : {}),
    }),
    report('read', {
      imagingStudy: [to('ImagingStudy', id('study'))],
      ...(has(5) ? { basedOn: [to('ServiceRequest', id('picture'))] } : {}),
    }),
    sign('pulse', '8867-4', '/min'),
    sign('breaths', '9279-1', '/min'),
  ];
  return [visit, ...(has(2) ? laboratory : imaging)];
}

const PEOPLE: Resource[] = PATIENTS.map((id) => ({
  resourceType: 'Patient',
  id,
  name: [{ use: 'official', family: id, given: ['Noor'] }],
}));
const RECORDS: Resource[] = [
  { resourceType: 'Organization', id: 'hospital', name: 'Hill Hospital' },
  { resourceType: 'Practitioner', id: 'doctor', name: [{ family: 'Brook' }] },
  ...PATIENTS.flatMap(recordsOf),
];

describe('any split into 1 to 30 imports, in any order, by 1 to 8 workers, ends as one import does', () => {
  let expected: Record<string, string>;
  before(async () => {
    expected = await stateAfter([{ documents: [bundle([...PEOPLE, ...RECORDS])], workers: 1 }]);
  });

  for (let from = 0; from < SEEDS; from += AT_ONCE)
    test(`splits ${from + 1} to ${Math.min(SEEDS, from + AT_ONCE)} [IN-16, IN-37]`, async () => {
      const seeds = Array.from({ length: Math.min(AT_ONCE, SEEDS - from) }, () => randomInt(2 ** 31));
      const faults: string[] = [];
      const work = async (): Promise<void> => {
        for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
          try {
            const fault = differenceOf(await stateAfter(shuffledImports(seed)), expected);
            if (fault !== undefined) faults.push(`seed ${seed}: ${fault}`);
          } catch (error) {
            faults.push(`seed ${seed}: ${String(error)}`);
          }
        }
      };
      await Promise.all([work(), work(), work()]);
      assert.deepEqual(faults, []);
    });
});

/** The first difference, in few words. */
function differenceOf(actual: Record<string, string>, expected: Record<string, string>): string | undefined {
  const path = [...new Set([...Object.keys(expected), ...Object.keys(actual)])].find(
    (one) => actual[one] !== expected[one],
  );
  if (path === undefined) return undefined;
  const [was = '', wanted = ''] = [actual[path], expected[path]];
  const at = [...wanted].findIndex((character, index) => character !== was[index]);
  const part = (text: string) => text.slice(Math.max(0, at - 150), at + 150);
  return `${path} has\n${part(was)}\ninstead of\n${part(wanted)}`;
}

interface OneImport {
  documents: readonly (string | object)[];
  workers: number;
}

/** Each import has files with some of the records: a Bundle, lines, or one record. */
function shuffledImports(seed: number): OneImport[] {
  const random = randomOf(seed);
  const among = <T>(items: readonly T[]): T => items[random(items.length)] as T;
  // Few more often than many, which take longer.
  const count = 1 + Math.min(random(30), random(30));
  const imports = Array.from({ length: count }, () => [] as Resource[]);
  // A record without its patient is refused, and is sent again. Two Bundles could wait for each other without end.
  const patientsFirst = random(4) > 0;
  for (const one of [...(patientsFirst ? [] : PEOPLE), ...RECORDS]) among(imports).push(one);
  const all = imports.map((records) => ({
    documents: filesOf(shuffle(records, random), { random, bundles: patientsFirst }),
    workers: 1 + random(8),
  }));
  return patientsFirst ? [{ documents: [bundle(PEOPLE)], workers: 1 }, ...all] : all;
}

function filesOf(
  records: readonly Resource[],
  { random, bundles }: { random: (below: number) => number; bundles: boolean },
): (string | object)[] {
  const files = Array.from({ length: 1 + random(4) }, () => [] as Resource[]);
  for (const one of records) files[random(files.length)]?.push(one);
  return files
    .filter(({ length }) => length > 0)
    .map((file) => (bundles && random(2) === 0 ? bundle(file, 'collection') : lines(file)));
}

function shuffle<T>(items: readonly T[], random: (below: number) => number): T[] {
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = random(last + 1);
    [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
  }
  return shuffled;
}

/** The same numbers for the same seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

async function stateAfter(imports: readonly OneImport[]): Promise<Record<string, string>> {
  const organisation = await createOrganisation(api.database.pool, { name: 'Organisation' });
  const tenant: Tenant = { organisationId: organisation.id, facilityId: FACILITY };
  await createFacility(api.database.pool, {
    organisationId: organisation.id,
    id: FACILITY,
    name: 'Facility',
  });
  const left = [...imports];
  for (let one = left.shift(), refused = 0; one !== undefined; one = left.shift()) {
    const { rejectedCount, rejected } = await importDocuments(tenant, one);
    if (rejectedCount === 0) refused = 0;
    else {
      left.push(one);
      refused += 1;
      assert.ok(refused <= left.length, JSON.stringify(rejected[0]));
    }
  }
  return fetched(tenant);
}

async function importDocuments(tenant: Tenant, { documents, workers }: OneImport): Promise<ImportDocument> {
  const sources = documents.map((document, index) => sourceOf(`${index}.json`, document));
  const scope = { ...tenant, timeZone: 'UTC' };
  return (await importRecords({ db: api.database.pool }, { scope, sources, workers })).document;
}

const LISTS = [
  ['/investigations/lab/orders', 'orderId'],
  ['/investigations/imaging/orders', 'orderId'],
  ['/encounters/vitals', 'vitalSetId'],
] as const;

/** What the API answers about the ten patients: the texts of lists, encounters and records. */
async function fetched(tenant: Tenant): Promise<Record<string, string>> {
  const { token } = await api.createAccount(tenant);
  const answers = new Map<string, string>();
  const get = async (path: string) => {
    const { status, text, json } = await api.call(path, { token });
    assert.equal(status, 200, `${path}: ${text}`);
    answers.set(path, withoutOwn(text, tenant));
    return json;
  };
  const patients = await api.database.pool.query<{ id: string }>({
    text: 'select id from patient where organisation_id = $1 order by id',
    values: [tenant.organisationId],
  });
  await Promise.all(
    patients.rows.map(async ({ id }) => {
      await get(`/encounters/fhir/Encounter?patient=${id}&purposeOfUse=TREATMENT`);
      for (const [path, idOf] of LISTS) {
        const { items } = await get(`${path}?patient=${id}&limit=100`);
        for (const item of items) await get(`${path}/${item[idOf]}/clinical/fhir`);
      }
    }),
  );
  return Object.fromEntries([...answers].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Versions and times of writing tell of the way, and ids of organisations of the test. */
function withoutOwn(text: string, { organisationId }: Tenant): string {
  return text.replaceAll(organisationId, 'ORGANISATION').replaceAll(/"meta":\{[^{}]*\}/g, '"meta":{}');
}
