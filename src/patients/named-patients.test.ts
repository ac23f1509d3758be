/** Other patients whom the record of one names: those only whom the caller may learn of. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { importJson } from '../../test-support/records/import-files.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';

/** Each test has patients of its own. */
let numbers = 0;
let [old, wed, last]: string[] = [];

const { api, tenant, account } = await useTestApi();

/** `old` was replaced by `wed`, and `wed` by `last`. */
beforeEach(async () => {
  [old, wed, last] = [newId(), newId(), newId()];
  const document = await send(
    person(old, 'Maiden', [link('replaced-by', wed)]),
    person(wed, 'Wed', [link('replaces', old), link('replaced-by', last)]),
    person(last, 'Final', [link('replaces', wed)]),
  );
  assert.deepEqual(document.rejected, []);
});

const newId = () => {
  numbers += 1;
  return `7e000000-0000-4000-8000-${String(numbers).padStart(12, '0')}`;
};
const person = (id = '', family = '', links: object[] = []) => ({
  resourceType: 'Patient',
  id,
  identifier: [{ system: 'https://hospital.example/mrn', value: id }],
  name: [{ family: `${family}${id.slice(-3)}` }],
  ...(links.length === 0 ? {} : { link: links }),
});
const link = (type: string, id = '', more: object = {}) => ({
  other: { reference: `Patient/${id}`, ...more },
  type,
});
const send = (...resources: object[]) =>
  importJson(api.database.pool, tenant, ...resources.map((resource) => JSON.stringify(resource)));

const call = (path: string, headers: Record<string, string> = {}) =>
  api.call(path, { token: account.token, headers });
const get = async (path: string) => {
  const answer = await call(path);
  assert.equal(answer.status, 200, path);
  return answer.json;
};
const fhir = (id = '', purpose = 'OPS') => `/patients/base/${id}/clinical/fhir?purposeOfUse=${purpose}`;
const found = async (id = '', purpose = 'OPS') =>
  (await get(`/patients/base?search=${id}&purposeOfUse=${purpose}`)).items.map(
    (item: { id: string }) => item.id,
  );
const summary = async (id = '', purpose = 'OPS') => {
  const { replacedBy, replaces } = await get(`/patients/base/${id}?purposeOfUse=${purpose}`);
  return { replacedBy, replaces };
};

const refuse = (id: string | undefined, purpose: string) =>
  api.database.pool.query('update patient set refused_purposes = $2 where id = $1', [id, [purpose]]);
/** The patient is registered at another facility only. */
const move = async (id: string | undefined) => {
  const facilityId = await api.createFacility(tenant.organisationId);
  await api.database.pool.query('update patient_registration set facility_id = $2 where patient_id = $1', [
    id,
    facilityId,
  ]);
};
const moveBack = (id: string | undefined) =>
  api.database.pool.query('update patient_registration set facility_id = $2 where patient_id = $1', [
    id,
    tenant.facilityId,
  ]);

test('a patient who refuses the purpose is not named by the record of another one [PAT-12]', async () => {
  await refuse(wed, 'RESEARCH');
  assert.deepEqual(await summary(old, 'RESEARCH'), { replacedBy: null, replaces: [] });
  assert.deepEqual(await summary(last, 'RESEARCH'), { replacedBy: null, replaces: [] });
  assert.equal((await get(fhir(old, 'RESEARCH'))).link, undefined);
  assert.deepEqual(await summary(old), { replacedBy: wed, replaces: [] });
  assert.deepEqual(await summary(last), { replacedBy: null, replaces: [wed] });
  assert.deepEqual((await get(fhir(old))).link, [link('replaced-by', wed)]);
});

test('an Encounter search does not name a patient who refuses the purpose [ENC-37, PAT-12]', async () => {
  await refuse(wed, 'RESEARCH');
  const entries = async (purpose: string) =>
    (await get(`/encounters/fhir/Encounter?patient=${old}&purposeOfUse=${purpose}`)).entry;
  assert.equal(await entries('RESEARCH'), undefined);
  assert.equal((await entries('TREATMENT')).length, 1);
});

test('a search goes on over no patient whom it would not show [PAT-5, PAT-11]', async () => {
  assert.deepEqual((await found(old)).toSorted(), [old, wed, last]);
  await refuse(wed, 'RESEARCH');
  assert.deepEqual(await found(old, 'RESEARCH'), [old]);
  await move(wed);
  assert.deepEqual(await found(old), [old]);
});

test('a display of a patient who is here is neither kept nor sent [PAT-10, IN-7]', async () => {
  const [id, other] = [newId(), newId()];
  const { notKept } = await send(
    person(other, 'Other'),
    person(id, 'Named', [link('refer', other, { display: 'Ms. Other' })]),
  );
  assert.deepEqual(
    notKept.map(({ element }) => element),
    ['Patient.link.other.display'],
  );
  // As an older version of the service stored it.
  await api.database.pool.query("update patient_link set other_display = 'Ms. Other' where patient_id = $1", [
    id,
  ]);
  assert.deepEqual((await get(fhir(id))).link, [link('refer', other)]);
});

