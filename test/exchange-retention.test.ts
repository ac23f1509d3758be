/** What is removed of the ledger of deliveries over time, and what never is (docs/operations.md, "Retention"). */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { retentionRules } from '../src/app/commands/retention.ts';
import { loadConfig } from '../src/app/config/config.ts';
import type { CreatedConnection } from '../src/exchange/connections/connection.schema.ts';
import { type ConnectionKey, leaseDue } from '../src/exchange/queue/lane.store.ts';
import { park } from '../src/exchange/queue/parking.store.ts';
import { type DeliveryResult, settle } from '../src/exchange/queue/settle.store.ts';
import { decide } from '../src/exchange/review/review.store.ts';
import { createWorkWatch } from '../src/tenancy/organisations/organisation-work.ts';
import { createRetentionSweep, type Removed, runRetention } from '../src/tenancy/organisations/retention.ts';
import { connect, insertPatients, queue, rename } from '../test-support/exchange/exchange-records.ts';
import { documentedCalls } from '../test-support/http/documented-answers.ts';
import { type Tenant, type TestAccount, useEmptyApi } from '../test-support/service/api.ts';
import { runCommand } from '../test-support/service/command.ts';

const api = await useEmptyApi();
const documented = await documentedCalls(api);

let tenant: Tenant;
let account: TestAccount;
let connection: CreatedConnection;

beforeEach(async () => {
  tenant = await api.createTenant();
  account = await api.createAccount(tenant);
  connection = await connect({ pool: pool(), keys: api.keys }, tenant, {
    address: 'https://hie.example.org',
  });
});

// A sweep goes through every organisation: what a test leaves behind must not count in the next one.
afterEach(() =>
  pool().query('delete from exchange_delivery where organisation_id = $1', [tenant.organisationId]),
);

const pool = () => api.database.pool;
const key = () => ({ organisationId: tenant.organisationId, connectionId: connection.id });
const rules = (env: Record<string, string> = {}) => retentionRules(loadConfig({ ...api.env, ...env }));
const context = () => ({ db: pool(), work: createWorkWatch().of('retention') });
const run = (env?: Record<string, string>) => runRetention(context(), rules(env), { dryRun: false });
/** Every answer must be one that the OpenAPI document describes. */
const get = async (path: string) => documented('GET', path, await api.call(path, { token: account.token }));

/** Queue a patient and let its deliveries that are due end so; the patient's id. */
async function settled(
  next: DeliveryResult['next'],
  outcome: 'delivered' | 'refused' = 'delivered',
): Promise<string> {
  const [patientId = ''] = await insertPatients(pool(), tenant, 1);
  await queue(pool(), tenant, [patientId]);
  await end(next, outcome);
  return patientId;
}
async function end(
  next: DeliveryResult['next'],
  outcome: 'delivered' | 'refused' = 'delivered',
  at: ConnectionKey = key(),
) {
  const token = randomUUID();
  const leased = await leaseDue(pool(), at, { token, durationMs: 60_000, limit: 100 });
  const attempt = {
    nonce: randomUUID(),
    startedAt: new Date(),
    durationMs: 1,
    outcome,
    status: outcome === 'delivered' ? 200 : 422,
    failure: null,
    responseHash: null,
  };
  await settle(
    pool(),
    at,
    leased.map(({ patientId, sequence }) => ({
      patientId,
      sequence,
      leaseToken: token,
      next,
      counted: true,
      attempt: { ...attempt, nonce: randomUUID() },
    })),
  );
}
/** As if everything of the organisation had happened so long ago. */
async function age(days: number): Promise<void> {
  for (const [table, column] of [
    ['exchange_delivery', 'occurred_at'],
    ['exchange_attempt', 'started_at'],
    ['exchange_review', 'decided_at'],
    ['exchange_callback', 'received_at'],
  ])
    await pool().query(
      `update ${table}
       set ${column} = (${column} at time zone 'UTC' - $2 * interval '1 day') at time zone 'UTC'
       where organisation_id = $1`,
      [tenant.organisationId, days],
    );
}
async function ledger() {
  const { rows } = await pool().query<{
    patient_id: string;
    id: string;
    sequence: number;
    body: string | null;
  }>('select patient_id, id, sequence, body from exchange_delivery where organisation_id = $1 order by id', [
    tenant.organisationId,
  ]);
  return rows;
}
async function countOf(table: string): Promise<number> {
  const { rowCount } = await pool().query(`select from ${table} where organisation_id = $1`, [
    tenant.organisationId,
  ]);
  return rowCount ?? 0;
}
const DONE = { kind: 'advance' } as const;
const HELD = { kind: 'hold', reason: 'refused_422' } as const;

