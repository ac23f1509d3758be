/**
 * Whole resources, as the R4 pages have them, of what other records or imports complete: links between imports, words that
 * mean a quantity, visits and specimens, results without an order, and patients who were merged.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundle, type Resource } from '../../../../test-support/records/clinic.ts';
import { importJson } from '../../../../test-support/records/import-files.ts';
import type { Json } from '../../../../test-support/service/api.ts';
import { useTestApi } from '../../../../test-support/service/use-api.ts';

const PATIENT = '7b000000-0000-4000-8000-000000000001';
const subject = { reference: `Patient/${PATIENT}` };
const uuid = (last: number) => `7b000000-0000-4000-8001-${String(last).padStart(12, '0')}`;
const coded = (system: string, code: string, display: string) => ({ coding: [{ system, code, display }] });
const LABORATORY = coded(
  'http://terminology.hl7.org/CodeSystem/observation-category',
  'laboratory',
  'Laboratory',
);
const HAEMOGLOBIN = coded('http://loinc.org', '718-7', 'Hemoglobin [Mass/volume] in Blood');
const identifier = (value: string) => [{ system: 'https://laboratory.example/records', value }];
const measured = (value: number, unit: string) => ({
  valueQuantity: { value, unit, system: 'http://unitsofmeasure.org', code: unit },
});
const observation = (last: number, more: object): Resource => ({
  resourceType: 'Observation',
  id: uuid(last),
  identifier: identifier(String(last)),
  status: 'final',
  category: [LABORATORY],
  code: HAEMOGLOBIN,
  subject,
  effectiveDateTime: '2024-06-01T10:00:00Z',
  ...more,
});
const order = (last: number, more: object = {}): Resource => ({
  resourceType: 'ServiceRequest',
  id: uuid(last),
  identifier: identifier(String(last)),
  status: 'completed',
  intent: 'order',
  category: [coded('http://snomed.info/sct', '108252007', 'Laboratory procedure')],
  code: HAEMOGLOBIN,
  subject,
  authoredOn: '2024-06-01T09:00:00Z',
  ...more,
});

const { api, tenant, account } = await useTestApi();
await load({ resourceType: 'Patient', id: PATIENT });

async function load(...records: Resource[]): Promise<void> {
  const { rejected } = await importJson(api.database.pool, tenant, JSON.stringify(bundle(records)));
  assert.deepEqual(rejected, []);
}
async function read(path: string): Promise<Json> {
  const { status, json } = await api.call(path, { token: account.token });
  assert.equal(status, 200, path);
  const { meta: _meta, ...resource } = json;
  return resource;
}
const answer = ({ resourceType, id }: Resource) =>
  read(`/fhir/${resourceType}/${String(id)}?purposeOfUse=TREATMENT`);

test('a result that came before its order, and the order that took the place of the made-up one [IN-37, IN-38]', async () => {
  const ordered = order(10);
  const result = observation(11, {
    basedOn: [{ reference: `ServiceRequest/${ordered.id}` }],
    ...measured(13.5, 'g/dL'),
  });
  await importJson(api.database.pool, tenant, JSON.stringify(result));
  const [{ reference }] = (await answer(result)).basedOn as [{ reference: string }];
  await load(ordered);
  assert.deepEqual(await answer(result), result);
  assert.deepEqual(await read(`/fhir/${reference}?purposeOfUse=TREATMENT`), ordered);
});

test('a string that is a comparator and a decimal, and a contained performer without a display [IN-46, IN-47]', async () => {
  const ordered = order(20);
  const basedOn = [{ reference: `ServiceRequest/${ordered.id}` }];
  const troponin = observation(21, { basedOn, valueString: '<0.01' });
  const performed = observation(22, {
    basedOn,
    contained: [{ resourceType: 'Organization', id: 'laboratory', name: 'Hill Laboratory' }],
    performer: [{ reference: '#laboratory' }],
    ...measured(13.5, 'g/dL'),
  });
  await load(ordered, troponin, performed);
  const { valueString: _text, ...rest } = troponin;
  assert.deepEqual(await answer(troponin), { ...rest, valueQuantity: { value: 0.01, comparator: '<' } });
  const { contained: _contained, ...kept } = performed;
  assert.deepEqual(await answer(performed), { ...kept, performer: [{ display: 'Hill Laboratory' }] });
});

test('a visit inside of another, and a culture with its specimen, members and concentration [IN-5, FETCH-26]', async () => {
  const visit = (last: number, more: object): Resource => ({
    resourceType: 'Encounter',
    id: uuid(last),
    identifier: identifier(String(last)),
    status: 'finished',
    class: {
      system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode',
      code: 'IMP',
      display: 'inpatient encounter',
    },
    serviceType: { text: 'Internal medicine' },
    subject,
    period: { start: '2024-06-01T08:00:00Z', end: '2024-06-03T08:00:00Z' },
    hospitalization: {
      admitSource: coded(
        'http://terminology.hl7.org/CodeSystem/admit-source',
        'emd',
        'From accident/emergency department',
      ),
      dischargeDisposition: coded(
        'http://terminology.hl7.org/CodeSystem/discharge-disposition',
        'home',
        'Home',
      ),
    },
    ...more,
  });
  const stay = visit(30, {});
  const ward = visit(31, { partOf: { reference: `Encounter/${stay.id}` } });
  const specimen: Resource = {
    resourceType: 'Specimen',
    id: uuid(32),
    identifier: identifier('32'),
    status: 'available',
    type: { text: 'Urine' },
    subject,
    collection: { collectedDateTime: '2024-06-01T09:00:00Z', method: { text: 'midstream' } },
  };
  const ordered = order(33, { specimen: [{ reference: `Specimen/${specimen.id}` }] });
  const ofCulture = {
    basedOn: [{ reference: `ServiceRequest/${ordered.id}` }],
    encounter: { reference: `Encounter/${ward.id}` },
    specimen: { reference: `Specimen/${specimen.id}` },
  };
  const susceptible = coded(
    'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation',
    'S',
    'Susceptible',
  );
  const sensitivity = observation(34, {
    ...ofCulture,
    extension: [
      {
        url: 'http://mimic.mit.edu/fhir/mimic/StructureDefinition/dilution-details',
        valueQuantity: { value: 0.5, comparator: '<=', unit: 'mg/L' },
      },
    ],
    code: { text: 'Ciprofloxacin' },
    valueCodeableConcept: susceptible,
    interpretation: [susceptible],
  });
  const organism = observation(35, {
    ...ofCulture,
    code: { text: 'Culture' },
    valueCodeableConcept: { text: 'Escherichia coli' },
    hasMember: [{ reference: `Observation/${sensitivity.id}` }],
  });
  const infection = observation(36, {
    ...ofCulture,
    code: { text: 'Infection of the urinary tract' },
    valueBoolean: true,
    derivedFrom: [{ reference: `Observation/${organism.id}` }],
  });
  const all = [stay, ward, specimen, ordered, sensitivity, organism, infection];
  await load(...all);
  for (const resource of all) {
    const isVisit = resource.resourceType === 'Encounter';
    const path = `${isVisit ? '/encounters' : ''}/fhir/${resource.resourceType}/${String(resource.id)}`;
    // Where the source names nobody, a visit is at the organisation itself.
    const added = isVisit ? { serviceProvider: { reference: `Organization/${tenant.organisationId}` } } : {};
    assert.deepEqual(await read(`${path}?purposeOfUse=TREATMENT`), { ...resource, ...added });
  }
});

test('a result without a category and without an order, and the order that is made for it [IN-17, IN-39]', async () => {
  const { category: _none, ...result } = observation(40, measured(13.5, 'g/dL'));
  await load(result as Resource);
  const { basedOn, ...rest } = await answer(result as Resource);
  assert.deepEqual(rest, { ...result, category: [LABORATORY] });
  const [{ reference }] = basedOn as [{ reference: string }];
  const id = reference.slice('ServiceRequest/'.length);
  assert.deepEqual(await read(`/fhir/${reference}?purposeOfUse=TREATMENT`), {
    resourceType: 'ServiceRequest',
    id,
    identifier: [{ system: `urn:uuid:${tenant.organisationId}`, value: id }],
    status: 'completed',
    intent: 'order',
    category: [coded('http://snomed.info/sct', '108252007', 'Laboratory procedure')],
    code: HAEMOGLOBIN,
    subject,
  });
});

test('a patient who was replaced, and the patient who replaces [PAT-10]', async () => {
  const person = (last: number, more: object): Resource => ({
    resourceType: 'Patient',
    id: uuid(last),
    identifier: identifier(String(last)),
    name: [{ use: 'official', family: 'Okafor', given: ['Ngozi'] }],
    gender: 'female',
    birthDate: '1984-05-01',
    ...more,
  });
  const to = (last: number) => ({ reference: `Patient/${uuid(last)}` });
  const replaced = person(50, { active: false, link: [{ other: to(51), type: 'replaced-by' }] });
  const survivor = person(51, { active: true, link: [{ other: to(50), type: 'replaces' }] });
  await load(replaced, survivor);
  for (const one of [replaced, survivor])
    assert.deepEqual(await read(`/patients/base/${String(one.id)}/clinical/fhir`), one);
});