test('a record of one patient refers to another one who is here without the name, whoever stored it [FETCH-25]', async () => {
  const other = newId();
  const subject = { reference: `Patient/${last}` };
  const named = { reference: `Patient/${other}`, display: 'Ms. Other' };
  const notes = { note: [{ text: 'as told', authorReference: named }] };
  const category = (code: string) => [
    { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code }] },
  ];
  const test = { status: 'final', code: { text: 'Test' }, subject, valueString: 'v', performer: [named] };
  const [order, result, sign, imagingOrder, study] = [newId(), newId(), newId(), newId(), newId()];
  const basedOn = [{ reference: `ServiceRequest/${order}` }];
  const requested = { resourceType: 'ServiceRequest', status: 'active', intent: 'order', subject };
  const records = [
    {
      ...requested,
      id: order,
      category: category('laboratory'),
      requester: named,
      performer: [named],
      ...notes,
    },
    {
      ...test,
      resourceType: 'Observation',
      id: result,
      category: category('laboratory'),
      basedOn,
      focus: [named],
      ...notes,
    },
    {
      ...test,
      resourceType: 'Observation',
      id: sign,
      category: category('vital-signs'),
      effectiveDateTime: '2024-05-01T08:00:00Z',
      focus: [named],
    },
    { ...requested, id: imagingOrder, requester: named },
    {
      resourceType: 'ImagingStudy',
      id: study,
      status: 'available',
      subject,
      basedOn: [{ reference: `ServiceRequest/${imagingOrder}` }],
      referrer: named,
      interpreter: [named],
      ...notes,
    },
  ];
  const fetched = async () => {
    const { vitalSetId } = (await get(`/encounters/vitals?patient=${last}`)).items[0];
    const paths = [
      `/investigations/lab/orders/${order}/clinical/fhir`,
      `/investigations/imaging/orders/${imagingOrder}/clinical/fhir`,
      `/encounters/vitals/${vitalSetId}/clinical/fhir`,
      `/fhir/Observation/${result}`,
    ];
    return Promise.all(paths.map(async (path) => (await call(path)).text));
  };

  // The records wait for the patient: until then the name is all that they have.
  await send(...records);
  for (const text of await fetched()) assert.match(text, /"display":"Ms. Other"/);
  const isWithoutName = async () => {
    for (const text of await fetched()) {
      assert.ok(text.includes(`{"reference":"Patient/${other}"}`), text);
      assert.ok(!text.includes('Ms. Other'), text);
    }
  };
  await send(person(other, 'Other'));
  await isWithoutName();
  // As an older version of the service stored it.
  await api.database.pool.query({
    text: `update observation set performer = $2, version = version + 1, rendered_version = version + 1,
        rendered_mapping = 1, rendered = replace(rendered, $3, $4)
      where organisation_id = $1 and patient_id = $5`,
    values: [
      tenant.organisationId,
      JSON.stringify([{ type: 'Patient', id: other, display: 'Ms. Other' }]),
      `{"reference":"Patient/${other}"}`,
      JSON.stringify(named),
      last,
    ],
  });
  await isWithoutName();
});

test('an element that takes no patient does not keep the name of one whom a source put there [FETCH-25]', async () => {
  const [other, visit, result] = [newId(), newId(), newId()];
  const named = { reference: `Patient/${other}`, display: 'Ms. Other' };
  const byIdentifier = { type: 'Patient', identifier: { value: '1' }, display: 'Ms. Other' };
  const subject = { reference: `Patient/${last}` };
  const { rejected, notKept } = await send({
    resourceType: 'Bundle',
    type: 'collection',
    entry: [
      { fullUrl: `urn:uuid:${other}`, resource: person(other, 'Other') },
      {
        resource: {
          ...{ resourceType: 'Encounter', id: visit, status: 'planned', class: { code: 'AMB' }, subject },
          participant: [{ individual: named }, { individual: { display: 'Dr. Who' } }],
        },
      },
      {
        resource: {
          ...{ resourceType: 'Observation', id: result, status: 'final', code: { text: 'Test' }, subject },
          ...{ valueString: 'v', category: [{ text: 'x' }], referenceRange: [{ text: 'v' }] },
          derivedFrom: [{ reference: `urn:uuid:${other}`, display: 'Ms. Other' }],
          hasMember: [byIdentifier],
          device: named,
        },
      },
    ],
  });
  assert.deepEqual(rejected, []);
  assert.deepEqual(notKept.map(({ element }) => element).sort(), [
    'Encounter.participant.individual',
    'Observation.derivedFrom',
    'Observation.device',
    'Observation.hasMember',
  ]);
  const { participant } = await get(`/encounters/fhir/Encounter/${visit}?purposeOfUse=OPS`);
  assert.deepEqual(participant, [{ individual: { display: 'Dr. Who' } }]);
});

test('the entity tag tells apart what links the caller sees [PAT-13]', async () => {
  const tagOf = async () => (await call(fhir(old))).headers.get('etag') ?? '';
  const statusFor = async (tag: string) => (await call(fhir(old), { 'if-none-match': tag })).status;
  const tag = await tagOf();
  assert.equal(await statusFor(tag), 304);
  await move(wed);
  assert.equal(await statusFor(tag), 200);
  const without = await tagOf();
  assert.match(without, /^W\/"\d+"$/);
  await moveBack(wed);
  assert.equal(await statusFor(without), 200);
  assert.equal(await tagOf(), tag);
});
