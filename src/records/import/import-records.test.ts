import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { NO_DRY_RUN } from '../../../test-support/plain-postgres.ts';
import {
  bundle,
  conditionalCreate,
  encounter,
  LICENCE,
  NUMBER,
  organization,
  patient,
  practitioner,
  type Resource,
} from '../../../test-support/records/clinic.ts';
import { countsOf, createImportTest, type ImportTest, lines } from '../../../test-support/records/import.ts';
import type { PatientChange } from '../../patients/patient.ts';
import type { Client } from '../../platform/db/database.ts';
import { facilityRecordId, recordId } from './resolve/record-id.ts';
import { dataFault } from './run/import-transaction.ts';
import { DEFAULT_LIMITS } from './source/limits.ts';

let t: ImportTest;
before(async () => {
  t = await createImportTest();
});
after(() => t.database.drop());

const ref = (resource: Resource): string => `urn:uuid:${String(resource.id)}`;
const identifierOf = (resource: Resource) => (resource.identifier as { system: string; value: string }[])[0];
const encounterRow = async (resource: Resource) =>
  (await t.rows('select * from encounter where id = $1', [resource.id]))[0];
const participantsOf = (resource: Resource) =>
  t.rows(
    'select practitioner_id, display from encounter_participant where encounter_id = $1 order by position',
    [resource.id],
  );

