/** What an import over HTTP may find and change of the other facilities of its organisation, and of others. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import {
  bundle,
  conditionalCreate,
  type Entry,
  encounter,
  NUMBER,
  patient,
  type Resource,
} from '../../../../test-support/records/clinic.ts';
import { createImportTest } from '../../../../test-support/records/import.ts';
import { type TestAccount, useEmptyApi } from '../../../../test-support/service/api.ts';
import { facilityRecordId, recordId } from './record-id.ts';

const t = await useEmptyApi();
const tenant = await t.createTenant();
const second = { ...tenant, facilityId: await t.createFacility(tenant.organisationId) };
const permissions = ['records.import'];
/** Facilities A and B of one organisation, each with a system of its own, and a system that may link. */
const a = await t.createAccount(tenant, { permissions });
const b = await t.createAccount(second, { permissions });
const linking = await t.createAccount(second, {
  permissions: [...permissions, 'patients.patients.register'],
});
const stranger = await t.createAccount(await t.createTenant(), { permissions });

const post = async ({ token }: TestAccount, body: Resource, query = '') => {
  const answer = await t.call(`/imports/fhir${query}`, { token, body });
  assert.equal(answer.status, 200);
  return answer.json as {
    resources: Record<string, number>;
    unchanged: Record<string, number>;
    rejected: { entry: number | null; reason: string }[];
    [member: string]: unknown;
  };
};
const rows = async (text: string, values: unknown[]) => (await t.database.pool.query({ text, values })).rows;
const facilitiesOf = async ({ organisationId }: TestAccount, id: unknown) =>
  (
    await rows(
      'select facility_id from patient_registration where organisation_id = $1 and patient_id = $2 order by 1',
      [organisationId, id],
    )
  ).map(({ facility_id }) => facility_id);
const familyOf = async ({ organisationId }: TestAccount, id: unknown) =>
  (
    await rows('select sort_name from patient where organisation_id = $1 and id = $2', [organisationId, id])
  )[0]?.sort_name;
const patientsWith = async ({ organisationId }: TestAccount, resource: Resource) =>
  (
    await rows('select patient_id from patient_identifier where organisation_id = $1 and value = $2', [
      organisationId,
      numberOf(resource),
    ])
  ).map(({ patient_id }) => patient_id);
const numberOf = (resource: Resource) => (resource.identifier as { value: string }[])[0]?.value;
/** An encounter that refers to the patient by its id; none for a patient without an id. */
const visitOf = ({ id }: Resource): Resource[] => (id === undefined ? [] : [encounter(`Patient/${id}`)]);
/** Another system's record of the same person: the same number, another id and name. */
const sameNumber = (resource: Resource): Resource =>
  patient({ identifier: resource.identifier, name: [{ family: 'Lake' }] });

