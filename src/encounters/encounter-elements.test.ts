/** The elements of an Encounter that a partner looks for, from the import to the read (https://hl7.org/fhir/R4/encounter.html). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fhirFaults } from '../../test-support/fhir/fhir-validator.ts';
import { importJson } from '../../test-support/records/import-files.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';
import { parseFhirJson } from '../fhir/json.ts';

const t = await useTestApi();

const id = (number: number) => `7f000000-0000-4000-8000-0000000000${String(number).padStart(2, '0')}`;
const [PATIENT, OTHER, HOSPITAL, WARD, STAY, ICU] = [id(1), id(2), id(3), id(4), id(5), id(6)] as const;
const people = [PATIENT, OTHER].map((one) => ({ resourceType: 'Patient', id: one }));
const text = (words: string) => ({ text: words });
const coded = (system: string, code: string, display: string) => ({ coding: [{ system, code, display }] });

const directory = [
  { resourceType: 'Organization', id: HOSPITAL, name: 'Hill Hospital' },
  { resourceType: 'Location', id: WARD, name: 'Ward 3' },
];
const STAY_JSON = `{
  "resourceType": "Encounter",
  "id": "${STAY}",
  "identifier": [{ "system": "https://hospital.example/visits", "value": "V-1" }],
  "status": "finished",
  "class": { "system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": "IMP", "display": "inpatient encounter" },
  "serviceType": { "coding": [{ "system": "http://terminology.hl7.org/CodeSystem/service-type", "code": "165", "display": "Cardiology" }] },
  "subject": { "reference": "Patient/${PATIENT}" },
  "period": { "start": "2024-03-05T08:30:00+01:00", "end": "2024-03-09T09:15:00+01:00" },
  "length": { "value": 4.030, "unit": "d", "system": "http://unitsofmeasure.org", "code": "d" },
  "hospitalization": {
    "preAdmissionIdentifier": { "use": "official", "system": "https://hospital.example/pre", "value": "P-9" },
    "origin": { "reference": "Organization/${HOSPITAL}", "display": "Hill" },
    "admitSource": { "coding": [{ "system": "http://terminology.hl7.org/CodeSystem/admit-source", "code": "emd", "display": "From accident/emergency department" }] },
    "reAdmission": { "text": "within 30 days" },
    "dietPreference": [{ "text": "vegetarian" }, { "text": "no nuts" }],
    "specialCourtesy": [{ "text": "staff" }],
    "specialArrangement": [{ "text": "wheelchair" }],
    "destination": { "display": "Home of a daughter" },
    "dischargeDisposition": { "coding": [{ "system": "http://terminology.hl7.org/CodeSystem/discharge-disposition", "code": "home", "display": "Home" }] }
  },
  "location": [{
    "location": { "reference": "Location/${WARD}" },
    "status": "completed",
    "physicalType": { "coding": [{ "system": "http://terminology.hl7.org/CodeSystem/location-physical-type", "code": "wa", "display": "Ward" }] },
    "period": { "start": "2024-03-05T08:30:00+01:00" }
  }],
  "serviceProvider": { "reference": "Organization/${HOSPITAL}" }
}`;
const icu = (more: object = {}) => ({
  resourceType: 'Encounter',
  id: ICU,
  identifier: [{ system: 'https://hospital.example/visits', value: 'V-2' }],
  status: 'finished',
  class: {
    system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode',
    code: 'ACUTE',
    display: 'inpatient acute',
  },
  priority: coded('http://terminology.hl7.org/CodeSystem/v3-ActPriority', 'EM', 'emergency'),
  subject: { reference: `Patient/${PATIENT}` },
  period: { start: '2024-03-06', end: '2024-03-07' },
  hospitalization: { admitSource: text('ward') },
  serviceProvider: { reference: `Organization/${HOSPITAL}` },
  partOf: { reference: `Encounter/${STAY}` },
  ...more,
});

const send = (...resources: (object | string)[]) =>
  importJson(
    t.api.database.pool,
    t.tenant,
    ...resources.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))),
  );
async function read(encounter: string): Promise<object> {
  const answer = await t.api.call(`/encounters/fhir/Encounter/${encounter}?purposeOfUse=TREATMENT`, {
    token: t.account.token,
  });
  assert.equal(answer.status, 200);
  assert.deepEqual(fhirFaults(answer.json), []);
  const { meta: _meta, ...resource } = parseFhirJson(answer.text) as Record<string, unknown>;
  return resource;
}

test('every element that is kept comes back, digits included [ENC-38]', async () => {
  // The part comes before the stay.
  const report = await send(icu(), STAY_JSON, ...people, ...directory);
  assert.deepEqual([report.rejected, report.unresolved, report.notKept], [[], [], []]);
  assert.deepEqual(await read(STAY), parseFhirJson(STAY_JSON));
  assert.deepEqual(await read(ICU), parseFhirJson(JSON.stringify(icu())));
  const answer = await t.api.call(`/encounters/fhir/Encounter?patient=${PATIENT}&purposeOfUse=TREATMENT`, {
    token: t.account.token,
  });
  const [first, second] = answer.json.entry.map(({ resource }: { resource: object }) => resource);
  assert.deepEqual([first.partOf, second.hospitalization.admitSource.coding[0].code], [icu().partOf, 'emd']);
  const again = await send(STAY_JSON, icu());
  assert.deepEqual(again.unchanged, { Encounter: 2 });
});

test('a visit that is not here keeps its name; a visit that is a part of itself is taken without that [ENC-38]', async () => {
  const elsewhere = { reference: 'Encounter/elsewhere', display: 'Stay in the valley' };
  assert.deepEqual((await send(icu({ partOf: elsewhere }))).unresolved, [
    { element: 'Encounter.partOf', count: 1, file: 'source 1', entry: 1 },
  ]);
  assert.deepEqual(await read(ICU), icu({ partOf: { display: 'Stay in the valley' } }));
  const { rejected, notKept } = await send(
    icu({ partOf: { reference: `Encounter/${ICU}`, display: 'ICU' } }),
  );
  assert.deepEqual([rejected, notKept.map(({ element }) => element)], [[], ['Encounter.partOf']]);
  const { partOf: _itself, ...alone } = icu();
  assert.deepEqual(await read(ICU), alone);
});

test('a length in days as text has the code of a day [ENC-38, HTTP-30]', async () => {
  const days = { value: 3, unit: 'days' };
  await send(...people, icu({ partOf: undefined, serviceProvider: undefined, length: days }));
  const coded = { ...days, system: 'http://unitsofmeasure.org', code: 'd' };
  assert.deepEqual(((await read(ICU)) as { length: object }).length, coded);
});

test('a visit is no part of another patient’s [IN-20]', async () => {
  await send(...people, STAY_JSON);
  const foreign = icu({ id: id(16), subject: { reference: `Patient/${OTHER}` } });
  const { rejected } = await send(foreign);
  assert.deepEqual(
    rejected.map(({ reason, resourceType }) => [resourceType, reason]),
    [
      [
        'Encounter',
        'Encounter.partOf refers to a record of another patient. If that record moved to this patient, import it first, or in the same import. If each refers to the other, send both in one Bundle',
      ],
    ],
  );
  const found = await t.api.call(`/encounters/fhir/Encounter/${id(16)}?purposeOfUse=TREATMENT`, {
    token: t.account.token,
  });
  assert.equal(found.status, 404);
});
