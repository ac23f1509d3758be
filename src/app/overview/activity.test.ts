import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveFhir } from '../../../test-support/fhir-server/start.ts';
import { documentedCalls } from '../../../test-support/http/documented-answers.ts';
import { createClinic } from '../../../test-support/publish/publish-records.ts';
import { type TestAccount, useEmptyApi } from '../../../test-support/service/api.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createFhirServer } from '../../publish/servers/manage-fhir-servers.ts';
import { ACTIVITY_RETENTION } from '../../tenancy/activity/activity.store.ts';
import { createActivityRecorder } from '../../tenancy/activity/record-activity.ts';
import { setModules } from '../../tenancy/organisations/facilities.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { runRetention } from '../../tenancy/organisations/retention.ts';

const NOW = new Date('2026-01-10T11:20:00Z');
const api = await useEmptyApi({ now: NOW });
const documented = await documentedCalls(api);
const tenant = await api.createTenant();

const run = (text: string, values: unknown[]) => api.database.pool.query({ text, values });
const activityOf = async ({ token }: { token: string }, query = '') =>
  documented('GET', '/overview/activity', await api.call(`/overview/activity${query}`, { token }));

/** The points of a series that are not 0, by how many hours ago. */
async function pointsOf(account: TestAccount, name: string, query = ''): Promise<Record<number, number>> {
  const { json, text } = await activityOf(account, query);
  const series = json.series.find((one: { name: string }) => one.name === name);
  assert.ok(series, text);
  const hours = series.points.length;
  return Object.fromEntries(
    series.points
      .map((count: number, index: number) => [hours - 1 - index, count])
      .filter(([, count]: [number, number]) => count > 0),
  );
}

test('calls and publishes are counted by facility and hour, and by how they ended [ADM-55, ADM-56]', async (t) => {
  const server = await serveFhir('--no-integrity');
  t.after(() => server.stop());
  const place = await api.createTenant();
  const account = await api.createAccount(place);
  const { orderId } = await createClinic(api.database.pool, {
    results: 1,
    scope: { ...place, timeZone: 'UTC' },
  });
  const target = (name: string, base: string) =>
    createFhirServer(
      { db: api.database.pool, keys: api.keys },
      {
        organisationId: place.organisationId,
        settings: { name, base, auth: 'none' },
        secret: undefined,
        makeDefault: false,
      },
    );
  await target('main', server.base);
  await target('strict', server.base);
  const publish = (name: string) =>
    api.call(`/investigations/lab/orders/${orderId}/clinical/publish-fhir?target=${name}`, {
      method: 'POST',
      token: account.token,
    });
  assert.equal((await publish('main')).status, 200);
  await run(
    `update publish_target set base = base || '/nowhere', version = version + 1 where name = 'strict'`,
    [],
  );
  assert.equal((await publish('strict')).status, 502);
  assert.equal((await api.call('/patients/base/nobody', { token: account.token })).status, 404);
  await waitUntil(async () => (await pointsOf(account, 'calls-refused'))[0] === 1);
  assert.equal((await pointsOf(account, 'calls-failed'))[0], 1);
  assert.ok(((await pointsOf(account, 'calls'))[0] ?? 0) >= 3);
  assert.deepEqual(await pointsOf(account, 'publishes'), { 0: 2 });
  assert.deepEqual(await pointsOf(account, 'publish-failures'), { 0: 1 });
  assert.deepEqual(await pointsOf(account, 'deliveries'), {});
});

test('a call that is refused at its facility counts there, whatever refuses it [ADM-56]', async () => {
  const place = await api.createTenant();
  const reader = await api.createAccount(place);
  const without = await api.createAccount(place, { permissions: ['patients.patients.list'] });
  const toChange = await api.createAccount(place, { mustChangePassword: true });
  const statusOf = async ({ token }: TestAccount, headers = {}) =>
    (await api.call('/roles', { token, headers })).status;
  assert.equal(await statusOf(without), 403);
  assert.equal(await statusOf(toChange), 403);
  await setModules(api.database.pool, { ...place, modules: ['encounters'] });
  assert.equal((await api.call('/patients/base/nobody', { token: reader.token })).status, 403);
  // Of a facility that the account may not use, nothing is counted.
  assert.equal(await statusOf(without, { 'x-facility-id': tenant.facilityId }), 403);
  await waitUntil(async () => (await pointsOf(reader, 'calls-refused'))[0] === 3);
});

