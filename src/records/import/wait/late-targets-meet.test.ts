/** Records that wait, where several imports meet or facilities share the record (docs/adr/0110). */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { callDuring } from '../../../../test-support/call-during.ts';
import { bundle, type Resource } from '../../../../test-support/records/clinic.ts';
import {
  createImportTest,
  type ImportTest,
  lines,
  sourceOf,
} from '../../../../test-support/records/import.ts';
import { waitForLock, waitUntil } from '../../../../test-support/wait-until.ts';
import { withClient } from '../../../platform/db/migrate.ts';
import { importRecords } from '../import-records.ts';
import { waitersFor } from './waiting.store.ts';

const PATIENT = '7d000000-0000-4000-8000-000000000001';
const REPLACING = '7d000000-0000-4000-8000-000000000002';
const ORDER = '7d000000-0000-4000-8000-000000000010';
const subject = { reference: `Patient/${PATIENT}` };
const person = (id: string, family: string, more: object = {}): Resource => ({
  resourceType: 'Patient',
  id,
  name: [{ family }],
  gender: 'female',
  ...more,
});
const replacedBy = { link: [{ type: 'replaced-by', other: { reference: `Patient/${REPLACING}` } }] };
const order: Resource = {
  resourceType: 'ServiceRequest',
  id: ORDER,
  status: 'active',
  intent: 'order',
  code: { text: 'Blood count' },
  subject,
};
const result = (number = 1, more: object = {}): Resource => ({
  resourceType: 'Observation',
  id: `7d000000-0000-4000-8000-1${String(number).padStart(11, '0')}`,
  status: 'final',
  code: { text: 'Haemoglobin' },
  subject,
  basedOn: [{ reference: `ServiceRequest/${ORDER}` }],
  valueQuantity: { value: 13, unit: 'g/dL' },
  ...more,
});

let t: ImportTest;
beforeEach(async () => {
  t = await createImportTest();
});
afterEach(() => t.database.drop());

const count = async (table: string, where = 'true') =>
  (await t.rows<{ count: number }>(`select count(*)::int as count from ${table} where ${where}`))[0]?.count;
const joined = () => count('observation', 'based_on_id is not null');
const stored = () => t.rows(`select sort_name, version::int from patient where id = $1`, [PATIENT]);

test('what another facility wrote since is not replaced by what waited [IN-34, IN-37]', async () => {
  const elsewhere = await t.createFacility(t.scope.organisationId);
  await t.run([person(PATIENT, 'Before', replacedBy)]);
  assert.equal(await count('waiting_record'), 1);
  await t.run([person(PATIENT, 'After')], { scope: elsewhere });
  const now = await stored();
  await t.run([person(REPLACING, 'Other')]);
  assert.deepEqual(await stored(), now);
  assert.equal(await count('waiting_record'), 0);
});

test('the second try of an import leaves what another facility wrote meanwhile [IN-34]', async () => {
  const elsewhere = await t.createFacility(t.scope.organisationId);
  const source = (record: Resource, before?: () => Promise<unknown>) =>
    sourceOf(String(record.id), record, before);
  const meanwhile = () => t.run([person(PATIENT, 'After')], { scope: elsewhere });
  const sources = [
    source(person(PATIENT, 'Before', replacedBy)),
    source(person(REPLACING, 'Other'), meanwhile),
  ];
  await importRecords({ db: t.database.pool }, { scope: t.scope, sources });
  assert.equal(await count('patient', "sort_name like 'after%'"), 1);
});

test('a target that comes between the look-up and the commit is joined [IN-37]', async () => {
  await t.run([person(PATIENT, 'Okafor')]);
  const first = await callDuring(t.database.pool, {
    change: (client) => client.query('lock table waiting_link in share row exclusive mode'),
    call: () => t.run([result()]),
    meanwhile: async () => assert.deepEqual((await t.run([order])).rejected, []),
  });
  assert.deepEqual(first.rejected, []);
  assert.equal(await joined(), 1);
  assert.equal(await count('waiting_record'), 0);
});