describe('deliveries that were done long ago', () => {
  test('lose their payload first, and say so; the rest of the ledger goes later [EXC-51, OPS-23, LOG-4]', async () => {
    await settled(DONE);
    await age(399);
    assert.deepEqual(await run(), {}, 'not a day too soon');
    await age(2);
    assert.deepEqual(await run(), { 'payloads of deliveries': 1 });
    const [delivery] = await ledger();
    assert.equal(delivery?.body, null);
    const listed = await get('/exchange/deliveries');
    assert.deepEqual(
      listed.json.items.map((item: { status: string; hasPayload: boolean }) => [
        item.status,
        item.hasPayload,
      ]),
      [['delivered', false]],
    );
    const shown = await get(`/exchange/deliveries/${delivery?.id}`);
    assert.equal(shown.json.attempts.length, 1, 'the tries are still there');
    const payload = await get(`/exchange/deliveries/${delivery?.id}/payload`);
    assert.equal(payload.status, 410);
    assert.match(payload.json.message, /was removed\. The service keeps payloads for a limited time/);
    await pool().query(`update patient set refused_purposes = '{RESEARCH}' where id = $1`, [
      delivery?.patient_id,
    ]);
    const refused = await get(`/exchange/deliveries/${delivery?.id}/payload?purposeOfUse=RESEARCH`);
    assert.equal(refused.status, 403);
    const log = await get(
      `/patients/base/${delivery?.patient_id}/access-log?action=patient.delivery-payload.read`,
    );
    assert.deepEqual(
      log.json.items.map(({ outcome }: { outcome: string }) => outcome),
      ['refused', 'allowed'],
    );
    const command = await runCommand(['delivery', 'show', '--id', delivery?.id ?? '', '--payload'], {
      env: api.env,
    });
    assert.deepEqual([command.code, command.stdout], [1, '']);
    assert.match(command.stderr, /was removed\. The service keeps payloads for a limited time/);
    await age(400);
    assert.deepEqual(await run(), { deliveries: 1 });
    assert.deepEqual(await ledger(), []);
    assert.equal(await countOf('exchange_attempt'), 0);
    assert.equal((await get(`/exchange/deliveries/${delivery?.id}`)).status, 404);
  });

  test('take what people decided about them along [EXC-51]', async () => {
    const patientId = await settled(HELD, 'refused');
    const decision = { action: 'skip', reason: 'not wanted', accountId: null } as const;
    await decide(pool(), tenant, { filter: { patientId }, decision });
    assert.equal(await countOf('exchange_review'), 1);
    await age(801);
    assert.deepEqual(await run(), { 'payloads of deliveries': 1, deliveries: 1 });
    assert.equal(await countOf('exchange_review'), 0);
  });

  test('stay for ever where the days are 0', async () => {
    await settled(DONE);
    await age(3_000);
    assert.deepEqual(await run({ DELIVERY_PAYLOAD_DAYS: '0', DELIVERY_HISTORY_DAYS: '0' }), {});
    assert.equal((await ledger())[0]?.body === null, false);
  });

  test('are counted and left alone by a dry run [OPS-23]', async () => {
    await settled(DONE);
    await age(801);
    const counted = await runRetention(context(), rules(), { dryRun: true });
    assert.deepEqual(counted, { 'payloads of deliveries': 1, deliveries: 1 });
    assert.equal((await ledger()).length, 1);
    const command = await runCommand(['retention', 'run', '--dry-run'], { env: api.env });
    assert.equal(command.code, 0, command.stderr);
    assert.match(
      command.stdout,
      /Would be removed:\n +1 {2}payloads of deliveries, kept for 400 days\n +1 {2}deliveries/,
    );
  });
});

