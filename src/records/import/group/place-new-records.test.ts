/** What comes in one unit with its new patient is put under orders and into sets as it is written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { needsPlainPostgres } from '../../../../test-support/database/plain-postgres.ts';
import { createImportTest, useImportTest } from '../../../../test-support/records/import.ts';
import { waitForDisconnect } from '../../../../test-support/wait-until.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';

const PLAIN = needsPlainPostgres('a node counts what it writes, and the coordinator does not know');

const t = await useImportTest();

const PATIENT = { resourceType: 'Patient', id: 'p' };
const to = (type: string, id: string) => ({ reference: `${type}/${id}` });
const category = (code: string) => [
  { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code }] },
];
const part = (resourceType: string, id: string, more: object) => ({
  resourceType,
  id,
  status: 'final',
  code: { text: id, coding: [{ system: 'http://loinc.org', code: '2951-2', display: 'Sodium' }] },
  subject: to('Patient', 'p'),
  ...more,
});
const visit = part('Encounter', 'visit', {
  status: 'finished',
  code: undefined,
  class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
  period: { start: '2024-03-01T09:00:00Z' },
});

/** Instants, days, and what stands between: PostgreSQL writes each in its own way, and ids are made of that. */
const TIMES = [
  '1969-12-31T23:59:59.250Z',
  '1970-01-01T00:00:00Z',
  '0999-02-03T04:05:06.007+02:00',
  '2024-03-01T10:00:00.500+02:00',
  '2024-03-01T10:00:00.120Z',
  '2024-03-01',
  '2024-03',
];
const measured = TIMES.flatMap((effectiveDateTime, index) => [
  part('Observation', `result-${index}`, { category: category('laboratory'), effectiveDateTime }),
  part('Observation', `sign-${index}`, {
    category: category('vital-signs'),
    code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
    effectiveDateTime,
    encounter: to('Encounter', 'visit'),
  }),
]);
const investigated = [
  part('ServiceRequest', 'asked', { status: 'active', intent: 'order' }),
  part('Observation', 'of-order', {
    category: category('laboratory'),
    basedOn: [to('ServiceRequest', 'asked')],
  }),
  part('Observation', 'member', { category: category('laboratory') }),
  part('Observation', 'panel', { hasMember: [to('Observation', 'member')] }),
  part('Observation', 'listed', { effectiveDateTime: '2024-03-02T10:00:00Z' }),
  part('DiagnosticReport', 'asking', { result: [to('Observation', 'of-order')] }),
  part('DiagnosticReport', 'report', {
    issued: '2024-03-02T11:00:00Z',
    result: [to('Observation', 'listed')],
  }),
  part('ImagingStudy', 'study', { status: 'available', code: undefined, started: '2024-03-02T12:00:00Z' }),
  part('DiagnosticReport', 'read', { imagingStudy: [to('ImagingStudy', 'study')] }),
];
const RECORDS = [visit, ...measured, ...investigated];

const bundle = (records: readonly object[]) => ({
  resourceType: 'Bundle',
  type: 'collection',
  entry: records.map((resource) => ({ resource })),
});

/** Orders, sets, and what is in them. */
async function grouped({ organisationId }: FacilityScope) {
  const orders = t.rows(
    `select id, made_up, discipline, status, code, encounter_id, sort_at::text, content_digest
     from investigation_order
     where organisation_id = $1
     order by id`,
    [organisationId],
  );
  const sets = t.rows(
    'select id, encounter_id, taken_at::text from vital_set where organisation_id = $1 order by id',
    [organisationId],
  );
  const parts = t.rows(
    `select id, order_id, vital_set_id from observation where organisation_id = $1
     union all select id, order_id, null from investigation_report where organisation_id = $1
     union all select id, order_id, null from imaging_study where organisation_id = $1
     order by id`,
    [organisationId],
  );
  return { orders: await orders, sets: await sets, parts: await parts };
}

test('a patient and the records in one Bundle end as the patient first and the records later [IN-17, IN-19]', async () => {
  const [together, later] = [await t.createOrganisation(), await t.createOrganisation()];
  assert.deepEqual((await t.run([bundle([PATIENT, ...RECORDS])], { scope: together })).rejected, []);
  for (const documents of [[bundle([PATIENT])], [bundle(RECORDS)]])
    assert.deepEqual((await t.run(documents, { scope: later })).rejected, []);
  const [first, second] = [await grouped(together), await grouped(later)];
  // A day without a time is the same for all; of a month there is no set.
  assert.equal(first.sets.length, TIMES.length - 1);
  assert.deepEqual(first, second);
});

