/** What an import stores, the same records again, and whose they are. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  bundle,
  conditionalCreate,
  encounter,
  identifierOf,
  NUMBER,
  organization,
  patient,
  practitioner,
  type Resource,
  urnOf,
} from '../../../test-support/records/clinic.ts';
import { countsOf, EMPTY_REPORT, lines, useImportTest } from '../../../test-support/records/import.ts';
import type { PatientChange } from '../../patients/patient.ts';

const t = await useImportTest();

describe('what is taken', () => {
  test('a Bundle: records stored, other types counted, what has no place named [IN-6, IN-7, IN-23]', async () => {
    const [clinic, doctor, someone] = [
      organization(),
      practitioner(),
      patient({ extension: [{ url: 'x:y' }] }),
    ];
    const visit = encounter(urnOf(someone), {
      participant: [{ individual: { reference: urnOf(doctor) } }],
      serviceProvider: { reference: urnOf(clinic), display: 'Hill' },
      account: [{ display: 'A-1' }],
    });
    const claim = { resourceType: 'Claim', id: 'c1' };
    const document = await t.run([bundle([visit, claim, someone, doctor, clinic], 'collection')]);
    assert.deepEqual(document, {
      ...EMPTY_REPORT,
      files: 1,
      bundles: 1,
      resources: { Encounter: 1, Organization: 1, Patient: 1, Practitioner: 1 },
      notTaken: { Claim: 1 },
      notKept: [
        { element: 'Encounter.account', count: 1, file: '0.json', entry: 1 },
        { element: 'Patient.extension', count: 1, file: '0.json', entry: 3 },
      ],
    });
    const row = await t.encounterRow(visit);
    assert.equal(row?.patient_id, someone.id);
    assert.equal(row?.service_provider_id, clinic.id);
    assert.equal(row?.service_provider_display, 'Hill');
    assert.deepEqual(await t.participantsOf(visit), [{ practitioner_id: doctor.id, display: null }]);
    assert.deepEqual(
      await t.rows('select facility_id from patient_registration where patient_id = $1', [someone.id]),
      [{ facility_id: t.scope.facilityId }],
    );
  });

  test('a security label is counted beside the rest of meta [IN-7]', async () => {
    const security = [
      { system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code: 'R' },
      { system: 'http://terminology.hl7.org/CodeSystem/v3-ActReason', code: 'HTEST' },
    ];
    const metas = [{ security }, { security: [] }, { versionId: '1' }, { security: 'R' }];
    const { notKept } = await t.run([lines(metas.map((meta) => patient({ meta })))]);
    assert.deepEqual(countsOf(notKept), { 'Patient.meta': 4, 'Patient.meta.security': 1 });
  });

  test('transaction, batch, collection and searchset Bundles, and no other [IN-2]', async () => {
    for (const type of ['transaction', 'batch', 'collection', 'searchset'])
      assert.deepEqual((await t.run([bundle([patient()], type)])).resources, { Patient: 1 });
    for (const type of ['document', 'message', 'history', 'batch-response', undefined]) {
      const { rejected, bundles } = await t.run([{ ...bundle([patient()]), type }]);
      assert.equal(bundles, 0);
      assert.match(rejected[0]?.reason ?? '', /type is not one of transaction, batch, collection, searchset/);
    }
  });

  test('single resources and NDJSON, whatever order the lines are in [IN-2]', async () => {
    const someone = patient();
    const visits = Array.from({ length: 1_200 }, () => encounter(`Patient/${String(someone.id)}`));
    assert.deepEqual((await t.run([lines([...visits, someone])])).resources, {
      Encounter: 1_200,
      Patient: 1,
    });
    assert.deepEqual((await t.run([patient()])).resources, { Patient: 1 });
    assert.deepEqual(
      (await t.run([{ resourceType: 'List', status: 'current', entry: [{ item: {} }] }])).notTaken,
      {
        List: 1,
      },
    );
  });

  test('NDJSON of files that were put together: each may begin with a byte order mark [IN-14]', async () => {
    const files = [patient(), encounter('urn:x'), patient()].map((one) => `\ufeff${JSON.stringify(one)}\n`);
    const { resources, rejected } = await t.run([`${files.join('\ufeff\n')}\ufeff`]);
    assert.deepEqual(resources, { Patient: 2 });
    assert.deepEqual(
      rejected.map(({ entry, resourceType }) => [entry, resourceType]),
      [[3, 'Encounter']],
    );
  });

  test('NDJSON: one bad line is rejected with its number, the others are taken [IN-14]', async () => {
    const [first, second] = [patient(), patient()];
    const document = await t.run([
      `${lines([first])}\n\n{"resourceType":"Patient"\n${lines([{ ...patient(), gender: 'Rivers' }, second])}\n`,
    ]);
    assert.deepEqual(document.resources, { Patient: 2 });
    assert.deepEqual(document.rejected, [
      { file: '0.json', entry: 3, reason: 'The line is not valid JSON: it breaks off' },
      {
        file: '0.json',
        entry: 4,
        resourceType: 'Patient',
        reason: 'Patient.gender is not one of male, female, other, unknown',
      },
    ]);
  });

  test('NDJSON: a later line about the same record wins; Bundles may be lines', async () => {
    const [first, other] = [patient(), patient()];
    const changed = { ...first, birthDate: '1990' };
    const document = await t.run([lines([first, changed, bundle([other])])]);
    assert.deepEqual([document.resources, document.bundles], [{ Patient: 3 }, 1]);
    assert.deepEqual(await t.rows('select birth_date, version from patient where id = $1', [first.id]), [
      { birth_date: '1990', version: 2 },
    ]);
  });

  test('resources without an id are the same records when they come again', async () => {
    const { id: _, ...nameless } = patient({ identifier: undefined, birthDate: '1971-01-02' });
    const { id: __, ...numbered } = patient();
    const first = await t.run([nameless, numbered, bundle([{ resource: nameless as Resource }])]);
    assert.deepEqual(first.resources, { Patient: 3 });
    assert.deepEqual(first.unchanged, { Patient: 1 });
    assert.deepEqual((await t.run([nameless, numbered])).unchanged, { Patient: 2 });
  });
});

describe('importing again', () => {
  const everything = (): Resource[] => {
    const [clinic, doctor, someone] = [organization(), practitioner(), patient()];
    const visit = encounter(urnOf(someone), {
      participant: [{ individual: { reference: urnOf(doctor) } }],
      serviceProvider: { reference: urnOf(clinic) },
    });
    return [clinic, doctor, someone, visit];
  };
  const state = () =>
    t.rows(`select 'patient' as t, id, version, xmin::text, xmax::text, updated_at from patient
      union all select 'encounter', id, version, xmin::text, xmax::text, updated_at from encounter
      union all select 'practitioner', id, version, xmin::text, xmax::text, updated_at from practitioner
      union all select 'organisation', id, version, xmin::text, xmax::text, updated_at from provider_organisation
      union all select 'name', patient_id, position, xmin::text, xmax::text, null from patient_name
      union all select 'key', patient_id, 0, xmin::text, xmax::text, null from patient_search_key
      union all select 'registration', patient_id, 0, xmin::text, xmax::text, registered_at from patient_registration
      union all select 'participant', encounter_id, position, xmin::text, xmax::text, null from encounter_participant
      order by 1, 2, 3, 4`);

  test('the same file changes nothing: no row version, no lock, no time [IN-15]', async () => {
    const file = bundle(everything());
    await t.run([file]);
    const stored = await state();
    const document = await t.run([file]);
    assert.deepEqual(document.unchanged, { Encounter: 1, Organization: 1, Patient: 1, Practitioner: 1 });
    assert.deepEqual(document.resources, document.unchanged);
    assert.deepEqual(await state(), stored);
  });

  test('a resource that a Bundle has twice: the second is there already, and both are when they come again [IN-15, IN-23]', async () => {
    const someone = patient();
    const file = bundle([someone, someone], 'collection');
    for (const unchanged of [1, 2]) {
      const document = await t.run([file]);
      assert.deepEqual([document.resources, document.unchanged], [{ Patient: 2 }, { Patient: unchanged }]);
    }
  });

  test('a changed file changes what differs, children replaced, version counted', async () => {
    const [clinic, doctor, someone, visit] = everything() as [Resource, Resource, Resource, Resource];
    await t.run([bundle([clinic, doctor, someone, visit])]);
    const renamed = { ...someone, name: [{ family: 'Waters' }] };
    const closed = { ...visit, participant: undefined };
    const document = await t.run([bundle([clinic, doctor, renamed, closed])]);
    assert.deepEqual(document.unchanged, { Organization: 1, Practitioner: 1 });
    assert.deepEqual(await t.rows('select version, sort_name from patient where id = $1', [someone.id]), [
      { version: 2, sort_name: 'waters' },
    ]);
    assert.deepEqual(
      await t.rows("select key from patient_search_key where patient_id = $1 and kind = 'name'", [
        someone.id,
      ]),
      [{ key: 'waters' }],
    );
    assert.equal((await t.encounterRow(visit))?.version, 2);
    assert.deepEqual(await t.participantsOf(visit), []);
  });

  test('a dry run reports the same and writes nothing, also across files [IN-24]', async () => {
    const [clinic, doctor, someone, visit] = everything() as [Resource, Resource, Resource, Resource];
    const files = [bundle([clinic, doctor]), bundle([someone]), visit, encounter('Patient/none')];
    const before = await state();
    const dry = await t.run(files, { dryRun: true });
    assert.deepEqual(await state(), before);
    const real = await t.run(files);
    assert.deepEqual(dry, real);
    assert.equal(real.rejectedCount, 1);
  });
});

describe('tenancy', () => {
  test('two facilities of one organisation share patients and have encounters of their own [ACC-1, PAT-9]', async () => {
    const other = await t.createFacility(t.scope.organisationId);
    const someone = patient();
    const visit = encounter(urnOf(someone));
    await t.run([bundle([someone, visit])]);
    const document = await t.run([bundle([someone, visit])], { scope: other });
    assert.deepEqual(document.unchanged, { Patient: 1 });
    const held = await t.rows('select facility_id from encounter where id = $1', [visit.id]);
    assert.deepEqual(
      held.map(({ facility_id }) => facility_id).sort(),
      [t.scope.facilityId, other.facilityId].sort(),
    );
  });

  test('a patient of another facility is not there to be referred to [IN-10]', async () => {
    const other = await t.createFacility(t.scope.organisationId);
    const someone = patient();
    await t.run([someone]);
    for (const reference of [
      `Patient/${String(someone.id)}`,
      `Patient?identifier=${NUMBER}|${identifierOf(someone)?.value}`,
    ]) {
      const document = await t.run([encounter(reference)], { scope: other });
      assert.equal(document.rejectedCount, 1);
    }
  });

  test('two organisations with the same file never cross [IN-10]', async () => {
    const other = await t.createOrganisation();
    const [doctor, someone] = [practitioner(), patient()];
    const visit = encounter(urnOf(someone), { participant: [{ individual: { reference: urnOf(doctor) } }] });
    await t.run([bundle([doctor, someone, visit])]);
    const refused = await t.run([encounter(`Patient/${String(someone.id)}`)], { scope: other });
    assert.equal(refused.rejectedCount, 1);
    const again = conditionalCreate(practitioner({ identifier: doctor.identifier }));
    assert.deepEqual((await t.run([bundle([again])], { scope: other })).unchanged, {});
    const renamed = { ...someone, name: [{ family: 'Lake' }] };
    await t.run([bundle([doctor, renamed, visit])], { scope: other });
    const names = await t.rows('select organisation_id, sort_name from patient where id = $1', [someone.id]);
    assert.deepEqual(
      new Map(names.map((row) => [row.organisation_id, row.sort_name])),
      new Map([
        [t.scope.organisationId, 'rivers noor'],
        [other.organisationId, 'lake'],
      ]),
    );
  });
});

test('changed patients are told inside the transaction, once each, with what happened [EXC-2]', async () => {
  const told: PatientChange[] = [];
  const [fresh, known, elsewhere] = [patient(), patient(), patient()];
  await t.run([known]);
  await t.run([elsewhere], { scope: await t.createFacility(t.scope.organisationId) });
  const document = bundle([fresh, { ...known, gender: 'other' }, elsewhere]);
  const deps = {
    onPatientsChanged: async (client: unknown, scope: unknown, changed: readonly PatientChange[]) => {
      assert.deepEqual(scope, t.scope);
      const { rows } = await (client as typeof t.database.pool).query(
        'select count(*)::int as here from patient where id = any($1)',
        [changed.map(({ patientId }) => patientId)],
      );
      assert.equal(rows[0].here, changed.length);
      told.push(...changed);
    },
  };
  await t.run([document], { deps });
  await t.run([document], { deps });
  assert.deepEqual(
    new Map(told.map(({ patientId, event }) => [patientId, event])),
    new Map([
      [fresh.id, 'created'],
      [known.id, 'updated'],
      [elsewhere.id, 'updated'],
    ]),
  );
  assert.equal(told.length, 3);
  const lost = patient();
  const failing = { onPatientsChanged: () => Promise.reject(new Error('no outbox')) };
  await assert.rejects(t.run([lost], { deps: failing }), /no outbox/);
  assert.deepEqual(await t.rows('select id from patient where id = $1', [lost.id]), []);
});

test('workers that write the same records in different orders all succeed', async () => {
  const doctors = Array.from({ length: 600 }, () => practitioner());
  const files = Array.from({ length: 8 }, (_, index) => {
    const named = doctors.map((doctor) => ({ ...doctor, name: [{ family: `Name ${index}` }] }));
    return bundle(index % 2 === 0 ? named : named.reverse());
  });
  const document = await t.run(files, { workers: 8 });
  assert.deepEqual(document.rejected, []);
  assert.deepEqual(document.resources, { Practitioner: 4_800 });
});