test('of records that the database refuses to join together, each is tried by itself [IN-37]', async () => {
  await t.run([person(PATIENT, 'Okafor'), lines([1, 2, 3].map((number) => result(number)))]);
  assert.equal(await count('waiting_record'), 3);
  const ids = [1, 2, 3].map((number) => result(number).id);
  await withClient(t.database.url, async (owner) => {
    const condition = `id <> '${ids[1]}' or based_on_id is null`;
    await owner.query(`alter table observation add constraint never_joined check (${condition})`);
  });
  const { rejected, notices } = await t.run([order]);
  assert.deepEqual([rejected, notices], [[], []]);
  const found = await t.rows<{ id: string }>(
    'select id from observation where based_on_id is not null order by id',
  );
  assert.deepEqual(
    found.map(({ id }) => id),
    [ids[0], ids[2]],
  );
  // The one that the database does not take is not tried again and again.
  assert.equal(await count('waiting_record'), 0);
});

test('an earlier entry that was unchanged does not take the wait of a later one that was quicker [IN-34, IN-37]', async () => {
  const [HOSPITAL, SHARED, OTHER] = [ORDER, PATIENT, REPLACING];
  const place = (id: string, name: string): Resource => ({
    ...{ resourceType: 'Location', id, name },
    managingOrganization: { reference: `Organization/${HOSPITAL}` },
  });
  const places = () => t.rows('select name, managing_organisation_id as hospital from location order by id');
  await t.run([bundle([place(SHARED, 'Before'), place(OTHER, 'Before')])]);
  const holder = await t.database.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select from location where organisation_id = $1 and id = $2 for update', [
      t.scope.organisationId,
      OTHER,
    ]);
    let held = true;
    const source = (name: string, records: Resource[], before?: () => Promise<unknown>) =>
      sourceOf(name, bundle(records), async () => held && before?.());
    const sources = [
      // It has found the shared place unchanged, and waits for the other one.
      source('earlier', [place(SHARED, 'Before'), place(OTHER, 'After')]),
      source('later', [place(SHARED, 'After')], () => waitForLock(t.database.pool)),
    ];
    const both = importRecords({ db: t.database.pool }, { scope: t.scope, sources, workers: 2 });
    await waitUntil(async () => (await count('location', "name = 'After'")) === 1);
    held = false;
    await holder.query('commit');
    assert.deepEqual((await both).document.rejected, []);
  } finally {
    holder.release();
  }
  await t.run([{ resourceType: 'Organization', id: HOSPITAL, name: 'Hill Clinic' }]);
  assert.deepEqual(await places(), Array(2).fill({ name: 'After', hospital: HOSPITAL }));
});

test('a record that waits may come again while another import ends its wait', async () => {
  await t.run([person(PATIENT, 'Okafor')]);
  await t.run([result()]);
  const holder = await t.database.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('lock table waiting_link in share row exclusive mode');
    let ended = false;
    const again = t.run([result()]).finally(() => {
      ended = true;
    });
    await waitUntil(
      async () => ended || (await count('pg_locks', 'not granted and relation is not null')) !== 0,
    );
    await holder.query('delete from waiting_record');
    await holder.query('commit');
    assert.deepEqual((await again).rejected, []);
  } finally {
    holder.release();
  }
});

test('a join that fails leaves the import as it is, and is made when the target comes again', async () => {
  await t.run([person(PATIENT, 'Okafor')]);
  await t.run([result()]);
  let calls = 0;
  const onPatients = async () => {
    calls += 1;
    if (calls === 2) throw new Error('The access log is full');
  };
  const document = await t.run([order], { onPatients });
  assert.equal(calls, 2);
  assert.deepEqual([document.rejected, document.resources], [[], { ServiceRequest: 1 }]);
  assert.deepEqual(document.notices, [
    {
      file: '0.json',
      entry: 1,
      resourceType: 'ServiceRequest',
      reason:
        'was taken, but records that wait for it, or for others of its Bundle, could not be joined (Error). Import it again to join them',
    },
  ]);
  assert.equal(await joined(), 0);
  await t.run([order]);
  assert.equal(await joined(), 1);
});