describe('without the permission to link', () => {
  test('ifNoneExist with the number of a patient of another facility makes a patient of its own [IN-22]', async () => {
    const theirs = patient();
    await post(a, bundle([theirs]));
    const ours = sameNumber(theirs);
    const made = await post(b, bundle([conditionalCreate(ours), encounter(`urn:uuid:${ours.id}`)]));
    const fresh = await post(b, bundle([conditionalCreate(patient())]));
    assert.deepEqual([made.unchanged, made.rejected], [fresh.unchanged, fresh.rejected]);
    assert.deepEqual(await facilitiesOf(a, theirs.id), [a.facilityId]);
    assert.deepEqual(await facilitiesOf(a, ours.id), [b.facilityId]);
    assert.equal(await familyOf(a, theirs.id), 'rivers noor');
    // At its own facility the condition finds it, and it only.
    assert.deepEqual((await post(b, bundle([conditionalCreate(sameNumber(theirs))]))).unchanged, {
      Patient: 1,
    });
    assert.equal((await patientsWith(a, theirs)).length, 2);
  });

  test('a conditional update leaves the patient of another facility alone', async () => {
    const theirs = patient();
    await post(a, bundle([theirs]));
    const ours = sameNumber(theirs);
    const url = `Patient?identifier=${NUMBER}|${numberOf(theirs)}`;
    const entry: Entry = { fullUrl: `urn:uuid:${ours.id}`, resource: ours, request: { method: 'PUT', url } };
    await post(b, bundle([entry]));
    assert.equal(await familyOf(a, theirs.id), 'rivers noor');
    assert.deepEqual(await facilitiesOf(a, theirs.id), [a.facilityId]);
  });

  for (const [kind, id] of [
    ['a UUID', () => randomUUID() as string],
    ['no UUID', () => `p-${randomUUID().slice(0, 8)}`],
    ['no id', () => undefined],
  ] as const)
    test(`${kind}: the answer is the same whatever another facility has, and theirs stays as it was`, async () => {
      const theirs = patient({ id: id() });
      await post(a, bundle([theirs, ...visitOf(theirs)]));
      const [stored] = await patientsWith(a, theirs);
      const ours = { ...theirs, name: [{ family: 'Lake' }] };
      // What an organisation answers that has nothing of the kind.
      const fresh = await t.createAccount(await t.createTenant(), { permissions: ['records.import'] });
      for (const document of [encounter(`Patient/${theirs.id}`), bundle([ours, ...visitOf(ours)])])
        for (const query of ['?dryRun=true', '', '?dryRun=true', ''])
          assert.deepEqual(await post(b, document, query), await post(fresh, document, query), query);

      const ids = await patientsWith(a, theirs);
      assert.equal(ids.length, 2);
      const [made] = ids.filter((patientId) => patientId !== stored);
      assert.deepEqual([await familyOf(a, stored), await familyOf(a, made)], ['rivers noor', 'lake']);
      assert.deepEqual(await facilitiesOf(a, stored), [a.facilityId]);
      assert.deepEqual(await facilitiesOf(a, made), [b.facilityId]);
      const later = await post(b, bundle([{ ...ours, active: true }]));
      assert.deepEqual([later.resources, later.unchanged, later.rejected], [{ Patient: 1 }, {}, []]);
      assert.deepEqual((await patientsWith(a, theirs)).sort(), ids.sort(), 'changed, not made anew');
    });

  test('a reference reaches what this facility has under the id, and nothing else [IN-22]', async () => {
    for (const id of [randomUUID() as string, `p-${randomUUID().slice(0, 8)}`]) {
      const theirs = patient({ id });
      await post(a, bundle([theirs]));
      const visit = encounter(`Patient/${id}`);
      const { rejected } = await post(b, visit);
      assert.match(rejected[0]?.reason ?? '', /neither in the file nor at this facility/);
      await post(b, patient({ id, identifier: theirs.identifier }));
      assert.deepEqual((await post(b, visit)).rejected, []);
      const [of] = await rows('select patient_id from encounter where organisation_id = $1 and id = $2', [
        b.organisationId,
        visit.id,
      ]);
      assert.deepEqual(await facilitiesOf(b, of.patient_id), [b.facilityId]);
    }
  });

  test('clinical records with ids that are no UUIDs have others at each facility', async () => {
    const record = encounter('Patient/one', { id: 'e-reach' });
    for (const account of [a, b]) {
      await post(account, bundle([patient({ id: 'one' }), record]));
      assert.deepEqual((await post(account, record)).unchanged, { Encounter: 1 });
    }
    const id = recordId('Encounter', 'e-reach');
    const idAt = ({ facilityId }: TestAccount) => facilityRecordId(facilityId, id);
    const stored = await rows('select facility_id, id from encounter where id = any($1)', [
      [id, idAt(a), idAt(b)],
    ]);
    assert.deepEqual(
      new Map(stored.map((row) => [row.facility_id, row.id])),
      new Map([a, b].map((account) => [account.facilityId, idAt(account)])),
    );
  });

  test('what was imported under the id of the organisation before is found again at its facility', async () => {
    const former = patient({ id: recordId('Patient', 'former') });
    await post(b, bundle([former]));
    const again = await post(b, bundle([{ ...former, id: 'former' }, encounter('Patient/former')]));
    assert.deepEqual([again.unchanged, again.rejected], [{ Patient: 1 }, []]);
    await post(a, bundle([patient({ id: 'former', identifier: former.identifier })]));
    assert.deepEqual(await facilitiesOf(b, former.id), [b.facilityId]);
  });

  test('a patient without an id gets one of its own, and the same one again', async () => {
    const theirs = patient({ id: undefined });
    assert.deepEqual((await post(a, theirs)).rejected, []);
    const ours = { ...theirs, name: [{ family: 'Lake' }] };
    for (const unchanged of [{}, { Patient: 1 }]) {
      const document = await post(b, ours);
      assert.deepEqual([document.rejected, document.unchanged], [[], unchanged]);
    }
    const ids = await patientsWith(a, theirs);
    assert.equal(ids.length, 2);
    const registered = await Promise.all(ids.map((id) => facilitiesOf(a, id)));
    assert.deepEqual(registered.flat().sort(), [a.facilityId, b.facilityId].sort());
  });

  test('its own patients are found and changed as ever', async () => {
    const ours = patient();
    await post(b, bundle([ours]));
    await post(b, bundle([{ ...ours, name: [{ family: 'Lake' }] }]));
    assert.equal(await familyOf(b, ours.id), 'lake');
    assert.deepEqual((await post(b, bundle([conditionalCreate(sameNumber(ours))]))).unchanged, {
      Patient: 1,
    });
  });

  test('another organisation has a record of its own under the same id', async () => {
    const theirs = patient();
    await post(a, bundle([theirs]));
    const ours = { ...theirs, name: [{ family: 'Lake' }] };
    assert.deepEqual((await post(stranger, bundle([ours]))).rejected, []);
    assert.deepEqual(
      [await familyOf(a, theirs.id), await familyOf(stranger, theirs.id)],
      ['rivers noor', 'lake'],
    );
  });
});

