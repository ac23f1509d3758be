/** Specimens from the import to the laboratory Bundle (https://hl7.org/fhir/R4/specimen.html). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clinicalFaults } from '../../test-support/fhir/clinical-conformance.ts';
import { importJson } from '../../test-support/records/import-files.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';
import { parseFhirJson } from '../fhir/json.ts';
import { publishLevels } from '../publish/plan/content.fhir.ts';
import { createTranslator } from '../terminology/lookup/translate.ts';
import { createOrderEmitter } from './emit-investigation.ts';

const { api, tenant, account } = await useTestApi();

const id = (number: number) => `8a000000-0000-4000-8000-0000000000${String(number).padStart(2, '0')}`;
const [PATIENT, OTHER, DOCTOR, BLOOD, ALIQUOT, ORDER, RESULT, REPORT] = [
  id(1),
  id(2),
  id(3),
  id(4),
  id(5),
  id(6),
  id(7),
  id(8),
] as const;
const PEOPLE = [
  { resourceType: 'Patient', id: PATIENT },
  { resourceType: 'Patient', id: OTHER },
  { resourceType: 'Practitioner', id: DOCTOR, name: [{ text: 'Dr. Brook' }] },
];
const subject = { reference: `Patient/${PATIENT}` };
const to = (type: string, target: string) => ({ reference: `${type}/${target}` });
const number = (value: string) => [{ system: 'https://lab.example/numbers', value }];
const lab = (system: string, code: string, display: string) => [{ coding: [{ system, code, display }] }];

const BLOOD_JSON = `{
  "resourceType": "Specimen",
  "id": "${BLOOD}",
  "identifier": [{ "system": "https://lab.example/specimens", "value": "S-1" }],
  "accessionIdentifier": { "system": "https://lab.example/accession", "value": "A-1" },
  "status": "available",
  "type": { "coding": [{ "system": "http://terminology.hl7.org/CodeSystem/v2-0487", "code": "BLDV", "display": "Blood venous" }] },
  "subject": { "reference": "Patient/${PATIENT}" },
  "receivedTime": "2024-03-05T09:10:00+01:00",
  "request": [{ "reference": "ServiceRequest/${ORDER}" }],
  "collection": {
    "collector": { "reference": "Practitioner/${DOCTOR}", "display": "Dr. Brook" },
    "collectedDateTime": "2024-03-05T08:50:00+01:00",
    "duration": { "value": 2.50, "unit": "min", "system": "http://unitsofmeasure.org", "code": "min" },
    "quantity": { "value": 6.0, "unit": "mL", "system": "http://unitsofmeasure.org", "code": "mL" },
    "method": { "text": "venipuncture" },
    "bodySite": { "text": "left arm" },
    "fastingStatusDuration": { "value": 8, "unit": "h", "system": "http://unitsofmeasure.org", "code": "h" }
  },
  "processing": [
    { "description": "spun", "procedure": { "text": "centrifugation" }, "additive": [{ "display": "gel" }], "timeDateTime": "2024-03-05" },
    { "timePeriod": { "start": "2024-03-05", "end": "2024-03-06" } }
  ],
  "container": [
    {
      "identifier": [{ "value": "T-1" }],
      "description": "tube",
      "type": { "text": "EDTA" },
      "capacity": { "value": 10.0, "unit": "tube", "system": "https://lab.example/units", "code": "T" },
      "specimenQuantity": { "value": 6.0, "unit": "drops" },
      "additiveCodeableConcept": { "text": "EDTA" }
    },
    { "additiveReference": { "display": "heparin" } }
  ],
  "condition": [{ "text": "haemolysed" }],
  "note": [{ "text": "second try" }]
}`;
const aliquot = (more: object = {}) => ({
  resourceType: 'Specimen',
  id: ALIQUOT,
  identifier: number('S-2'),
  status: 'unsatisfactory',
  subject,
  parent: [to('Specimen', BLOOD)],
  ...more,
});
const order = {
  resourceType: 'ServiceRequest',
  id: ORDER,
  identifier: number('O-1'),
  status: 'completed',
  intent: 'order',
  category: lab('http://snomed.info/sct', '108252007', 'Laboratory procedure'),
  code: { text: 'Potassium' },
  subject,
  specimen: [to('Specimen', BLOOD), { display: 'urine, not sent' }],
};
const result = {
  resourceType: 'Observation',
  id: RESULT,
  identifier: number('R-1'),
  basedOn: [to('ServiceRequest', ORDER)],
  status: 'final',
  category: lab('http://terminology.hl7.org/CodeSystem/observation-category', 'laboratory', 'Laboratory'),
  code: { text: 'Potassium' },
  subject,
  valueString: 'normal',
  specimen: to('Specimen', ALIQUOT),
};
const report = {
  resourceType: 'DiagnosticReport',
  id: REPORT,
  identifier: number('D-1'),
  basedOn: [to('ServiceRequest', ORDER)],
  status: 'final',
  category: lab('http://terminology.hl7.org/CodeSystem/v2-0074', 'LAB', 'Laboratory'),
  code: { text: 'Potassium' },
  subject,
  specimen: [to('Specimen', BLOOD)],
  result: [to('Observation', RESULT)],
};

const send = (...resources: (object | string)[]) =>
  importJson(
    api.database.pool,
    tenant,
    ...resources.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))),
  );
await send(...PEOPLE);
async function fetched(): Promise<Record<string, unknown>[]> {
  const answer = await api.call(`/investigations/lab/orders/${ORDER}/clinical/fhir`, {
    token: account.token,
  });
  assert.equal(answer.status, 200);
  const { bundle } = parseFhirJson(answer.text) as { bundle: { entry: { resource: never }[] } };
  const resources = bundle.entry.map(({ resource }) => resource);
  for (const resource of resources) assert.deepEqual(clinicalFaults(JSON.stringify(resource)), []);
  return resources;
}
const plain = (resource: object) => parseFhirJson(JSON.stringify(resource));

test('the Bundle of a laboratory order has the specimens that the order, its results and its reports name [FETCH-35]', async () => {
  // In an order in which nothing finds what it refers to at once.
  const document = await send(report, result, order, aliquot(), BLOOD_JSON);
  assert.deepEqual([document.rejected, document.unresolved, document.notKept], [[], [], []]);
  assert.deepEqual(await fetched(), [
    plain(order),
    parseFhirJson(BLOOD_JSON),
    plain(aliquot()),
    plain(result),
    plain(report),
  ]);
  const again = await send(BLOOD_JSON, aliquot(), order, result, report);
  assert.deepEqual(again.unchanged, {
    DiagnosticReport: 1,
    Observation: 1,
    ServiceRequest: 1,
    Specimen: 2,
  });
});

test('a Specimen is read at its fullUrl, and one that no order names is not there [FETCH-17, FETCH-35]', async () => {
  const read = (specimen: string) => api.call(`/fhir/Specimen/${specimen}`, { token: account.token });
  for (const [specimen, expected] of [
    [BLOOD, parseFhirJson(BLOOD_JSON)],
    [ALIQUOT, plain(aliquot())],
  ] as const) {
    const answer = await read(specimen);
    assert.equal(answer.status, 200);
    assert.deepEqual(parseFhirJson(answer.text), expected);
  }
  await send({ ...aliquot(), id: id(20), identifier: number('S-20') });
  assert.equal((await read(id(20))).status, 404);
});

test('a specimen that changes changes the answer [FETCH-22, FETCH-35]', async () => {
  const before = (await fetched()).find((resource) => resource.id === ALIQUOT);
  assert.equal(before?.status, 'unsatisfactory');
  await send(aliquot({ status: 'available' }));
  const after = (await fetched()).find((resource) => resource.id === ALIQUOT);
  assert.equal(after?.status, 'available');
});

test('amounts of a specimen have the units of UCUM, as results have [TERM-21]', async () => {
  const system = 'http://unitsofmeasure.org';
  await send(
    aliquot({
      collection: { quantity: { value: 6, unit: 'mL' } },
      container: [
        {
          capacity: { value: 2, system, code: 'cc' },
          specimenQuantity: { value: 1, unit: 'mls', system, code: 'mls' },
        },
      ],
    }),
  );
  const { collection, container } = (await fetched()).find((resource) => resource.id === ALIQUOT) ?? {};
  assert.deepEqual(
    [collection, container],
    [
      { quantity: { value: 6, unit: 'mL', system, code: 'mL' } },
      [{ capacity: { value: 2, unit: 'cc' }, specimenQuantity: { value: 1, unit: 'mls' } }],
    ],
  );
});

test('a publish sends a specimen before what names it [FETCH-35]', async () => {
  const translator = createTranslator({ db: api.database.pool });
  const scope = { ...tenant, timeZone: 'UTC' };
  const emitted = await createOrderEmitter({ db: api.database.pool, translator })(scope, {
    orderId: ORDER,
    discipline: 'laboratory',
  });
  assert.ok(emitted);
  const levels = publishLevels(emitted.resources).map((level) => level.map(({ key }) => key));
  const levelOf = (key: string) => levels.findIndex((level) => level.includes(key as never));
  assert.ok(levelOf(`Specimen/${ALIQUOT}`) < levelOf(`Observation/${RESULT}`));
  assert.ok(levelOf(`Specimen/${BLOOD}`) < levelOf(`DiagnosticReport/${REPORT}`));
});

test('a specimen of another patient, and one of nobody, are refused [IN-20]', async () => {
  const others = aliquot({
    id: id(30),
    identifier: number('S-30'),
    subject: to('Patient', OTHER),
    parent: undefined,
  });
  assert.equal((await send(others)).rejectedCount, 0);
  const foreign = to('Specimen', id(30));
  for (const [record, element] of [
    [{ ...result, specimen: foreign }, 'Observation.specimen'],
    [{ ...order, specimen: [foreign] }, 'ServiceRequest.specimen'],
    [{ ...report, specimen: [foreign] }, 'DiagnosticReport.specimen'],
    [aliquot({ parent: [foreign] }), 'Specimen.parent'],
    [
      aliquot({
        id: id(31),
        subject: to('Patient', OTHER),
        parent: undefined,
        request: [to('ServiceRequest', ORDER)],
      }),
      'Specimen.request',
    ],
  ] as const)
    assert.deepEqual(
      (await send(record)).rejected.map(({ reason }) => reason),
      [
        `${element} refers to a record of another patient. If that record moved to this patient, import it first, or in the same import. If each refers to the other, send both in one Bundle`,
      ],
    );
  const { rejected } = await send(aliquot({ subject: undefined }));
  assert.deepEqual(
    rejected.map(({ reason }) => reason),
    ['Specimen.subject is missing'],
  );
  assert.ok(!(await fetched()).some((resource) => resource.id === id(30)));
});

test('an order shows the specimen of a result that its report lists, also where that stands under another order [FETCH-35]', async () => {
  const [second, listed, urine] = [id(40), id(41), id(42)];
  const specimen = (status: string) => ({ resourceType: 'Specimen', id: urine, status, subject });
  const shown = async () => {
    const path = `/investigations/lab/orders/${second}/clinical/fhir`;
    const { json } = await api.call(path, { token: account.token });
    const resources: { resourceType: string; id: string; status: string }[] = json.bundle.entry.map(
      (entry: { resource: unknown }) => entry.resource,
    );
    return resources.map(({ resourceType, id, status }) => [resourceType, id, status]);
  };
  const results = { result: [to('Observation', listed)], specimen: undefined };
  const { rejected } = await send(
    { ...order, id: second, identifier: number('O-40'), specimen: undefined },
    specimen('available'),
    {
      ...result,
      id: listed,
      identifier: number('R-41'),
      basedOn: undefined,
      specimen: to('Specimen', urine),
    },
    { ...report, ...results, id: id(43), identifier: number('D-43'), issued: '2024-03-05T10:00:00Z' },
    {
      ...report,
      ...results,
      id: id(44),
      identifier: number('D-44'),
      issued: '2024-03-05T11:00:00Z',
      basedOn: [to('ServiceRequest', second)],
    },
  );
  assert.deepEqual(rejected, []);
  const { rows } = await api.database.pool.query({
    text: 'select order_id from observation where id = $1',
    values: [listed],
  });
  assert.deepEqual(rows, [{ order_id: ORDER }]);
  const expected = (status: string) => [
    ['ServiceRequest', second, 'completed'],
    ['Specimen', urine, status],
    ['Observation', listed, 'final'],
    ['DiagnosticReport', id(44), 'final'],
  ];
  assert.deepEqual(await shown(), expected('available'));
  await send(specimen('unsatisfactory'));
  assert.deepEqual(await shown(), expected('unsatisfactory'));
});