test('hours stand in their place, up to 168 of them [ADM-55]', async () => {
  const place = await api.createTenant();
  const account = await api.createAccount(place);
  const count = (facilityId: string, at: string, kind: string, counted: number) =>
    run(
      'insert into activity_hour (organisation_id, facility_id, hour, kind, count) values ($1, $2, $3, $4, $5)',
      [place.organisationId, facilityId, at, kind, counted],
    );
  for (const [at, counted] of [
    ['2026-01-10T11:00:00Z', 7],
    ['2026-01-10T10:00:00Z', 3],
    ['2026-01-09T12:00:00Z', 2],
    ['2026-01-09T11:00:00Z', 4],
  ] as const)
    await count(place.facilityId, at, 'deliveries', counted);
  const elsewhere = await api.createFacility(place.organisationId);
  await count(elsewhere, '2026-01-10T10:00:00Z', 'deliveries', 9);
  const { json } = await activityOf(account);
  assert.deepEqual(
    [json.from, json.to, json.stepSeconds],
    ['2026-01-09T12:00:00.000Z', '2026-01-10T12:00:00.000Z', 3600],
  );
  assert.ok(json.series.every(({ points }: { points: number[] }) => points.length === 24));
  assert.deepEqual(await pointsOf(account, 'deliveries'), { 0: 7, 1: 3, 23: 2 });
  assert.deepEqual(await pointsOf(account, 'deliveries', '?hours=168'), { 0: 7, 1: 3, 23: 2, 24: 4 });
  const kinds = {
    'calls-answered': 16,
    'calls-refused': 8,
    'calls-failed': 4,
    publishes: 2,
    'publish-failures': 1,
  };
  for (const [kind, counted] of Object.entries(kinds))
    await count(place.facilityId, '2026-01-10T09:00:00Z', kind, counted);
  const sums = { calls: 28, 'calls-refused': 8, 'calls-failed': 4, publishes: 3, 'publish-failures': 1 };
  for (const [name, sum] of Object.entries(sums)) assert.equal((await pointsOf(account, name))[2], sum, name);
  for (const bad of ['hours=25', 'hours=x']) assert.equal((await activityOf(account, `?${bad}`)).status, 400);
});

test('what one process counts is added to what another counted [ADM-56]', async () => {
  const place = await api.createTenant();
  const account = await api.createAccount(place);
  const failed = (error: unknown) => assert.fail(String(error));
  const recorders = [0, 1].map(() =>
    createActivityRecorder({ db: api.database.pool, now: () => NOW, onError: failed }),
  );
  for (const recorder of recorders) for (let n = 0; n < 3; n += 1) recorder.note(place, 'delivery-failures');
  for (const recorder of recorders) await recorder.close();
  assert.deepEqual(await pointsOf(account, 'delivery-failures'), { 0: 6 });
});

test('old hours are removed [ADM-57]', async () => {
  const place = await api.createTenant();
  for (const days of [36, 34])
    await run(
      `insert into activity_hour (organisation_id, facility_id, hour, kind, count)
       values ($1, $2, now() - $3 * interval '1 day', 'publishes', 1)`,
      [place.organisationId, place.facilityId, days],
    );
  const context = { db: api.database.pool, work: createWorkWatch().of('retention') };
  const left = async () =>
    (await run('select from activity_hour where organisation_id = $1', [place.organisationId])).rowCount;
  await runRetention(context, [ACTIVITY_RETENTION], { dryRun: true });
  assert.equal(await left(), 2);
  await runRetention(context, [ACTIVITY_RETENTION], { dryRun: false });
  assert.equal(await left(), 1);
});