describe('with the permission to link', () => {
  test('a patient of another facility is found by number and by id, changed, and registered here too [IN-22]', async () => {
    const [byNumber, byId] = [patient(), patient()];
    await post(a, bundle([byNumber, byId]));
    const found = await post(linking, bundle([conditionalCreate(sameNumber(byNumber))]));
    assert.deepEqual(found.unchanged, { Patient: 1 });
    await post(linking, bundle([{ ...byId, name: [{ family: 'Lake' }] }]));
    assert.deepEqual([await familyOf(a, byNumber.id), await familyOf(a, byId.id)], ['rivers noor', 'lake']);
    for (const { id } of [byNumber, byId])
      assert.deepEqual(await facilitiesOf(a, id), [a.facilityId, b.facilityId].sort());
  });

  test('but not one of another organisation', async () => {
    const theirs = patient();
    await post(stranger, bundle([theirs]));
    assert.deepEqual((await post(linking, bundle([conditionalCreate(sameNumber(theirs))]))).unchanged, {});
    assert.equal(await familyOf(stranger, theirs.id), 'rivers noor');
  });
});

test('the same new UUID at two facilities at one time: each has a record of its own', async () => {
  const imports = await createImportTest();
  try {
    const scopes = [imports.scope, await imports.createFacility(imports.scope.organisationId)];
    for (let round = 0; round < 10; round += 1) {
      const theirs = patient();
      const documents = await Promise.all(
        scopes.map((scope, index) =>
          imports.run([bundle([{ ...theirs, name: [{ family: `Name ${index}` }] }])], {
            scope,
            reach: 'facility',
          }),
        ),
      );
      for (const { resources, unchanged, rejected } of documents)
        assert.deepEqual([resources, unchanged, rejected], [{ Patient: 1 }, {}, []]);
      const registered = await imports.rows<{ facility_id: string; name: string }>(
        `select r.facility_id, p.sort_name as name
         from patient_identifier i
         join patient p on p.organisation_id = i.organisation_id and p.id = i.patient_id
         join patient_registration r on r.organisation_id = i.organisation_id and r.patient_id = i.patient_id
         where i.value = $1`,
        [numberOf(theirs)],
      );
      assert.deepEqual(
        new Map(registered.map(({ facility_id, name }) => [facility_id, name])),
        new Map(scopes.map(({ facilityId }, index) => [facilityId, `name ${index}`])),
      );
    }
  } finally {
    await imports.database.drop();
  }
});

