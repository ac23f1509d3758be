/** Results are shown whatever their category says; the report counts what no fetch shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { bundle, type Resource } from '../../../test-support/records/clinic.ts';
import { sourceOf } from '../../../test-support/records/import.ts';
import { importJson } from '../../../test-support/records/import-files.ts';
import { type Tenant, type TestAccount, useEmptyApi } from '../../../test-support/service/api.ts';
import { importRecords } from './import-records.ts';
import { importText } from './import-report.ts';
import { NotShownTally } from './not-shown.ts';

const PATIENT = '7f000000-0000-4000-8000-000000000001';
const subject = { reference: `Patient/${PATIENT}` };
const categorised = (...codes: string[]) => ({
  category: codes.map((code) => ({
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code }],
  })),
});
const observation = (id: string, more: object): Resource => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { text: id },
  subject,
  effectiveDateTime: '2024-03-01T10:00:00Z',
  valueQuantity: { value: 13.5, unit: 'g/dL' },
  ...more,
});
const people: Resource = { resourceType: 'Patient', id: PATIENT };
let tenant: Tenant;
let account: TestAccount;

const api = await useEmptyApi();

async function newTenant(): Promise<void> {
  tenant = await api.createTenant();
  account = await api.createAccount(tenant);
}

async function shownCodes(): Promise<string[]> {
  const get = async (path: string) => (await api.call(path, { token: account.token })).json;
  const { items } = await get(`/investigations/lab/orders?patient=${PATIENT}&limit=100`);
  const codes: string[] = [];
  for (const { orderId } of items) {
    const { observations } = await get(`/investigations/lab/orders/${orderId}/clinical/fhir`);
    for (const { resource } of observations) codes.push(resource.code.text);
  }
  return codes.sort();
}

test('a result without an order gets one whatever its category says, or whether it has one [IN-39]', async () => {
  await newTenant();
  const records = [
    observation('no-category', {}),
    observation('laboratory', categorised('laboratory')),
    observation('exam', categorised('exam')),
    observation('procedure', categorised('procedure')),
    observation('own', { category: [{ text: 'Blood gas' }] }),
    observation('survey', categorised('survey')),
    observation('social', categorised('social-history')),
    observation('image', categorised('imaging')),
    observation('pulse', {
      ...categorised('vital-signs'),
      code: { text: 'pulse', coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
      valueQuantity: { value: 80, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
    }),
    observation('survey-and-laboratory', categorised('survey', 'laboratory')),
  ];
  const report = await importJson(api.database.pool, tenant, JSON.stringify(bundle([people, ...records])));
  assert.deepEqual(report.rejected, []);
  assert.deepEqual(await shownCodes(), [
    'exam',
    'laboratory',
    'no-category',
    'own',
    'procedure',
    'survey-and-laboratory',
  ]);
  assert.deepEqual(report.notShown, { imaging: 1, 'social-history': 1, survey: 1 });
});

test('the report counts what no fetch shows, by reason, for people too [IN-40]', async () => {
  await newTenant();
  const order = (id: string, more: object): Resource => ({
    resourceType: 'ServiceRequest',
    id,
    status: 'active',
    intent: 'order',
    code: { text: id },
    subject,
    ...more,
  });
  const records = [
    observation('survey', categorised('survey')),
    observation('survey-2', categorised('survey')),
    observation('untimed', { ...categorised('vital-signs'), effectiveDateTime: '2024' }),
    order('physiotherapy', {}),
    order('blood', categorised('laboratory')),
    {
      resourceType: 'DiagnosticReport',
      id: 'note',
      status: 'final',
      category: [{ text: 'Clinical note' }],
      code: { text: 'Note' },
      subject,
    },
  ];
  const files = bundle([people, ...records]);
  const report = await importJson(api.database.pool, tenant, JSON.stringify(files));
  assert.deepEqual(report.rejected, []);
  const expected = { 'other-order': 1, 'other-report': 1, survey: 2, 'vital-sign': 1 };
  assert.deepEqual(report.notShown, expected);
  assert.match(
    importText(report),
    /\nnot shown\n {2}other-order +1\n {2}other-report +1\n {2}survey +2\n {2}vital-sign +1\n/,
  );
  // What was there already is counted too: it is still not shown.
  assert.deepEqual((await importJson(api.database.pool, tenant, JSON.stringify(files))).notShown, expected);
});

test('what a report or an order of a later file brings along is shown, and is not counted [IN-40]', async () => {
  await newTenant();
  const record = (json: Resource) => JSON.stringify(json);
  const report = await importJson(
    api.database.pool,
    tenant,
    record(people),
    record(observation('asked', categorised('survey'))),
    record(observation('not-asked', categorised('survey'))),
    record({
      resourceType: 'DiagnosticReport',
      id: 'laboratory',
      status: 'final',
      ...categorised('laboratory'),
      code: { text: 'With a questionnaire' },
      subject,
      result: [{ reference: 'Observation/asked' }],
    }),
  );
  assert.deepEqual(report.rejected, []);
  assert.deepEqual(await shownCodes(), ['asked']);
  assert.deepEqual(report.notShown, { survey: 1 });
});

test('a dry run counts none of it: it puts nothing under orders [IN-24]', async () => {
  await newTenant();
  const sources = [sourceOf('a', bundle([people, observation('survey', categorised('survey'))]))];
  const scope = { timeZone: 'UTC', ...tenant };
  const { document } = await importRecords({ db: api.database.pool }, { scope, sources, dryRun: true });
  assert.deepEqual([document.resources.Observation, document.notShown], [1, {}]);
});

test('the report is there when the database goes away before its counts are settled [IN-40]', async () => {
  await newTenant();
  const database = await createTestDatabase();
  try {
    await database.pool.query(`insert into organisation (id, name) values ($1, 'Organisation')`, [
      tenant.organisationId,
    ]);
    await database.pool.query(
      `insert into facility (organisation_id, id, name, time_zone) values ($1, $2, 'Facility', 'UTC')`,
      [tenant.organisationId, tenant.facilityId],
    );
    const records = [people, observation('survey', categorised('survey'))];
    const sources = [sourceOf('a.json', bundle(records))];
    let ended: Promise<void> | undefined;
    const onProgress = () => {
      ended = database.pool.end();
    };
    const scope = { timeZone: 'UTC', ...tenant };
    const { document } = await importRecords(
      { db: database.pool },
      { scope, sources, keepGoing: true, onProgress },
    );
    await ended;
    assert.deepEqual([document.resources.Observation, document.notShown], [1, { survey: 1 }]);
  } finally {
    await database.drop();
  }
});

test('a record that comes twice is counted once, however many there are [IN-40]', () => {
  const tally = new NotShownTally();
  const many = 100_001;
  for (const _ of ['first', 'again'])
    for (let number = 0; number < many; number += 1)
      tally.add({ type: 'Observation', id: `${number}`, reason: 'survey' });
  tally.add({ type: 'DiagnosticReport', id: `${many - 1}`, reason: 'other-report' });
  assert.deepEqual(tally.counts(), { 'other-report': 1, survey: many });
});
