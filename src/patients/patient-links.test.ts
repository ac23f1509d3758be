/** Patients that a source has merged: their links go out, searches find who replaces them, imports name their results. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fhirFaults } from '../../test-support/fhir/fhir-validator.ts';
import { countsOf } from '../../test-support/records/import.ts';
import { importJson } from '../../test-support/records/import-files.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';
import { emitPatient } from '../exchange/queue/envelope.ts';
import { loadPatients } from './patient.store.ts';

const OLD = '7c000000-0000-4000-8000-000000000001';
const NEW = '7c000000-0000-4000-8000-000000000002';
const NEWEST = '7c000000-0000-4000-8000-000000000003';
const SYSTEM = 'https://hospital.example/mrn';

const person = (id: string, number: string, family: string, link?: object[], more: object = {}) => ({
  resourceType: 'Patient',
  id,
  identifier: [{ system: SYSTEM, value: number }],
  name: [{ family, given: ['Ada'] }],
  gender: 'female',
  birthDate: '1970-01-01',
  ...(link === undefined ? {} : { link }),
  ...more,
});
const link = (type: string, other: object) => ({ other, type });
const to = (id: string) => ({ reference: `Patient/${id}` });

const RECORDS = [
  person(OLD, 'A-1', 'Maiden', [link('replaced-by', to(NEW))], { active: false }),
  person(NEW, 'A-2', 'Wed', [link('replaces', to(OLD)), link('refer', { display: 'Dr. Grey’s records' })]),
  // Only the survivor says that it replaces the other.
  person(NEWEST, 'A-3', 'Later', [link('replaces', to(NEW))]),
];

const { api, tenant, account } = await useTestApi();

const send = (...resources: object[]) =>
  importJson(api.database.pool, tenant, ...resources.map((resource) => JSON.stringify(resource)));
await send(...RECORDS);
const get = async (path: string, token = account.token) => {
  const answer = await api.call(path, { token });
  assert.equal(answer.status, 200, path);
  return answer.json;
};
const search = async (words: string, token?: string) =>
  (await get(`/patients/base?search=${encodeURIComponent(words)}`, token)).items;
const idsOf = (items: { id: string }[]) => items.map(({ id }) => id);

test('the FHIR Patient has the links of the source [PAT-10]', async () => {
  const [old, survivor] = await Promise.all(
    [OLD, NEW].map((id) => get(`/patients/base/${id}/clinical/fhir`)),
  );
  for (const resource of [old, survivor]) {
    assert.deepEqual(fhirFaults(resource), []);
    delete resource.meta;
  }
  assert.deepEqual(old, RECORDS[0]);
  assert.deepEqual(survivor, RECORDS[1]);
});

test('a delivery to an exchange has them too [PAT-10]', async () => {
  const patients = await loadPatients(api.database.pool, tenant, [OLD]);
  const [patient] = patients.values();
  assert.ok(patient);
  assert.deepEqual(JSON.parse(emitPatient(patient).resource).link, RECORDS[0]?.link);
});

test('a link may come before the patient that it leads to [PAT-10]', async () => {
  const [first, second] = ['7c000000-0000-4000-8000-000000000011', '7c000000-0000-4000-8000-000000000012'];
  const links = [link('seealso', to(second))];
  const document = await send(person(first, 'B-1', 'Before', links), person(second, 'B-2', 'Behind'));
  assert.deepEqual(document.unresolved, []);
  assert.deepEqual((await get(`/patients/base/${first}/clinical/fhir`)).link, links);
});

test('an unknown patient is named, a link to nobody or to oneself is refused [PAT-10]', async () => {
  const id = '7c000000-0000-4000-8000-000000000021';
  const missing = await send(person(id, 'C-1', 'Lost', [link('refer', { reference: 'Patient/nobody' })]));
  assert.deepEqual(missing.unresolved, [
    { element: 'Patient.link.other', count: 1, file: 'source 1', entry: 1 },
  ]);
  assert.deepEqual((await get(`/patients/base/${id}/clinical/fhir`)).link, [
    { other: { display: 'Patient/nobody' }, type: 'refer' },
  ]);
  const reasons = async (...links: object[]) =>
    (await send(person(id, 'C-1', 'Lost', links))).rejected.map(({ reason }) => reason);
  assert.deepEqual(await reasons({ type: 'refer' }), ['Patient.link.other is missing']);
  assert.deepEqual(await reasons({ other: to(OLD) }), ['Patient.link.type is missing']);
  assert.deepEqual(await reasons(link('refer', to(id))), ['Patient.link.other refers to the patient itself']);
  assert.deepEqual(await reasons(link('same', to(OLD))), [
    'Patient.link.type is not one of replaced-by, replaces, refer, seealso',
  ]);
});

test('a link of whose other patient nothing is left is not sent, because R4 asks for one [PAT-10, HTTP-30]', async () => {
  const id = '7c000000-0000-4000-8000-000000000022';
  const unnamed = { contained: [{ resourceType: 'RelatedPerson', id: 'r' }] };
  const links = [link('seealso', { reference: '#r' }), link('seealso', to(OLD))];
  const { notKept } = await send({ ...person(id, 'C-2', 'Half', links), ...unnamed });
  assert.deepEqual(countsOf(notKept), { 'Patient.contained': 1, 'Patient.link.other': 1 });
  const resource = await get(`/patients/base/${id}/clinical/fhir`);
  assert.deepEqual(resource.link, links.slice(1));
  assert.deepEqual(fhirFaults(resource), []);
});

test('a patient of another organisation or facility is not linked [PAT-10, IN-10]', async () => {
  const id = '7c000000-0000-4000-8000-000000000031';
  const elsewhere = [
    await api.createTenant(),
    { ...tenant, facilityId: await api.createFacility(tenant.organisationId) },
  ];
  for (const other of elsewhere) {
    const json = JSON.stringify(person(id, 'D-1', 'Far', [link('replaces', to(OLD))]));
    await importJson(api.database.pool, other, json);
    const { token } = await api.createAccount(other);
    const { items } = await get('/patients/base', token);
    assert.deepEqual(items[0].replaces, []);
    assert.deepEqual((await get(`/patients/base/${items[0].id}/clinical/fhir`, token)).link, [
      { other: { display: `Patient/${OLD}` }, type: 'replaces' },
    ]);
  }
  assert.equal((await get(`/patients/base/${OLD}`)).replacedBy, NEW);
});

test('a facility does not learn of a linked patient who is registered elsewhere only [PAT-10, IN-22]', async () => {
  const facilityId = await api.createFacility(tenant.organisationId);
  const { token } = await api.createAccount({ ...tenant, facilityId });
  await api.database.pool.query(
    'insert into patient_registration (organisation_id, facility_id, patient_id) values ($1, $2, $3)',
    [tenant.organisationId, facilityId, OLD],
  );
  const [item, ...others] = await search('A-1', token);
  assert.deepEqual([item.id, item.replacedBy, others], [OLD, null, []]);
  assert.equal((await get(`/patients/base/${OLD}/clinical/fhir`, token)).link, undefined);
});

test('a search for a replaced patient also finds who replaces it, and says so [PAT-11]', async () => {
  for (const words of ['A-1', 'maiden ada']) {
    const items = await search(words);
    assert.deepEqual(
      items.map(({ id, replacedBy, replaces }: never) => ({ id, replacedBy, replaces })),
      [
        { id: NEWEST, replacedBy: null, replaces: [NEW] },
        { id: OLD, replacedBy: NEW, replaces: [] },
        { id: NEW, replacedBy: NEWEST, replaces: [OLD] },
      ],
      words,
    );
  }
  assert.deepEqual(idsOf(await search('A-2')), [NEWEST, NEW]);
  assert.deepEqual(idsOf(await search('A-3')), [NEWEST]);
  const pages = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { items: { id: string }[]; nextCursor: string | null } = await get(
      `/patients/base?search=A-1&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    pages.push(...idsOf(page.items));
    cursor = page.nextCursor;
  }
  assert.deepEqual(pages, [NEWEST, OLD, NEW]);
});

test('patients who replace each other in a circle are each found once [PAT-11]', async () => {
  const [one, two] = ['7c000000-0000-4000-8000-000000000041', '7c000000-0000-4000-8000-000000000042'];
  await send(
    person(one, 'E-1', 'Round', [link('replaced-by', to(two))]),
    person(two, 'E-2', 'Round', [link('replaced-by', to(one))]),
  );
  assert.deepEqual(idsOf(await search('E-1')), [one, two]);
});

test('a replaced patient who refuses the purpose leads nowhere [PAT-5, PAT-11]', async () => {
  const [one, two] = ['7c000000-0000-4000-8000-000000000051', '7c000000-0000-4000-8000-000000000052'];
  await send(person(one, 'F-1', 'Shy', [link('replaced-by', to(two))]), person(two, 'F-2', 'Open'));
  await api.database.pool.query("update patient set refused_purposes = '{OPS}' where id = $1", [one]);
  assert.deepEqual(await search('F-1'), []);
});

test('an Encounter search for a replaced patient names who replaces it [ENC-37]', async () => {
  const visit = {
    resourceType: 'Encounter',
    id: '7c000000-0000-4000-8000-000000000061',
    status: 'finished',
    class: { code: 'AMB' },
    subject: to(OLD),
  };
  await send(visit);
  const find = (id: string) => get(`/encounters/fhir/Encounter?patient=${id}&purposeOfUse=TREATMENT`);
  const outcome = (entry: { fullUrl?: string }, from: string, survivor: string) => ({
    // FHIR R4, "Bundle": each entry of a search has one. An OperationOutcome has no address of its own.
    fullUrl: /^urn:uuid:[0-9a-f-]{36}$/.exec(entry.fullUrl ?? '')?.[0] ?? 'urn:uuid:…',
    resource: {
      resourceType: 'OperationOutcome',
      issue: [
        {
          severity: 'information',
          code: 'informational',
          diagnostics: `Patient/${from} was replaced by Patient/${survivor}. Search for that patient too.`,
        },
      ],
    },
    search: { mode: 'outcome' },
  });
  const found = await find(OLD);
  assert.deepEqual(found.entry.slice(1), [outcome(found.entry[1], OLD, NEW)]);
  assert.deepEqual([found.entry[0].resource.id, found.entry[0].search], [visit.id, { mode: 'match' }]);
  const { entry } = await find(NEW);
  assert.deepEqual(entry, [outcome(entry[0], NEW, NEWEST)]);
  assert.equal((await find(NEWEST)).entry, undefined);
});

test('results of a replaced patient are taken and named [IN-35]', async () => {
  const result = (id: string, patient: string) => ({
    resourceType: 'Observation',
    id,
    status: 'final',
    code: { text: 'Potassium' },
    subject: to(patient),
    valueString: 'normal',
  });
  const records = [
    result('7c000000-0000-4000-8000-000000000071', OLD),
    result('7c000000-0000-4000-8000-000000000072', NEWEST),
  ];
  const document = await send(...records);
  assert.deepEqual(document.resources, { Observation: 2 });
  assert.deepEqual(document.notices, [
    {
      file: 'source 1',
      entry: 1,
      resourceType: 'Observation',
      reason:
        'is about a patient who was replaced by another one. It was taken. Send it for the other patient if that is whom it is about',
    },
  ]);
  assert.equal(document.noticeCount, 1);
  assert.equal((await send(...records)).noticeCount, 0, 'nothing was written');
});
