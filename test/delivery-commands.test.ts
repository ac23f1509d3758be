/** `interchange delivery …` as real processes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createFacility } from '../src/tenancy/organisations/facilities.ts';
import { useExchangeCommands } from '../test-support/exchange/exchange-commands.ts';
import { insertPatients, queue, rename } from '../test-support/exchange/exchange-records.ts';
import { runCommand } from '../test-support/service/command.ts';

const clinic = useExchangeCommands();
const { json, fails, create } = clinic;

test('deliveries: list, count, show, replay and skip what is held [EXC-6, EXC-28, EXC-29, EXC-59, CMD-14]', async () => {
  const { database, place, env } = clinic;
  const { id } = await create();
  const patients = await insertPatients(database.pool, place, 3);
  await queue(database.pool, place, patients);
  await database.pool.query(
    `update exchange_head set held_at = now(), held_reason = 'refused_422', due_at = null
     where organisation_id = $1 and connection_id = $2 and patient_id = any($3)`,
    [place.organisationId, id, patients.slice(0, 2)],
  );
  const held = await json(
    'delivery',
    'list',
    '--connection',
    id,
    '--status',
    'held',
    '--since',
    '2020-01-01',
  );
  assert.equal(held.items.length, 2);
  const counted = (await json('delivery', 'count')).items.find(
    (item: { connectionId: string }) => item.connectionId === id,
  );
  assert.deepEqual([counted.queued, counted.held], [1, 2]);
  const [first, second] = held.items;
  const { rows: traced } = await database.pool.query<{ patient_id: string }>(
    `select patient_id from access_log
     where organisation_id = $1 and action = 'delivery.list'
       and account_id = '00000000-0000-0000-0000-000000000000'`,
    [place.organisationId],
  );
  assert.deepEqual(traced.map((row) => row.patient_id).sort(), patients.slice(0, 2).sort());
  const waiting = await runCommand(['delivery', 'list', '--connection', id, '--status', 'queued'], { env });
  assert.match(waiting.stdout, /not tried, next try not before \d{4}-\d\d-\d\dT/);
  assert.equal((await json('delivery', 'show', '--id', first.id)).heldReason, 'refused_422');
  const payload = await json('delivery', 'show', '--id', first.id, '--payload');
  assert.deepEqual([payload.deliveryId, payload.resource.id], [first.id, first.patientId]);
  const { rows: read } = await database.pool.query<{ action: string }>(
    `select action from access_log
     where organisation_id = $1 and patient_id = $2 and action in ('delivery.read', 'patient.delivery-payload.read')
     order by occurred_at`,
    [place.organisationId, first.patientId],
  );
  assert.deepEqual(
    read.map(({ action }) => action),
    ['delivery.read', 'patient.delivery-payload.read'],
  );
  await database.pool.query(
    `update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = $2`,
    [place.organisationId, first.patientId],
  );
  const refused = await runCommand(['delivery', 'show', '--id', first.id, '--payload'], { env });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /refuses the purpose of use OPS/);
  assert.equal((await json('delivery', 'show', '--id', first.id)).patientId, null);
  assert.deepEqual(await json('delivery', 'replay', '--connection', id, '--dry-run'), {
    dryRun: true,
    count: 2,
    deliveryIds: [second.id, first.id],
  });
  assert.equal((await json('delivery', 'skip', '--connection', id, '--dry-run')).count, 2);
  assert.equal((await json('delivery', 'list', '--status', 'held', '--dry-run')).items.length, 2);
  const both = await json('delivery', 'replay', '--id', first.id, '--id', second.id, '--dry-run');
  assert.equal(both.count, 2, 'of several --id each counts');
  assert.deepEqual(await json('delivery', 'replay', '--id', first.id), {
    dryRun: false,
    count: 1,
    deliveryIds: [first.id],
  });
  await database.pool.query(
    `insert into exchange_attempt (organisation_id, connection_id, patient_id, sequence, nonce, started_at, duration_ms,
       outcome, status, counted)
     select organisation_id, connection_id, patient_id, sequence, gen_random_uuid(), now() + later, 5, outcome, status, true
     from exchange_delivery,
       (values (interval '-1 day', 'refused', 422), ('1 day', 'delivered', 202)) as tried (later, outcome, status)
     where organisation_id = $1 and id = $2`,
    [place.organisationId, first.id],
  );
  const { stdout: shown } = await runCommand(['delivery', 'show', '--id', first.id], { env });
  assert.deepEqual(
    shown.split('\n').flatMap((line) => /^ {2}\S+Z {2}(\w+)/.exec(line)?.[1] ?? []),
    ['refused', 'replay', 'delivered'],
    'in the order of time',
  );
  const { id: elsewhere } = await createFacility(database.pool, {
    organisationId: place.organisationId,
    name: 'Elsewhere',
  });
  await json('connection', 'update', '--id', id, '--facility', elsewhere);
  const uncovered = await runCommand(['delivery', 'replay', '--connection', id, '--dry-run'], { env });
  assert.match(
    uncovered.stdout,
    /^1 would be replayed\n1 of them will be held again, because their facility/,
  );
  const skipped = await runCommand(['delivery', 'skip', '--connection', id, '--reason', 'a duplicate'], {
    env,
  });
  assert.equal(skipped.stdout.trim(), '1 skipped');
  const { reviews, status } = await json('delivery', 'show', '--id', second.id);
  assert.deepEqual(
    [status, reviews[0].action, reviews[0].reason, reviews[0].accountId],
    ['skipped', 'skip', 'a duplicate', null],
  );
  const line = await runCommand(['delivery', 'list', '--status', 'skipped'], { env });
  assert.match(line.stdout, /, skipped \d{4}-\d\d-\d\dT\S+Z by an operator: a duplicate$/m);
  await database.pool.query(
    `update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = $2`,
    [place.organisationId, second.patientId],
  );
  const unnamed = await json('delivery', 'show', '--id', second.id);
  assert.deepEqual(
    [unnamed.patientId, unnamed.lastReview.reason, unnamed.reviews[0].reason],
    [null, null, null],
    'the reason may name the patient',
  );
});

test('a queued delivery says the one thing that it waits for [EXC-25, EXC-28]', async () => {
  const { database, place, env } = clinic;
  const { id } = await create();
  const { id: facilityId } = await createFacility(database.pool, { ...place, name: 'Ward' });
  const ward = { ...place, facilityId };
  const patients = await insertPatients(database.pool, ward, 1);
  await queue(database.pool, ward, patients);
  await rename(database.pool, ward, patients, 'again');
  const list = async (): Promise<{ id: string; waitReason: string | null; waitsForId: string | null }[]> =>
    (await json('delivery', 'list', '--connection', id)).items;
  const [second, first] = await list();
  assert.ok(first !== undefined && second !== undefined);
  const reasons = async () => (await list()).map(({ waitReason, waitsForId }) => [waitReason, waitsForId]);
  const lineOf = async (which: string) =>
    (await runCommand(['delivery', 'list', '--id', which], { env })).stdout.trim();
  const behind = [['earlier_delivery', first.id]];
  assert.deepEqual(await reasons(), [...behind, [null, null]]);
  const plain = `not tried, waits for delivery ${first.id} of the same patient, which is sent first`;
  assert.ok((await lineOf(second.id)).endsWith(plain), await lineOf(second.id));
  assert.match(await lineOf(first.id), /not tried, next try not before \S+$/);
  await json('connection', 'disable', '--id', id);
  assert.deepEqual(await reasons(), [...behind, ['connection_disabled', null]]);
  const disabled = `not tried, waits: the connection is disabled. Enable it with: npx interchange connection enable --id ${id}`;
  assert.ok((await lineOf(first.id)).endsWith(disabled), await lineOf(first.id));
  await json('connection', 'enable', '--id', id);
  const setModules = (modules: string) =>
    json(
      'facility',
      'modules',
      '--organisation',
      place.organisationId,
      '--facility',
      facilityId,
      '--modules',
      modules,
    );
  await setModules('patients');
  assert.deepEqual(await reasons(), [...behind, ['module_disabled', null]]);
  const off = `not tried, waits: the module exchange is off for facility ${facilityId}. Turn it on with: npx interchange facility modules`;
  assert.ok((await lineOf(first.id)).endsWith(off), await lineOf(first.id));
  // A worker has set the lane aside, and has not looked at it since the module is on again.
  const key = [place.organisationId, id];
  await database.pool.query(
    `update exchange_head set due_at = null, parked_facility_id = $3 where organisation_id = $1 and connection_id = $2`,
    [...key, facilityId],
  );
  assert.deepEqual(await reasons(), [...behind, ['module_disabled', null]]);
  await setModules('patients,exchange');
  assert.deepEqual(await reasons(), [...behind, [null, null]]);
  assert.match(await lineOf(first.id), /not tried, next try as soon as a worker looks$/);
  await database.pool.query(
    `update exchange_head set held_at = now(), held_reason = 'refused_422', due_at = null, parked_facility_id = null
     where organisation_id = $1 and connection_id = $2`,
    key,
  );
  assert.deepEqual(await reasons(), [
    ['held_delivery', first.id],
    [null, null],
  ]);
  const held = `not tried, waits for delivery ${first.id} of the same patient, which is held: replay or skip that one`;
  assert.ok((await lineOf(second.id)).endsWith(held), await lineOf(second.id));
});

test('`delivery count` names each connection and says which is disabled; --connection counts that one [EXC-28]', async () => {
  const { database, place, env } = clinic;
  const { id } = await create('--name', 'Counted here');
  const { id: other } = await create('--name', 'Counted there');
  await queue(database.pool, place, await insertPatients(database.pool, place, 2));
  await json('connection', 'disable', '--id', other);
  const count = async (...args: string[]) => {
    const { stdout } = await runCommand(['delivery', 'count', ...args], { env });
    return stdout.trim().split('\n');
  };
  const lines = await count();
  for (const [one, rest] of [
    [id, /^ {2}Counted here {2}queued 2 {2}held 0 {2}oldest \d+ s$/],
    [other, /^ {2}Counted there {2}queued 2 {2}held 0 {2}oldest 0 s {2}disabled$/],
  ] as const) {
    const line = lines.find((text) => text.startsWith(one)) ?? '';
    assert.match(line.slice(one.length), rest);
    assert.equal((await count('--connection', one)).length, 1);
  }
  const { items, failed } = await json('delivery', 'count', '--connection', other.toUpperCase());
  assert.deepEqual(failed, []);
  assert.deepEqual(items, [
    {
      organisationId: place.organisationId,
      connectionId: other,
      connectionName: 'Counted there',
      connectionEnabled: false,
      queued: 2,
      held: 0,
      oldestSeconds: 0,
      breakerOpen: false,
    },
  ]);
  await fails(1, /no connection/, 'delivery', 'count', '--connection', randomUUID());
  await fails(2, /must be a UUID/, 'delivery', 'count', '--connection', 'HIE');
});