test('of a new patient, no result, report or set is written twice', PLAIN, async () => {
  const own = await createImportTest();
  const owner = new pg.Client({ connectionString: own.database.url, application_name: 'owner' });
  await owner.connect();
  try {
    assert.deepEqual((await own.run([bundle([PATIENT, ...RECORDS])])).rejected, []);
    await own.database.pool.end();
    await waitForDisconnect(owner, 'test');
    const { rows } = await owner.query<{ relname: string; writtenOnce: boolean }>(
      `select relname, n_tup_ins > 0 and n_tup_upd = 0 as "writtenOnce"
       from pg_stat_user_tables
       where relname in ('observation', 'investigation_report', 'imaging_study', 'vital_set')
       order by relname`,
    );
    assert.deepEqual(
      rows,
      ['imaging_study', 'investigation_report', 'observation', 'vital_set'].map((relname) => ({
        relname,
        writtenOnce: true,
      })),
    );
  } finally {
    await owner.end();
    await own.database.drop();
  }
});

test('what is stored already is grouped as before, also with a new patient', async () => {
  const [together, before] = [await t.createOrganisation(), await t.createOrganisation()];
  const corrected = part('Observation', 'listed', {
    effectiveDateTime: '2024-03-03T10:00:00Z',
    note: [{ text: 'x' }],
  });
  const other = { resourceType: 'Patient', id: 'q' };
  // Reported of another patient first, by mistake.
  await t.run([bundle([other, { ...corrected, subject: to('Patient', 'q') }])], { scope: before });
  for (const scope of [together, before])
    assert.deepEqual((await t.run([bundle([PATIENT, other, ...RECORDS])], { scope })).rejected, []);
  assert.deepEqual(await grouped(before), await grouped(together));
});

test('a record of a new patient that refers to what another patient has is refused [IN-20]', async () => {
  const scope = await t.createOrganisation();
  const other = { resourceType: 'Patient', id: 'q' };
  const theirs = part('Observation', 'theirs', { subject: to('Patient', 'q') });
  await t.run([bundle([other, theirs])], { scope });
  for (const records of [
    [PATIENT, part('DiagnosticReport', 'report', { result: [to('Observation', 'theirs')] })],
    [
      PATIENT,
      { ...other, id: 'r' },
      part('Observation', 'panel', { hasMember: [to('Observation', 'own')] }),
      part('Observation', 'own', { subject: to('Patient', 'r') }),
    ],
  ]) {
    const { rejected } = await t.run([bundle(records)], { scope });
    assert.match(
      String(rejected[0]?.reason),
      /refers to a record of another patient. If that record moved to this patient, import it first, or in the same import. If each refers to the other, send both in one Bundle$/,
    );
  }
});

const of = (patient: string, record: object) => ({ ...record, subject: to('Patient', patient) });

test('an Encounter that is stored in a newer version, as another patient’s, is another patient’s [IN-20]', async () => {
  const scope = await t.createOrganisation();
  const [before, other] = [
    { id: 'a', meta: { versionId: '5' } },
    { id: 'b', meta: { versionId: '2' } },
  ].map(({ id, meta }) => [{ resourceType: 'Patient', id }, of(id, { ...visit, meta })]);
  await t.run([bundle(before ?? [])], { scope });
  const sign = part('Observation', 'sign', { encounter: to('Encounter', 'visit') });
  const { rejected } = await t.run([bundle([...(other ?? []), of('b', sign)])], { scope });
  assert.deepEqual(
    rejected.map(({ reason }) => reason),
    [
      'Observation.encounter refers to a record of another patient. If that record moved to this patient, import it first, or in the same import. If each refers to the other, send both in one Bundle',
    ],
  );
});

for (const [what, others] of [
  ['moved to another record', [['p', 'X']]],
  ['dropped', []],
] as const)
  test(`an identifier that the unit has ${what} is found as the unit has it, whoever else is new in it [IN-9]`, async () => {
    const asked = (id: string, value: string) =>
      part('ServiceRequest', id, {
        status: 'active',
        intent: 'order',
        identifier: [{ system: 'urn:o', value }],
      });
    const basedOn = [{ type: 'ServiceRequest', identifier: { system: 'urn:o', value: 'X' } }];
    for (const more of [[], [{ resourceType: 'Patient', id: 'new' }]]) {
      const scope = await t.createOrganisation();
      await t.run([bundle([PATIENT, asked('o', 'X'), asked('p', 'W')])], { scope });
      const records = [asked('o', 'V'), ...others.map(([id, value]) => asked(id, value))];
      const { rejected } = await t.run(
        [bundle([...more, ...records, part('Observation', 'result', { basedOn })])],
        { scope },
      );
      assert.deepEqual(rejected, []);
      const rows = await t.rows(
        `select o.identifier -> 0 ->> 'value' as value
         from observation b
         left join investigation_order o
           on o.organisation_id = b.organisation_id and o.facility_id = b.facility_id and o.id = b.based_on_id
         where b.organisation_id = $1`,
        [scope.organisationId],
      );
      assert.deepEqual(rows, [{ value: others.length === 0 ? null : 'X' }]);
    }
  });