for (const [type, table, changed] of [
  ['Practitioner', 'practitioner', { name: [{ family: 'Beta' }] }],
  ['Organization', 'provider_organisation', { name: 'Beta' }],
  ['Location', 'location', { name: 'Beta' }],
] as const)
  test(`${type} under an id that is no UUID: another facility neither learns of it nor changes it`, async () => {
    const id = `d-${randomUUID().slice(0, 8)}`;
    const identifier = [{ system: 'urn:licences', value: randomUUID() }];
    const name = type === 'Practitioner' ? [{ family: 'Alpha' }] : 'Alpha';
    const alpha: Resource = { resourceType: type, id, identifier, name };
    const beta: Resource = { ...alpha, ...changed };
    await post(a, alpha);
    assert.deepEqual(await post(b, alpha, '?dryRun=true'), await post(stranger, alpha, '?dryRun=true'));
    assert.deepEqual(await post(b, beta), await post(stranger, beta));

    const stored = await rows(
      `select id, source_facility_id, version from ${table} where organisation_id = $1 and id = any ($2)`,
      [a.organisationId, [a, b].map((one) => facilityRecordId(one.facilityId, recordId(type, id)))],
    );
    assert.deepEqual(
      new Set(stored.map((row) => `${row.source_facility_id} ${row.version}`)),
      new Set([`${a.facilityId} 1`, `${b.facilityId} 1`]),
    );
    assert.equal((await post(a, alpha)).unchanged[type], 1, 'and finds its own again');
  });

test('a conditional reference means the practitioner of the own facility, though another has the same number', async () => {
  const value = randomUUID();
  const doctor = (id: string): Resource => ({
    resourceType: 'Practitioner',
    id,
    identifier: [{ system: 'urn:licences', value }],
    name: [{ family: 'Rossi' }],
  });
  await post(a, doctor('doctor-a'));
  await post(b, doctor('doctor-b'));
  for (const [account, id] of [
    [a, 'doctor-a'],
    [b, 'doctor-b'],
  ] as const) {
    const person = patient({ id: randomUUID() });
    const visit: Resource = {
      ...encounter(`Patient/${person.id}`),
      id: randomUUID(),
      participant: [{ individual: { reference: `Practitioner?identifier=urn:licences|${value}` } }],
    };
    const report = await post(account, bundle([person, visit]));
    assert.deepEqual(report.rejected, []);
    const [row] = await rows(
      'select practitioner_id from encounter_participant where organisation_id = $1 and encounter_id = $2',
      [account.organisationId, visit.id],
    );
    const own = facilityRecordId(account.facilityId, recordId('Practitioner', id));
    assert.equal(row?.practitioner_id, own);
  }
});

test('a reference reaches no practitioner, order or encounter that another facility has alone [IN-22]', async () => {
  const source = `d-${randomUUID().slice(0, 8)}`;
  const identifier = { system: 'urn:orders', value: randomUUID() };
  const person = patient({ id: randomUUID() });
  const order: Resource = {
    resourceType: 'ServiceRequest',
    id: randomUUID(),
    status: 'active',
    intent: 'order',
    identifier: [identifier],
    subject: { reference: `Patient/${person.id}` },
  };
  const visit = encounter(`Patient/${person.id}`, { identifier: [identifier] });
  await post(a, bundle([{ resourceType: 'Practitioner', id: source }, person, order, visit]));
  const theirs = facilityRecordId(a.facilityId, recordId('Practitioner', source));
  const ours = patient({ id: randomUUID() });
  const subject = { reference: `Patient/${ours.id}` };
  const result: Resource = {
    resourceType: 'Observation',
    id: randomUUID(),
    status: 'final',
    code: { text: 'K' },
    category: [{ coding: [{ code: 'laboratory' }] }],
    subject,
    performer: [{ reference: `Practitioner/${theirs}` }],
    basedOn: [{ type: 'ServiceRequest', identifier }],
    encounter: { type: 'Encounter', identifier },
  };
  const fresh = await t.createAccount(await t.createTenant(), { permissions });
  const document = bundle([ours, result]);
  assert.deepEqual(await post(b, document), await post(fresh, document));
});