describe('what is never removed', () => {
  test('what waits, is held, is set aside, or was tried or decided on lately [EXC-19, EXC-51]', async () => {
    const held = await settled(HELD, 'refused');
    await rename(pool(), tenant, [held], 'behind the held one');
    const replayed = await settled(HELD, 'refused');
    const skipped = await settled(HELD, 'refused');
    const lately = await settled(DONE);
    const [parked = '', waiting = ''] = await insertPatients(pool(), tenant, 2);
    await queue(pool(), tenant, [parked]);
    const token = randomUUID();
    await leaseDue(pool(), key(), { token, durationMs: 60_000, limit: 10 });
    await park(pool(), key(), { token, patientIds: [parked] });
    await queue(pool(), tenant, [waiting]);
    await age(2_000);
    const decision = { reason: 'not wanted', accountId: null };
    await decide(pool(), tenant, {
      filter: { patientId: skipped },
      decision: { ...decision, action: 'skip' },
    });
    await decide(pool(), tenant, {
      filter: { patientId: replayed },
      decision: { ...decision, action: 'replay' },
    });
    await pool().query('update exchange_attempt set started_at = now() where patient_id = $1', [lately]);
    const before = await ledger();
    assert.equal(before.length, 7);
    assert.deepEqual(await run(), {});
    assert.deepEqual(await ledger(), before);
  });

  test('what another connection, or another patient, has beside it [EXC-51]', async () => {
    const deps = { pool: pool(), keys: api.keys };
    const { id } = await connect(deps, tenant, { address: 'https://hie2.example.org' });
    await settled(DONE);
    await end(HELD, 'refused', { ...key(), connectionId: id });
    await pool().query('update exchange_connection set disabled_at = now() where id = $1', [id]);
    const patientId = await settled(HELD, 'refused');
    const decision = { action: 'replay', reason: null, accountId: null } as const;
    await decide(pool(), tenant, { filter: { patientId }, decision });
    await age(2_000);
    assert.deepEqual(await run(), { 'payloads of deliveries': 1, deliveries: 1 });
    const counts = ['exchange_delivery', 'exchange_attempt', 'exchange_review'].map(countOf);
    assert.deepEqual(await Promise.all(counts), [2, 2, 1]);
  });

  test('the place of a patient: what comes after a sweep goes on in order [EXC-51]', async () => {
    const patientId = await settled(DONE);
    await rename(pool(), tenant, [patientId], 'second');
    await end(HELD, 'refused');
    await rename(pool(), tenant, [patientId], 'third');
    await age(2_000);
    assert.deepEqual(await run(), { 'payloads of deliveries': 1, deliveries: 1 });
    const count = async () => (await get('/exchange/deliveries?status=queued')).json.items.length;
    assert.equal(await count(), 1, 'the third');
    await decide(pool(), tenant, {
      filter: {},
      decision: { action: 'replay', reason: null, accountId: null },
    });
    await rename(pool(), tenant, [patientId], 'fourth');
    const sent: number[] = [];
    for (;;) {
      const token = randomUUID();
      const [next] = await leaseDue(pool(), key(), { token, durationMs: 60_000, limit: 1 });
      if (next === undefined) break;
      assert.equal(JSON.parse(next.body ?? '').sequence, next.sequence);
      sent.push(next.sequence);
      await settle(pool(), key(), [
        { patientId, sequence: next.sequence, leaseToken: token, next: DONE, attempt: null, counted: true },
      ]);
    }
    assert.deepEqual(sent, [2, 3, 4]);
    assert.equal(await queue(pool(), tenant, [patientId], 'updated'), 0, 'the same content is no news');
  });
});

describe('callbacks', () => {
  const callback = (body: string, { id, callbackSecret } = connection) =>
    api.call(`/exchange/connections/${id}/callback`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-signature': createHmac('sha256', callbackSecret).update(body).digest('hex'),
      },
      body,
    });
  const accepted = (deliveryId: string, more: object = {}) =>
    JSON.stringify({ deliveryId, status: 'accepted', assignedId: 'HIE-1', message: 'Welcome', ...more });

  test('are answered as ever after the delivery is gone: a repeat 200, a conflict 409, an unknown delivery 404 [EXC-39, EXC-41]', async () => {
    const patientId = await settled(DONE);
    const [{ id = '' } = {}] = await ledger();
    const first = await callback(accepted(id));
    assert.equal(first.status, 200, first.text);
    const conflicting = accepted(id, { assignedId: 'HIE-2', message: 'Look' });
    assert.equal((await callback(conflicting)).status, 409);
    await age(2_000);
    assert.deepEqual(await run(), { 'payloads of deliveries': 1, deliveries: 1, 'messages of callbacks': 1 });
    const { rows } = await pool().query<{ outcome: string; message: string | null }>(
      'select outcome, message from exchange_callback where organisation_id = $1 order by id',
      [tenant.organisationId],
    );
    assert.deepEqual(rows, [
      { outcome: 'applied', message: null },
      { outcome: 'conflict', message: 'Look' },
    ]);
    const again = await callback(accepted(id));
    assert.deepEqual([again.status, again.text], [200, first.text]);
    assert.equal((await callback(conflicting)).status, 409, 'the same conflict');
    assert.equal((await callback(accepted(id, { assignedId: 'HIE-3' }))).status, 409, 'another conflict');
    assert.equal((await callback(accepted(id, { message: 'Other bytes' }))).status, 200);
    assert.equal((await callback(accepted(randomUUID()))).status, 404);
    const deps = { pool: pool(), keys: api.keys };
    const other = await connect(deps, tenant, { address: 'https://hie2.example.org' });
    assert.equal((await callback(accepted(id), other)).status, 404, 'not of this connection');
    const patient = await get(`/patients/base/${patientId}`);
    assert.ok(patient.text.includes('HIE-1') && !patient.text.includes('HIE-2'), patient.text);
    const conflicts = await get('/exchange/callbacks?outcome=conflict');
    assert.equal(conflicts.json.items.length, 2);
  });
});