describe('what is taken', () => {
  test('a Bundle: records stored, other types counted, what has no place named [IN-6, IN-7, IN-23]', async () => {
    const [clinic, doctor, someone] = [
      organization(),
      practitioner(),
      patient({ extension: [{ url: 'x:y' }] }),
    ];
    const visit = encounter(ref(someone), {
      participant: [{ individual: { reference: ref(doctor) } }],
      serviceProvider: { reference: ref(clinic), display: 'Hill' },
      account: [{ display: 'A-1' }],
    });
    const claim = { resourceType: 'Claim', id: 'c1' };
    const document = await t.run([bundle([visit, claim, someone, doctor, clinic], 'collection')]);
    assert.deepEqual(document, {
      files: 1,
      bundles: 1,
      resources: { Encounter: 1, Organization: 1, Patient: 1, Practitioner: 1 },
      notTaken: { Claim: 1 },
      rejected: [],
      rejectedCount: 0,
      unchanged: {},
      older: [],
      olderCount: 0,
      notices: [],
      noticeCount: 0,
      notShown: {},
      notKept: [
        { element: 'Encounter.account', count: 1, file: '0.json', entry: 1 },
        { element: 'Patient.extension', count: 1, file: '0.json', entry: 3 },
      ],
      unresolved: [],
    });
    const row = await encounterRow(visit);
    assert.equal(row?.patient_id, someone.id);
    assert.equal(row?.service_provider_id, clinic.id);
    assert.equal(row?.service_provider_display, 'Hill');
    assert.deepEqual(await participantsOf(visit), [{ practitioner_id: doctor.id, display: null }]);
    assert.deepEqual(
      await t.rows('select facility_id from patient_registration where patient_id = $1', [someone.id]),
      [{ facility_id: t.scope.facilityId }],
    );
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

  test('NDJSON: one bad line is rejected with its number, the others are taken [IN-14]', async () => {
    const [first, second] = [patient(), patient()];
    const document = await t.run([
      `${lines([first])}\n\n{"resourceType":"Patient"\n${lines([{ ...patient(), gender: 'Rivers' }, second])}\n`,
    ]);
    assert.deepEqual(document.resources, { Patient: 2 });
    assert.deepEqual(document.rejected, [
      { file: '0.json', entry: 3, reason: 'The line is not valid JSON' },
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

describe('references', () => {
  const kinds: [string, (doctor: Resource, organisationDoctor: Resource) => unknown][] = [
    ['urn:uuid', (doctor) => ({ reference: ref(doctor) })],
    ['relative', (doctor) => ({ reference: `Practitioner/${String(doctor.id)}` })],
    ['absolute', (doctor) => ({ reference: `https://other.example/fhir/Practitioner/${String(doctor.id)}` })],
    ['versioned', (doctor) => ({ reference: `Practitioner/${String(doctor.id)}/_history/3` })],
    [
      'conditional',
      (doctor) => ({ reference: `Practitioner?identifier=${LICENCE}|${identifierOf(doctor)?.value}` }),
    ],
    [
      'conditional, percent-encoded',
      (doctor) => ({
        reference: `Practitioner?identifier=${encodeURIComponent(`${LICENCE}|${identifierOf(doctor)?.value}`)}`,
      }),
    ],
    ['logical', (doctor) => ({ identifier: identifierOf(doctor) })],
  ];
  for (const [kind, reference] of kinds) {
    test(`${kind}, into the Bundle and at what is there already [IN-8, IN-9]`, async () => {
      const doctor = practitioner();
      const someone = patient();
      const visit = () =>
        encounter(ref(someone), { participant: [{ individual: reference(doctor, doctor) }] });
      const [inBundle, later] = [visit(), visit()];
      const first = await t.run([bundle([inBundle, someone, doctor])]);
      const second = await t.run([bundle([later, someone])]);
      assert.deepEqual([first.rejected, second.rejected], [[], []]);
      assert.deepEqual([first.unresolved, second.unresolved], [[], []]);
      for (const resource of [inBundle, later])
        assert.deepEqual(await participantsOf(resource), [{ practitioner_id: doctor.id, display: null }]);
    });
  }

  test('urn:oid, and a fullUrl of any form, into the Bundle [IN-8]', async () => {
    const someone = patient();
    const visits = [encounter('urn:oid:1.2.3'), encounter('https://source.example/x/y?z=1')];
    for (const visit of visits) {
      const fullUrl = (visit.subject as { reference: string }).reference;
      const document = await t.run([bundle([{ fullUrl, resource: someone }, visit])]);
      assert.deepEqual(document.rejected, []);
      assert.equal((await encounterRow(visit))?.patient_id, someone.id);
    }
  });

  test('ids that are no UUIDs resolve by type and id, in one file and across files', async () => {
    const someone = patient({ id: 'f001' });
    const [inBundle, later] = [encounter('Patient/f001'), encounter('Patient/f001')];
    await t.run([bundle([inBundle, { fullUrl: 'http://x.example/Patient/f001', resource: someone }])]);
    const document = await t.run([later]);
    assert.deepEqual(document.rejected, []);
    for (const visit of [inBundle, later])
      assert.equal(
        (await encounterRow(visit))?.patient_id,
        facilityRecordId(t.scope.facilityId, recordId('Patient', 'f001')),
      );
  });

  test('files may refer to files that come after them', async () => {
    const [doctor, someone] = [practitioner(), patient()];
    const visit = encounter(`Patient/${String(someone.id)}`, {
      participant: [{ individual: { identifier: identifierOf(doctor) } }],
    });
    for (const workers of [1, 4]) {
      const document = await t.run([visit, lines([visit, encounter(ref(someone))]), someone, doctor], {
        workers,
      });
      assert.deepEqual(document.rejected, []);
      assert.deepEqual(document.resources, { Encounter: 3, Patient: 1, Practitioner: 1 });
      assert.deepEqual(document.unresolved, []);
    }
    assert.deepEqual(await participantsOf(visit), [{ practitioner_id: doctor.id, display: null }]);
    assert.equal((await encounterRow(visit))?.version, 1);
  });

  test('an encounter whose patient is nowhere is rejected with a reason for people', async () => {
    const document = await t.run([encounter('Patient/nowhere'), patient()]);
    assert.deepEqual(document.resources, { Patient: 1 });
    assert.deepEqual(document.rejected, [
      {
        file: '0.json',
        entry: 1,
        resourceType: 'Encounter',
        reason:
          'Encounter.subject refers to a Patient that is neither in the file nor at this facility. Import it first.',
      },
    ]);
  });

  test('what an encounter cannot have for a subject', async () => {
    const reasonFor = async (subject: unknown) =>
      (await t.run([encounter('', { subject })])).rejected[0]?.reason ?? '';
    assert.equal(await reasonFor(undefined), 'Encounter.subject is missing');
    assert.match(await reasonFor({ display: 'Somebody' }), /names no Patient: it has no reference/);
    assert.match(
      await reasonFor({ reference: 'Group/1' }),
      /^Encounter.subject does not refer to a Patient$/,
    );
    assert.match(await reasonFor({ reference: '#p' }), /refers to a contained resource/);
    assert.match(await reasonFor({ reference: 'urn:oid:1.9.9' }), /neither in the file nor at this facility/);
  });

  test('an optional target that is not there is kept as its display and counted', async () => {
    const someone = patient();
    const visit = encounter(ref(someone), {
      participant: [
        { individual: { reference: 'Practitioner/gone', display: 'Dr. Gone' } },
        { individual: { reference: 'PractitionerRole/7' } },
      ],
    });
    const document = await t.run([bundle([someone, visit])]);
    assert.deepEqual(document.rejected, []);
    assert.deepEqual(countsOf(document.unresolved), { 'Encounter.participant.individual': 2 });
    assert.deepEqual(await participantsOf(visit), [
      { practitioner_id: null, display: 'Dr. Gone' },
      { practitioner_id: null, display: 'PractitionerRole/7' },
    ]);
  });

  test('a conditional reference without its one match rejects the Bundle [IN-9]', async () => {
    const shared = { system: LICENCE, value: randomUUID() };
    await t.run([bundle([practitioner({ identifier: [shared] }), practitioner({ identifier: [shared] })])]);
    const reasonFor = async (reference: string): Promise<string> => {
      const someone = patient();
      const visit = encounter(ref(someone), { participant: [{ individual: { reference } }] });
      const document = await t.run([bundle([someone, visit])]);
      assert.deepEqual(document.resources, {});
      assert.deepEqual(await t.rows('select id from patient where id = $1', [someone.id]), []);
      assert.equal(document.rejected[0]?.entry, 2);
      return document.rejected[0]?.reason ?? '';
    };
    assert.match(await reasonFor(`Practitioner?identifier=${LICENCE}|nobody`), /no record matches it/);
    assert.match(
      await reasonFor(`Practitioner?identifier=${LICENCE}|${shared.value}`),
      /several records match it/,
    );
    assert.match(
      await reasonFor('Practitioner?name=Brook'),
      /not have the form Type\?identifier=system\|value/,
    );
  });
});

describe('conditional creates', () => {
  test('a record of the organisation with that identifier is used in place of a new one [IN-11]', async () => {
    const kept = practitioner();
    await t.run([kept]);
    const again = practitioner({ identifier: kept.identifier, name: [{ family: 'Other' }] });
    const someone = patient();
    const visit = encounter(ref(someone), { participant: [{ individual: { reference: ref(again) } }] });
    const document = await t.run([bundle([conditionalCreate(again), someone, visit])]);
    assert.deepEqual(document.resources, { Encounter: 1, Patient: 1, Practitioner: 1 });
    assert.deepEqual(await participantsOf(visit), [{ practitioner_id: kept.id, display: null }]);
    assert.deepEqual(await t.rows('select id from practitioner where id = $1', [again.id]), []);
    assert.deepEqual(await t.rows('select display from practitioner where id = $1', [kept.id]), [
      { display: 'Dr. Ada Brook' },
    ]);
  });

  test('a patient of another facility of the organisation is used and registered here', async () => {
    const elsewhere = await t.createFacility(t.scope.organisationId);
    const kept = patient();
    await t.run([kept], { scope: elsewhere });
    const again = patient({ identifier: kept.identifier });
    const visit = encounter(ref(again));
    assert.deepEqual((await t.run([bundle([conditionalCreate(again), visit])])).rejected, []);
    assert.equal((await encounterRow(visit))?.patient_id, kept.id);
    const registered = await t.rows('select facility_id from patient_registration where patient_id = $1', [
      kept.id,
    ]);
    assert.equal(registered.length, 2);
  });

  test('the same condition twice in a Bundle, and in Bundles that race, makes one record [IN-11]', async () => {
    const identifier = [{ system: LICENCE, value: randomUUID() }];
    const twice = () =>
      bundle([
        conditionalCreate(practitioner({ identifier })),
        conditionalCreate(practitioner({ identifier })),
      ]);
    const document = await t.run(Array.from({ length: 8 }, twice), { workers: 8 });
    assert.deepEqual(document.rejected, []);
    assert.deepEqual(document.resources, { Practitioner: 16 });
    const made = await t.rows('select record_id from directory_identifier where value = $1', [
      identifier[0]?.value,
    ]);
    assert.equal(made.length, 1);
  });

  test('several matches, and conditions of another form, are rejected', async () => {
    const identifier = [{ system: LICENCE, value: randomUUID() }];
    await t.run([practitioner({ identifier }), practitioner({ identifier })]);
    const several = await t.run([bundle([conditionalCreate(practitioner({ identifier }))])]);
    assert.match(several.rejected[0]?.reason ?? '', /Several records match the condition/);
    const other = await t.run([bundle([conditionalCreate(practitioner(), 'name=Brook')])]);
    assert.match(
      other.rejected[0]?.reason ?? '',
      /ifNoneExist .* not have the form identifier=system\|value/,
    );
    const removal = { resource: practitioner(), request: { method: 'DELETE', url: 'Practitioner/1' } };
    assert.match((await t.run([bundle([removal])])).rejected[0]?.reason ?? '', /must be POST or PUT/);
  });

  test('a conditional update changes the record that matches [IN-11]', async () => {
    const kept = practitioner();
    await t.run([kept]);
    const identifier = identifierOf(kept);
    const change = practitioner({ identifier: kept.identifier, name: [{ family: 'Marsh' }] });
    const request = {
      method: 'PUT',
      url: `Practitioner?identifier=${identifier?.system}|${identifier?.value}`,
    };
    await t.run([bundle([{ resource: change, request }])]);
    assert.deepEqual(await t.rows('select display, version from practitioner where id = $1', [kept.id]), [
      { display: 'Marsh', version: 2 },
    ]);
  });
});

describe('rejections', () => {
  test('a bad resource rejects its whole Bundle with entry and reason, and the import goes on [IN-12, IN-13]', async () => {
    const [lost, kept] = [patient(), patient()];
    const bad = encounter(ref(lost), { status: 'closed' });
    const document = await t.run([bundle([lost, bad]), bundle([kept])]);
    assert.deepEqual(document.resources, { Patient: 1 });
    assert.equal(document.bundles, 1);
    assert.equal(document.files, 2);
    assert.deepEqual(document.rejected, [
      {
        file: '0.json',
        entry: 2,
        resourceType: 'Encounter',
        reason:
          'Encounter.status is not one of planned, in-progress, finished, cancelled, entered-in-error, arrived, triaged, onleave',
      },
    ]);
    assert.deepEqual(await t.rows('select id from patient where id = $1', [lost.id]), []);
  });

  test('every bad entry of a Bundle is named at once', async () => {
    const document = await t.run([
      bundle([patient({ gender: 'f' }), patient(), patient({ birthDate: '2023-02-30' })]),
    ]);
    assert.deepEqual(
      document.rejected.map(({ entry, reason }) => [entry, reason]),
      [
        [1, 'Patient.gender is not one of male, female, other, unknown'],
        [3, 'Patient.birthDate is not a FHIR date, or that day does not exist'],
      ],
    );
  });

  test('documents that are no FHIR JSON [IN-31]', async () => {
    const reasonFor = async (document: string | Uint8Array) => {
      const { rejected, resources } = await t.run([document]);
      assert.deepEqual([rejected.length, resources], [1, {}]);
      return [rejected[0]?.entry, rejected[0]?.reason];
    };
    assert.deepEqual(await reasonFor(' \n'), [null, 'is empty']);
    assert.deepEqual(await reasonFor('notes'), [null, 'is not valid JSON']);
    assert.deepEqual(await reasonFor('<Patient/>'), [null, 'is XML or HTML. Send FHIR as JSON']);
    assert.deepEqual(await reasonFor('[{"resourceType":"Patient"}]'), [
      null,
      'is a JSON list. Send a Bundle, one resource, or NDJSON with a resource on each line',
    ]);
    assert.deepEqual(await reasonFor('{"id":"1"}'), [
      null,
      'is JSON, but not FHIR: resourceType is missing or is not a FHIR resource type',
    ]);
    assert.deepEqual(await reasonFor(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), [
      null,
      'is not valid UTF-8',
    ]);
    assert.deepEqual(
      await reasonFor(
        '{"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Patient"}},{"resource":',
      ),
      [2, 'ends in the middle of its entries'],
    );
    assert.deepEqual(await reasonFor('{"resourceType":"Bundle","type":"batch","entry":[{}]}'), [
      1,
      'The entry has no resource',
    ]);
    assert.deepEqual(
      await reasonFor(
        '{"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Patient","x":tru}}]}',
      ),
      [1, 'The entry is not valid JSON'],
    );
  });

  test('deep nesting and absurd decimals are refused, not fatal', async () => {
    const deep = `{"resourceType":"Patient","extension":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    const absurd = '{"resourceType":"Location","position":{"longitude":1e999,"latitude":0}}';
    const kept = patient();
    const document = await t.run([deep, absurd, kept]);
    assert.equal(document.rejectedCount, 2);
    assert.deepEqual(document.resources, { Patient: 1 });
  });

  test('what only the database refuses is a rejection too, and spares the lines beside it', async () => {
    const longitude = `1${'0'.repeat(200_000)}`;
    const location = (id: string, text: string) =>
      `{"resourceType":"Location","id":"${id}","position":{"longitude":${text},"latitude":0}}`;
    const document = await t.run([
      [location(randomUUID(), '1.50'), location(randomUUID(), longitude), location(randomUUID(), '2')].join(
        '\n',
      ),
    ]);
    assert.deepEqual(document.resources, { Location: 2 });
    assert.deepEqual(document.rejected, [
      { file: '0.json', entry: 2, reason: 'The resource could not be stored (SQLSTATE 22003)' },
    ]);
  });

  test('the same id twice in a Bundle: taken when the content is the same, refused otherwise', async () => {
    const someone = patient();
    assert.deepEqual((await t.run([bundle([someone, someone])])).resources, { Patient: 2 });
    const document = await t.run([bundle([someone, { ...someone, gender: 'male' }])]);
    assert.match(document.rejected[0]?.reason ?? '', /same type and id as entry 1/);
  });

  test('reasons and reports carry no values, not even as element names [IN-25]', async () => {
    const document = await t.run([
      { ...patient({ gender: 'SECRET-1' }) },
      { ...patient(), 'SECRET-2 Rivers': 1 },
      encounter('Patient/SECRET-3'),
    ]);
    assert.doesNotMatch(JSON.stringify(document), /SECRET/);
    assert.deepEqual(countsOf(document.notKept), { 'Patient.(unknown element)': 1 });
  });
});

describe('importing again', () => {
  const everything = (): Resource[] => {
    const [clinic, doctor, someone] = [organization(), practitioner(), patient()];
    const visit = encounter(ref(someone), {
      participant: [{ individual: { reference: ref(doctor) } }],
      serviceProvider: { reference: ref(clinic) },
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
    assert.equal((await encounterRow(visit))?.version, 2);
    assert.deepEqual(await participantsOf(visit), []);
  });

  test('a dry run reports the same and writes nothing, also across files [IN-24]', NO_DRY_RUN, async () => {
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

describe('limits', () => {
  const limits = { ...DEFAULT_LIMITS, maxEntries: 3, linesAtOnce: 3 };

  test('a Bundle of too many entries is refused whole', async () => {
    const { rejected, resources } = await t.run([bundle([patient(), patient(), patient(), patient()])], {
      deps: { limits },
    });
    assert.deepEqual(resources, {});
    assert.deepEqual(rejected[0]?.reason, 'has more than the limit of 3 entries. Split it.');
  });

  test('a Bundle with more names than are held in mind is refused whole', async () => {
    const limits = { ...DEFAULT_LIMITS, maxIndexBytes: 20_000 };
    const many = Array.from({ length: 200 }, (_, index) => ({ system: NUMBER, value: `N${index}` }));
    const { rejected, resources } = await t.run([bundle([patient({ identifier: many })])], {
      deps: { limits },
    });
    assert.deepEqual(resources, {});
    assert.match(rejected[0]?.reason ?? '', /^has too many ids, addresses and identifiers/);
  });

  test('lines past the limit are not read; those before it are taken', async () => {
    const limits = { ...DEFAULT_LIMITS, maxLines: 2 };
    const document = await t.run([lines([patient(), patient(), patient()])], { deps: { limits } });
    assert.deepEqual(
      document.rejected.map(({ entry, reason }) => [entry, reason]),
      [[3, 'is after the limit of 2 lines. Split the file.']],
    );
    assert.deepEqual(document.resources, { Patient: 2 });
  });

  test('NDJSON of any number of lines is taken, some at a time', async () => {
    const someone = patient();
    const resources = [
      ...Array.from({ length: 9 }, () => patient()),
      someone,
      encounter(ref(someone)),
      { a: 1 },
    ];
    const document = await t.run([lines(resources), practitioner()], { deps: { limits } });
    assert.deepEqual(document.resources, { Encounter: 1, Patient: 10, Practitioner: 1 });
    assert.deepEqual(
      document.rejected.map(({ entry }) => entry),
      [12],
    );
    // What refers to a later part waits for it.
    const late = patient();
    const early = encounter(`Patient/${String(late.id)}`);
    const waited = await t.run([lines([early, patient(), patient(), patient(), late])], { deps: { limits } });
    assert.deepEqual(waited.rejected, []);
    assert.deepEqual(waited.resources, { Encounter: 1, Patient: 4 });
  });
});

describe('what an index cannot hold', () => {
  const LONGEST = { system: `urn:${'ß'.repeat(510)}`, value: '界'.repeat(300) };

  test('identifiers up to the limits are stored and found, of every type', async () => {
    const identifier = [LONGEST];
    const someone = patient({ identifier, name: [{ family: '界'.repeat(1_024) }] });
    const visit = encounter(ref(someone), { identifier });
    const all = [organization({ identifier }), practitioner({ identifier }), someone, visit];
    assert.deepEqual((await t.run([bundle(all)])).rejected, []);
    const again = conditionalCreate(practitioner({ identifier }));
    assert.deepEqual((await t.run([bundle([again])])).unchanged, { Practitioner: 1 });
  });

  test('longer ones reject the Bundle or line, and the others are taken', async () => {
    const random = Array.from({ length: 100 }, () => randomUUID()).join('');
    const long = patient({ identifier: [{ system: NUMBER, value: random }] });
    const far = organization({ identifier: [{ system: `urn:${random}`, value: '1' }] });
    const named = practitioner({ name: [{ family: random }] });
    const { rejected, resources } = await t.run([bundle([long]), lines([far, patient()]), named]);
    assert.deepEqual(
      rejected.map(({ reason }) => reason),
      [
        'Patient.identifier.value is longer than the limit of 900 bytes',
        'Organization.identifier.system is longer than the limit of 1024 bytes',
        'Practitioner.name.family is too long',
      ],
    );
    assert.deepEqual(resources, { Patient: 1 });
  });

  test('what PostgreSQL has no room for is a fault of the data (SQLSTATE class 54)', () => {
    assert.equal(dataFault({ code: '54000' }), 'could not be stored (SQLSTATE 54000)');
    assert.equal(dataFault({ code: '57014' }), undefined);
  });
});

describe('unexpected failures', () => {
  const failing = (code: string) => ({
    onPatientsChanged: async (client: Client, _scope: unknown, changed: readonly PatientChange[]) => {
      if (changed.length === 2)
        await client.query(`do $$ begin raise exception 'a secret' using errcode = '${code}'; end $$`);
    },
  });
  const files = () => [patient(), bundle([patient(), patient()]), patient()];

  test('of one source: the others are taken, and all is reported', async () => {
    const document = await t.run(files(), { deps: failing('XX000'), keepGoing: true });
    assert.deepEqual(document.resources, { Patient: 2 });
    assert.deepEqual(document.rejected, [
      {
        file: '1.json',
        entry: null,
        reason: 'stopped with an unexpected failure (XX000). What was imported before is counted',
      },
    ]);
  });

  for (const code of ['57P01', '53100'])
    test(`a database that is gone or full ends the run, and what was done is reported (${code})`, async () => {
      const document = await t.run(files(), { deps: failing(code), keepGoing: true });
      assert.deepEqual(document.resources, { Patient: 1 });
      assert.deepEqual(
        document.rejected.map(({ file, reason }) => [file, reason]),
        [
          ['1.json', `stopped with an unexpected failure (${code}). What was imported before is counted`],
          [
            '2.json',
            'was not imported, because the database cannot be reached or is read-only. Import it again later',
          ],
        ],
      );
    });
});

describe('tenancy', () => {
  test('two facilities of one organisation share patients and have encounters of their own [ACC-1, PAT-9]', async () => {
    const other = await t.createFacility(t.scope.organisationId);
    const someone = patient();
    const visit = encounter(ref(someone));
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
    const visit = encounter(ref(someone), { participant: [{ individual: { reference: ref(doctor) } }] });
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
