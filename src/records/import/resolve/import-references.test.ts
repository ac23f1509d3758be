/** What references and conditional creates of imported records lead to. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import {
  bundle,
  conditionalCreate,
  encounter,
  identifierOf,
  LICENCE,
  patient,
  practitioner,
  type Resource,
  urnOf,
} from '../../../../test-support/records/clinic.ts';
import { countsOf, lines, useImportTest } from '../../../../test-support/records/import.ts';
import { facilityRecordId, recordId } from './record-id.ts';

const t = await useImportTest();

describe('references', () => {
  const kinds: [string, (doctor: Resource, organisationDoctor: Resource) => unknown][] = [
    ['urn:uuid', (doctor) => ({ reference: urnOf(doctor) })],
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
        encounter(urnOf(someone), { participant: [{ individual: reference(doctor, doctor) }] });
      const [inBundle, later] = [visit(), visit()];
      const first = await t.run([bundle([inBundle, someone, doctor])]);
      const second = await t.run([bundle([later, someone])]);
      assert.deepEqual([first.rejected, second.rejected], [[], []]);
      assert.deepEqual([first.unresolved, second.unresolved], [[], []]);
      for (const resource of [inBundle, later])
        assert.deepEqual(await t.participantsOf(resource), [{ practitioner_id: doctor.id, display: null }]);
    });
  }

  test('urn:oid, and a fullUrl of any form, into the Bundle [IN-8]', async () => {
    const someone = patient();
    const visits = [encounter('urn:oid:1.2.3'), encounter('https://source.example/x/y?z=1')];
    for (const visit of visits) {
      const fullUrl = (visit.subject as { reference: string }).reference;
      const document = await t.run([bundle([{ fullUrl, resource: someone }, visit])]);
      assert.deepEqual(document.rejected, []);
      assert.equal((await t.encounterRow(visit))?.patient_id, someone.id);
    }
  });

  test('urn:uuid in upper and lower case, to the entry of the Bundle before the record of that id [IN-8]', async () => {
    const uuid = randomUUID();
    assert.equal((await t.run([patient({ id: uuid })])).rejectedCount, 0);
    const urns = [`urn:uuid:${uuid}`, `urn:uuid:${uuid.toUpperCase()}`];
    for (const fullUrl of urns)
      for (const reference of urns) {
        const someone = patient();
        const visit = encounter(reference);
        const { rejected } = await t.run([bundle([{ fullUrl, resource: someone }, visit])]);
        assert.deepEqual(rejected, []);
        assert.equal((await t.encounterRow(visit))?.patient_id, someone.id, `${fullUrl} and ${reference}`);
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
        (await t.encounterRow(visit))?.patient_id,
        facilityRecordId(t.scope.facilityId, recordId('Patient', 'f001')),
      );
  });

  test('files may refer to files that come after them', async () => {
    const [doctor, someone] = [practitioner(), patient()];
    const visit = encounter(`Patient/${String(someone.id)}`, {
      participant: [{ individual: { identifier: identifierOf(doctor) } }],
    });
    for (const workers of [1, 4]) {
      const document = await t.run([visit, lines([visit, encounter(urnOf(someone))]), someone, doctor], {
        workers,
      });
      assert.deepEqual(document.rejected, []);
      assert.deepEqual(document.resources, { Encounter: 3, Patient: 1, Practitioner: 1 });
      assert.deepEqual(document.unresolved, []);
    }
    assert.deepEqual(await t.participantsOf(visit), [{ practitioner_id: doctor.id, display: null }]);
    assert.equal((await t.encounterRow(visit))?.version, 1);
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
    const visit = encounter(urnOf(someone), {
      participant: [
        { individual: { reference: 'Practitioner/gone', display: 'Dr. Gone' } },
        { individual: { reference: 'PractitionerRole/7' } },
      ],
    });
    const document = await t.run([bundle([someone, visit])]);
    assert.deepEqual(document.rejected, []);
    assert.deepEqual(countsOf(document.unresolved), { 'Encounter.participant.individual': 2 });
    assert.deepEqual(await t.participantsOf(visit), [
      { practitioner_id: null, display: 'Dr. Gone' },
      { practitioner_id: null, display: 'PractitionerRole/7' },
    ]);
  });

  test('a conditional reference without its one match rejects the Bundle [IN-9]', async () => {
    const shared = { system: LICENCE, value: randomUUID() };
    await t.run([bundle([practitioner({ identifier: [shared] }), practitioner({ identifier: [shared] })])]);
    const reasonFor = async (reference: string): Promise<string> => {
      const someone = patient();
      const visit = encounter(urnOf(someone), { participant: [{ individual: { reference } }] });
      const document = await t.run([bundle([someone, visit])]);
      assert.deepEqual(document.resources, {});
      assert.deepEqual(await t.rows('select id from patient where id = $1', [someone.id]), []);
      assert.equal(document.rejected[0]?.entry, 2);
      return document.rejected[0]?.reason ?? '';
    };
    assert.equal(
      await reasonFor(`Practitioner?identifier=${LICENCE}|nobody`),
      'Encounter.participant.individual is a conditional reference, but no Practitioner with that identifier is in the file or at this facility. Import it first.',
    );
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

describe('updates', () => {
  test('the address and the resource must name the same record', async () => {
    const [kept, other] = [patient({ id: 'A-1' }), patient()];
    const sent = async (resource: Resource, url: string, fullUrl?: string) =>
      t.run([bundle([{ ...(fullUrl && { fullUrl }), resource, request: { method: 'PUT', url } }])]);
    for (const [resource, url] of [
      [kept, 'Patient/A-2'],
      [kept, 'Observation/A-1'],
      [other, `https://source.example/Patient/${randomUUID()}`],
      [other, `Practitioner?identifier=${LICENCE}|${identifierOf(other)?.value}`],
    ] as const) {
      const { rejected, resources } = await sent(resource, url);
      assert.deepEqual(resources, {});
      assert.deepEqual(
        rejected.map(({ entry, reason }) => [entry, reason]),
        [[1, 'request.url of this Patient names another record than the type and id of the resource']],
      );
    }
    const { id: _, ...nameless } = kept;
    const { rejected } = await sent(nameless as Resource, 'Patient/A-1');
    assert.deepEqual(
      rejected.map(({ reason }) => reason),
      ['request.url of this Patient names a record, but the resource has no id'],
    );
    for (const { rejected } of [
      await sent(kept, 'https://source.example/Patient/A-1/_history/2'),
      await sent(nameless as Resource, 'Patient/A-1', 'https://source.example/Patient/A-1'),
      await sent(other, `Patient/${String(other.id).toUpperCase()}`),
    ])
      assert.deepEqual(rejected, []);
  });
});

describe('conditional creates', () => {
  test('a record of the organisation with that identifier is used in place of a new one [IN-11]', async () => {
    const kept = practitioner();
    await t.run([kept]);
    const again = practitioner({ identifier: kept.identifier, name: [{ family: 'Other' }] });
    const someone = patient();
    const visit = encounter(urnOf(someone), { participant: [{ individual: { reference: urnOf(again) } }] });
    const document = await t.run([bundle([conditionalCreate(again), someone, visit])]);
    assert.deepEqual(document.resources, { Encounter: 1, Patient: 1, Practitioner: 1 });
    assert.deepEqual(await t.participantsOf(visit), [{ practitioner_id: kept.id, display: null }]);
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
    const visit = encounter(urnOf(again));
    assert.deepEqual((await t.run([bundle([conditionalCreate(again), visit])])).rejected, []);
    assert.equal((await t.encounterRow(visit))?.patient_id, kept.id);
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
    const nul = await t.run([bundle([conditionalCreate(practitioner(), 'identifier=a%00|b')])]);
    assert.match(nul.rejected[0]?.reason ?? '', /ifNoneExist .* not have the form identifier=system\|value/);
    const removal = { resource: practitioner(), request: { method: 'DELETE', url: 'Practitioner/1' } };
    assert.match((await t.run([bundle([removal])])).rejected[0]?.reason ?? '', /must be POST or PUT/);
  });

  test('the system of a condition may have a question mark, and an address before it an equals sign [IN-11]', async () => {
    const identifier = [{ system: 'https://ids.example.org/by?kind=licence', value: randomUUID() }];
    const query = `identifier=${identifier[0]?.system}|${identifier[0]?.value}`;
    const kept = practitioner({ identifier });
    await t.run([kept]);
    const address = `https://fhir.example.org/tenant=a/Practitioner?${query}`;
    for (const condition of [query, `?${query}`, `Practitioner?${query}`, address]) {
      const { unchanged, rejected } = await t.run([
        bundle([conditionalCreate(practitioner({ identifier }), condition)]),
      ]);
      assert.deepEqual([unchanged, rejected], [{ Practitioner: 1 }, []], condition);
    }
    for (const [url, family] of [
      [`Practitioner?${query}`, 'Marsh'],
      [address, 'Heath'],
    ] as const) {
      const { id: _id, ...change } = practitioner({ identifier, name: [{ family }] });
      const request = { method: 'PUT', url };
      assert.deepEqual((await t.run([bundle([{ resource: change, request }])])).rejected, [], url);
    }
    assert.deepEqual(await t.rows('select display, version from practitioner where id = $1', [kept.id]), [
      { display: 'Heath', version: 3 },
    ]);
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
    // Two entries that change one record.
    for (const entries of [
      [kept, { resource: change, request }],
      [
        { resource: change, request },
        { resource: practitioner(), request },
      ],
    ])
      for (const dryRun of [true, false]) {
        const { rejected } = await t.run([bundle(entries)], { dryRun });
        assert.deepEqual(
          rejected.map(({ entry }) => entry),
          [2],
        );
        assert.match(rejected[0]?.reason ?? '', /same record as entry 1, because of a condition/);
      }
  });
});