describe('the sweep of the worker', () => {
  test('goes on where it stopped, in bounded batches, and rests until the next day', async () => {
    const patients = await insertPatients(pool(), tenant, 25);
    await queue(pool(), tenant, patients);
    await end(DONE);
    await age(500);
    const sweep = createRetentionSweep(context(), rules(), { batchRows: 10, batchesAtMost: 1 });
    const now = new Date();
    const total: Removed[] = [];
    // One batch a minute, and every organisation of this file has its turn before or after this one.
    for (let minute = 0; minute < 400; minute += 1) total.push(await sweep(now));
    const removed = total.map((one) => one['payloads of deliveries'] ?? 0).filter((count) => count > 0);
    assert.deepEqual(removed, [10, 10, 5]);
    await settled(DONE);
    await age(500);
    assert.deepEqual(await sweep(now), {}, 'it is through for today');
    const tomorrow = new Date(now.getTime() + 86_400_000);
    const again = createRetentionSweep(context(), rules(), { batchRows: 1_000, batchesAtMost: 1_000 });
    assert.equal((await again(tomorrow))['payloads of deliveries'], 1);
  });

  test('is not stopped by an organisation for which it fails', async () => {
    const asked: string[] = [];
    const failing = {
      name: 'things',
      days: 1,
      sweep: async (_db: unknown, { organisationId }: { organisationId: string }) => {
        asked.push(organisationId);
        if (organisationId === tenant.organisationId) throw new Error('this shard is down');
        return { removed: 1, last: undefined };
      },
    };
    const other = await api.createTenant();
    let nowMs = 0;
    const watch = createWorkWatch({ nowMs: () => nowMs });
    const work = watch.of('retention');
    const sweep = createRetentionSweep({ db: pool(), work }, [failing], {
      batchRows: 10,
      batchesAtMost: 1_000,
    });
    await sweep(new Date());
    assert.ok(asked.includes(other.organisationId));
    assert.deepEqual(watch.failing().get('retention'), [tenant.organisationId]);
    const before = asked.length;
    await sweep(new Date());
    assert.equal(asked.length, before, 'it rests');
    nowMs += 60_000;
    await sweep(new Date());
    assert.deepEqual(
      asked.slice(before),
      [tenant.organisationId],
      'what failed is tried again, nothing else',
    );
  });
});

describe('unmapped codes', () => {
  test('are forgotten when they were not met for long', async () => {
    const met = (code: string, daysAgo: number) =>
      pool().query(
        `insert into terminology_unmapped (organisation_id, facility_id, local_system, local_code, place, met_count,
           first_met_at, last_met_at)
         values ($1, $2, 'urn:lab', $3, 'lab.result', 7, now() - interval '900 days', now() - $4 * interval '1 day')`,
        [tenant.organisationId, tenant.facilityId, code, daysAgo],
      );
    await met('old', 401);
    await met('young', 399);
    assert.deepEqual(await runRetention(context(), rules(), { dryRun: true }), { 'unmapped codes': 1 });
    assert.deepEqual(await run(), { 'unmapped codes': 1 });
    const { json } = await get('/terminology/unmapped');
    assert.deepEqual(
      json.items.map((item: { localCode: string }) => item.localCode),
      ['young'],
    );
  });
});