test('the report names what is to be looked at about a record that is joined', async () => {
  await t.run([person(PATIENT, 'Okafor', replacedBy), person(REPLACING, 'Okafor')]);
  await t.run([result()]);
  const { notices } = await t.run([bundle([{ resource: order }])]);
  assert.deepEqual(
    notices.map(({ entry, resourceType, reason }) => [entry, resourceType, reason.slice(0, 30)]),
    [
      [1, 'ServiceRequest', 'is about a patient who was rep'],
      [1, 'ServiceRequest', 'is what Observation/7d000000-0'],
    ],
  );
});

test('of two records of different types under one UUID, one may be refused and the other is joined [IN-20, IN-37]', async () => {
  const { id, basedOn } = result();
  const theirs = result(1, { subject: { reference: `Patient/${REPLACING}` } });
  const report = {
    resourceType: 'DiagnosticReport',
    id,
    status: 'final',
    code: { text: 'Count' },
    subject,
    basedOn,
  };
  await t.run([lines([person(PATIENT, 'Okafor'), person(REPLACING, 'Adeyemi'), theirs, report])]);
  await t.run([order]);
  assert.equal(await joined(), 0);
  assert.equal(await count('investigation_report', `order_id = '${ORDER}'`), 1);
});

for (const [id, called] of [
  ['r-2', 'the id of another record'],
  ['r-3', 'an id that no record has'],
])
  test(`what a condition found, and its source calls by ${called}, is joined where it was found [IN-11, IN-37]`, async () => {
    const identifier = [{ system: 'urn:results', value: '7' }];
    const found = result(1, { id: 'r-1', identifier, basedOn: undefined });
    const other = result(2, { id: 'r-2', basedOn: undefined, code: { text: 'Sodium' } });
    const request = { method: 'PUT', url: 'Observation?identifier=urn:results|7' };
    const update = bundle([{ resource: result(1, { id, identifier }), request }]);
    for (const document of [lines([person(PATIENT, 'Rivers'), found, other]), update, order])
      assert.deepEqual((await t.run([document])).rejected, []);
    const rows = await t.rows(
      `select identifier is not null as found, code ->> 'text' as code, based_on_id
       from observation
       order by code`,
    );
    assert.deepEqual(rows, [
      { found: true, code: 'Haemoglobin', based_on_id: ORDER },
      { found: false, code: 'Sodium', based_on_id: null },
    ]);
  });

test('very many that wait are joined some at a time', async () => {
  const many = 600;
  await t.run([person(PATIENT, 'Okafor')]);
  await t.run([lines(Array.from({ length: many }, (_, index) => result(index)))]);
  assert.equal(await count('waiting_record'), many);
  const asked = { names: [ORDER], except: undefined };
  const found = new Set<string>();
  let page = await waitersFor(t.database.pool, t.scope, asked);
  while (page.length > 0) {
    assert.ok(page.length <= 500, `${page.length} at once`);
    for (const { id } of page) found.add(id);
    page = await waitersFor(t.database.pool, t.scope, { ...asked, after: page.at(-1) });
  }
  assert.equal(found.size, many);
  await t.run([order]);
  assert.equal(await joined(), many);
  assert.deepEqual([await count('waiting_record'), await count('waiting_link')], [0, 0]);
});

test('what another facility brings is joined when the record comes again at its own [IN-37]', async () => {
  const elsewhere = await t.createFacility(t.scope.organisationId);
  const place = '7d000000-0000-4000-8000-000000000031';
  const visit: Resource = {
    resourceType: 'Encounter',
    id: '7d000000-0000-4000-8000-000000000030',
    status: 'finished',
    class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
    subject,
    location: [{ location: { reference: `Location/${place}` } }],
  };
  await t.run([person(PATIENT, 'Okafor'), visit]);
  await t.run([{ resourceType: 'Location', id: place, name: 'Ward 1' }], { scope: elsewhere });
  assert.equal(await count('encounter_location', 'location_id is not null'), 0);
  await t.run([visit]);
  assert.equal(await count('encounter_location', `location_id = '${place}'`), 1);
  assert.equal(await count('waiting_record'), 0);
});
