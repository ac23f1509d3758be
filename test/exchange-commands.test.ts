/** `interchange connection …`, `delivery …` and `exchange-simulator` as real processes. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Command } from 'commander';
import { buildProgram } from '../src/app/commands.ts';
import { signRequest } from '../src/exchange/signing/signed-request.ts';
import { createFacility, createOrganisation } from '../src/tenancy/organisations/facilities.ts';
import { createTestDatabase, type TestDatabase } from '../test-support/database/database.ts';
import { insertPatients, type Place, queue, rename } from '../test-support/exchange/exchange-records.ts';
import { runCommand, runJson, startCommand } from '../test-support/service/command.ts';
import { freePort } from '../test-support/service/free-port.ts';
import { waitUntil } from '../test-support/wait-until.ts';
import { WELL } from '../tools/exchange-simulator/behaviour.ts';
import { createSimulatedExchange } from '../tools/exchange-simulator/simulated-exchange.ts';

let database: TestDatabase;
let place: Place;
let folder: string;
let env: Record<string, string>;
/** Of the service that a test starts. */
let origin: string;

before(async () => {
  database = await createTestDatabase();
  origin = `http://127.0.0.1:${await freePort()}`;
  folder = await mkdtemp(join(tmpdir(), 'exchange-commands-'));
  env = {
    DATABASE_URL: database.url,
    MASTER_KEY: randomBytes(32).toString('hex'),
    PORT: new URL(origin).port,
    // So that no address is called a guess.
    PUBLIC_BASE_URL: `${origin}/api/v1`,
  };
  const { id: organisationId } = await createOrganisation(database.pool, { name: 'Org' });
  const { id: facilityId } = await createFacility(database.pool, { organisationId, name: 'Clinic' });
  place = { organisationId, facilityId };
});
after(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const json = (...args: string[]) => runJson(args, { env });
async function fails(code: number, message: RegExp, ...args: string[]): Promise<void> {
  const result = await runCommand(args, { env });
  assert.equal(result.code, code, `${args.join(' ')}: ${result.stdout}${result.stderr}`);
  assert.match(result.stderr, message);
  assert.equal(result.stdout, '');
}
const create = (...more: string[]) =>
  json(
    'connection',
    'create',
    '--organisation',
    place.organisationId,
    '--name',
    'HIE',
    '--address',
    'http://127.0.0.1:9/in',
    '--client-id',
    'clinic',
    ...more,
  );

test('connections: create, show, update, rotate, disable, list [EXC-1, CMD-12, CMD-13]', async () => {
  const created = await create('--facility', place.facilityId, '--callback-header', 'X-Hub-Signature');
  assert.deepEqual(Object.keys(created).sort(), ['callbackSecret', 'callbackUrl', 'id', 'outboundSecret']);
  assert.equal(created.callbackUrl, `${origin}/api/v1/exchange/connections/${created.id}/callback`);
  const shown = await json('connection', 'show', '--id', created.id);
  assert.deepEqual(
    [shown.facilityIds, shown.callbackHeader, shown.enabled],
    [[place.facilityId], 'x-hub-signature', true],
  );
  const { stdout: facts } = await runCommand(['connection', 'show', '--id', created.id], { env });
  assert.match(facts, new RegExp(`^facilities +Clinic \\(${place.facilityId}\\)$`, 'm'));
  assert.match(facts, /^client id +clinic$/m);
  assert.match(facts, new RegExp(`^callback +${created.callbackUrl}, signature in x-hub-signature$`, 'm'));
  assert.match(facts, new RegExp(`^identifier system +urn:uuid:${created.id}$`, 'm'));
  assert.match(facts, /^limits +16 requests .*, 10000 ms for an answer$/m);
  const other = await createFacility(database.pool, { organisationId: place.organisationId, name: 'Annexe' });
  const noted = async (...facilities: string[]) =>
    (await runCommand(['connection', 'update', '--id', created.id, '--facility', facilities.join()], { env }))
      .stderr;
  assert.equal(await noted(place.facilityId.toUpperCase()), '', 'nothing changed');
  assert.match(await noted(other.id, place.facilityId), /^note: Patients of a facility that is new.*\n$/);
  const takenOut = new RegExp(
    `taken out .* held, .*: npx interchange delivery list --connection ${created.id} --status held\n$`,
  );
  const one = await noted(place.facilityId);
  assert.match(one, takenOut);
  assert.doesNotMatch(one, /new to the connection/);
  const swapped = await noted(other.id);
  assert.match(swapped, takenOut);
  assert.match(swapped, /new to the connection/);
  const [updated, rotated] = await Promise.all([
    json('connection', 'update', '--id', created.id, '--timeout-ms', '2000', '--all-facilities'),
    json('connection', 'rotate-secret', '--id', created.id, '--overlap-hours', '1'),
  ]);
  assert.deepEqual([updated.timeoutMs, updated.facilityIds, updated.name], [2000, null, 'HIE']);
  assert.notEqual(rotated.outboundSecret, created.outboundSecret);
  assert.notEqual(rotated.callbackSecret, created.callbackSecret);
  assert.equal(rotated.callbackUrl, created.callbackUrl, 'a simulator can be started with it');
  assert.equal((await json('connection', 'disable', '--id', created.id)).enabled, false);
  const { items } = await json('connection', 'list', '--organisation', place.organisationId);
  const listed = items.find(({ id }: { id: string }) => id === created.id);
  assert.deepEqual([listed.enabled, listed.secrets.length], [false, 4]);
  const text = await runCommand(['connection', 'list'], { env });
  assert.match(text.stdout, new RegExp(`${created.id} +disabled +HIE`));
});

test('a rotated secret signs once it is activated [EXC-46, CMD-13]', async () => {
  const { id } = await create();
  const run = (...args: string[]) => runCommand(['connection', ...args, '--id', id], { env });
  const waiting = await run('rotate-secret');
  assert.match(waiting.stdout, /the old secret signs them until you activate the new one/);
  assert.match(waiting.stdout, new RegExp(`activate-secret --id ${id}`));
  assert.match((await run('show')).stdout, /outbound, created [^,]+, waits to be activated/);
  const replaced = await run('rotate-secret', '--activate-at', '2099-01-01T00:00:00Z');
  assert.deepEqual([replaced.code, replaced.stdout], [2, '']);
  assert.match(replaced.stderr, /within 90 days/);
  const at = new Date(Date.now() + 3_600_000).toISOString();
  const scheduled = await run('rotate-secret', '--direction', 'outbound', '--activate-at', at);
  assert.match(scheduled.stdout, /was waiting to be activated. It was deleted/);
  assert.ok(scheduled.stdout.includes(`signed with the new secret from ${at} on`), scheduled.stdout);
  assert.ok((await run('show')).stdout.includes(`signs from ${at} on`));
  assert.equal((await run('activate-secret')).code, 0);
  await fails(1, /There is no new outbound secret to activate/, 'connection', 'activate-secret', '--id', id);
  await fails(
    2,
    /not both/,
    'connection',
    'rotate-secret',
    '--id',
    id,
    '--activate-now',
    '--activate-at',
    at,
  );
  await fails(2, /--activate-at must be/, 'connection', 'rotate-secret', '--id', id, '--activate-at', 'soon');
});

test('connection resync queues who was there before the connection, and refuses a disabled one [EXC-58]', async () => {
  await insertPatients(database.pool, place, 2);
  const { id } = await create();
  const run = (...more: string[]) => runCommand(['connection', 'resync', '--id', id, ...more], { env });
  const dry = await json('connection', 'resync', '--id', id, '--dry-run');
  assert.equal(dry.dryRun, true);
  assert.ok(dry.queued >= 2 && dry.queued === dry.patients, JSON.stringify(dry));
  assert.match((await run()).stdout, new RegExp(`^${dry.queued} of ${dry.patients} patients were queued\\.`));
  assert.match((await run()).stdout, new RegExp(`^0 of ${dry.patients} patients were queued\\.`));
  await json('connection', 'disable', '--id', id);
  await fails(1, new RegExp(`disabled.*connection enable --id ${id}`), 'connection', 'resync', '--id', id);
  const noted = async (...args: string[]) =>
    (await runCommand(['connection', ...args, '--id', id], { env })).stderr;
  const hint = new RegExp(`^note: Patients .* connection resync --id ${id}\\n$`);
  assert.match(await noted('enable'), hint);
  assert.equal(await noted('enable'), '', 'it was enabled already');
  assert.match(
    await noted('update', '--facility', place.facilityId),
    /^note: .* taken out/,
    'of all, one stays',
  );
  assert.match(await noted('update', '--all-facilities'), hint);
  assert.equal(await noted('update', '--name', 'HIE 2'), '');
});

test('wrong arguments exit 2 and say what to do; unknown ids exit 1 and say so', async () => {
  const wanted = ['--organisation', place.organisationId, '--name', 'x', '--client-id', 'c'];
  await Promise.all([
    fails(
      2,
      /Use an https address/,
      'connection',
      'create',
      ...wanted,
      '--address',
      'http://hie.example.org',
    ),
    fails(2, /link-local/, 'connection', 'create', ...wanted, '--address', 'https://169.254.169.254/'),
    fails(2, /--name <name>/, 'connection', 'create', '--organisation', place.organisationId),
    fails(
      1,
      /no organisation/i,
      'connection',
      'create',
      '--organisation',
      randomUUID(),
      '--name',
      'x',
      '--client-id',
      'c',
      '--address',
      'https://hie.example.org',
    ),
  ]);
  await Promise.all([
    fails(1, /no connection/, 'connection', 'rotate-secret', '--id', randomUUID()),
    fails(2, /--reason/, 'delivery', 'skip'),
    fails(2, /--status held/, 'delivery', 'replay', '--status', 'delivered'),
    fails(1, /no such delivery/, 'delivery', 'replay', '--id', randomUUID()),
    fails(2, /cannot be read/, 'exchange-simulator', '--connection', join(folder, 'nothing.json')),
  ]);
});

test('every command shows an example', async () => {
  const program = await buildProgram();
  for (const name of ['connection', 'delivery']) {
    const group = program.commands.find((command) => command.name() === name);
    assert.ok(group && group.commands.length > 0);
    for (const command of group.commands) assertExample(command, `${name} ${command.name()}`);
  }
  const simulator = program.commands.find((command) => command.name() === 'exchange-simulator');
  assert.ok(simulator);
  assertExample(simulator, 'exchange-simulator');
});

function assertExample(command: Command, path: string): void {
  let help = '';
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  assert.match(help, new RegExp(`Example:\\n  npx interchange ${path}`));
}

test('deliveries: list, count, show, replay and skip what is held [EXC-6, EXC-28, EXC-29, CMD-14]', async () => {
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

test('a second connection of a name is made, with a note [CMD-12]', async () => {
  const { id: organisationId } = await createOrganisation(database.pool, { name: 'Twice' });
  const make = async (name: string) => {
    const given = [
      '--organisation',
      organisationId,
      '--name',
      name,
      '--address',
      'https://hie.example.org/in',
    ];
    const made = await runCommand(['connection', 'create', ...given, '--client-id', 'c', '--json'], { env });
    assert.equal(made.code, 0, made.stderr);
    return { id: JSON.parse(made.stdout).id as string, note: made.stderr };
  };
  const first = await make('HIE');
  assert.deepEqual([first.note, (await make('Other')).note], ['', '']);
  const second = await make('HIE');
  assert.match(second.note, new RegExp(`^note: .*already: ${first.id}\\. .*connection disable --id`));
  for (const { id } of [first, second]) await json('connection', 'disable', '--id', id);
  assert.equal((await make('HIE')).note, '', 'a disabled one delivers nothing');
});

test('the simulator takes a signed delivery, confirms it, and fails when told to [EXC-52]', async () => {
  const file = join(folder, 'connection.json');
  const address = `http://127.0.0.1:${await freePort()}`;
  const connection = await json(
    'connection',
    'create',
    '--organisation',
    place.organisationId,
    '--name',
    'Sim',
    '--address',
    `${address}/in`,
    '--client-id',
    'c',
  );
  await writeFile(file, JSON.stringify(connection));
  const service = startCommand(['serve'], {
    // So often that nothing is held before the test goes on.
    env: { ...env, LOG_LEVEL: 'info', DELIVERY_RETRY_SECONDS: Array(50).fill('0.3').join() },
  });
  const simulator = startCommand(
    ['exchange-simulator', '--connection', file, '--port', new URL(address).port, '--fail-rate', '1'],
    { env },
  );
  try {
    await Promise.all([simulator.printed(/listening on/), service.printed(/"listening"/)]);
    const patients = await insertPatients(database.pool, place, 1);
    await queue(database.pool, place, patients);
    await simulator.printed(/patient\.created #1 .* signature valid, answered 503/);
    const body = JSON.stringify({ deliveryId: randomUUID(), event: 'connection.test' });
    const statusOfTest = async () => {
      const sent = { method: 'POST', path: '/in', query: '', body, clientId: 'c', time: new Date() };
      const headers = { ...signRequest({ ...sent, nonce: randomUUID() }, connection.outboundSecret) };
      return (await fetch(`${address}/in`, { method: 'POST', body, headers })).status;
    };
    assert.equal(await statusOfTest(), 503);
    const changed = await fetch(`${address}/control`, { method: 'POST', body: '{"failRate":0}' });
    assert.equal(changed.status, 200);
    assert.equal(await statusOfTest(), 202);
    await simulator.printed(/^test {7}of the connection, signature valid, answered 202$/m);
    assert.equal((await fetch(`${address}/control`, { method: 'POST', body: '{"failRate":7}' })).status, 400);
    const [, assigned] = await simulator.printed(/callback +accepted (SIM-\w+) for [0-9a-f-]+: answered 200/);
    const { rows } = await database.pool.query(
      'select value from patient_assigned_identifier where patient_id = $1',
      patients,
    );
    assert.equal(rows[0]?.value, assigned);
    assert.equal((await fetch(`${address}/in`, { method: 'POST', body: '{}' })).status, 401, 'unsigned');
    const metrics = await (await fetch(`${origin}/metrics`)).text();
    const tries = (outcome: string) =>
      Number(
        new RegExp(
          `interchange_exchange_attempt_duration_seconds_count\\{connection="${connection.id}",outcome="${outcome}"\\} (\\d+)`,
        ).exec(metrics)?.[1],
      );
    assert.equal(tries('delivered'), 1);
    assert.ok(tries('failed') >= 1);
    const waiting = await json('connection', 'rotate-secret', '--id', connection.id);
    await rename(database.pool, place, patients, 'before it is activated');
    await simulator.printed(/patient\.updated #2 .* signature valid, answered 202/);
    assert.equal(waiting.outboundActiveFrom, null);
    const rotated = await json('connection', 'rotate-secret', '--id', connection.id, '--overlap-hours', '0');
    await rename(database.pool, place, patients, 'after the rotation');
    await simulator.printed(
      /signature wrong-signature, answered 401\n +These are not the secrets of the connection/,
    );
    await writeFile(file, JSON.stringify(rotated));
    await simulator.printed(/patient\.updated #3 .* signature valid, answered 202/);
    await simulator.printed(
      new RegExp(
        `answered 202[^]*callback +accepted ${assigned} for [0-9a-f-]+: answered 200[^]*answered 202[^]*callback +accepted ${assigned} for [0-9a-f-]+: answered 200`,
      ),
    );
  } finally {
    simulator.child.kill('SIGTERM');
    service.child.kill('SIGTERM');
    await Promise.all([simulator.ended, service.ended]);
  }
});

test('the simulator answers 404 at another path than that of --path', async () => {
  const file = join(folder, 'path.json');
  await writeFile(file, JSON.stringify(await create()));
  const port = String(await freePort());
  const args = ['exchange-simulator', '--connection', file, '--port', port];
  await fails(2, /--path must begin with \//, ...args, '--path', 'in');
  const simulator = startCommand([...args, '--path', '/in'], { env });
  try {
    await simulator.printed(new RegExp(`listening on http://127.0.0.1:${port}/in;`));
    const statusAt = async (path: string) =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: '{}' })).status;
    assert.deepEqual(await Promise.all(['/out', '/in/', '/in?a=b'].map(statusAt)), [404, 404, 401]);
    await simulator.printed(/^delivery +signature unchecked, answered 404$/m);
  } finally {
    simulator.child.kill('SIGTERM');
    await simulator.ended;
  }
});

test('the simulator confirms a burst of deliveries with few callbacks at once', async (t) => {
  const held: ServerResponse[] = [];
  let arrived = 0;
  const service = createServer((_, response) => {
    arrived += 1;
    held.push(response);
  });
  const [secret, port, callbacks] = ['s', await freePort(), await freePort()];
  const callback = { url: `http://127.0.0.1:${callbacks}/callback`, secret };
  const simulator = createSimulatedExchange({
    connection: { credentials: { secrets: [secret], callback }, renew: async () => false },
    callbackHeader: 'x-signature',
    behaviour: WELL,
    now: () => new Date(),
    onEvent: () => undefined,
  });
  t.after(() => {
    for (const server of [service, simulator]) server.close().closeAllConnections();
  });
  await Promise.all([
    new Promise<void>((done) => service.listen(callbacks, '127.0.0.1', done)),
    new Promise<void>((done) => simulator.listen(port, '127.0.0.1', done)),
  ]);
  const deliver = async () => {
    const [deliveryId, nonce] = [randomUUID(), randomUUID()];
    const body = JSON.stringify({
      deliveryId,
      event: 'patient.created',
      sequence: 1,
      resource: { id: nonce },
    });
    const request = { method: 'POST', path: '/in', query: '', body, clientId: 'c', time: new Date(), nonce };
    const headers = { ...signRequest(request, secret) };
    return (await fetch(`http://127.0.0.1:${port}/in`, { method: 'POST', body, headers })).status;
  };
  const answers = await Promise.all(Array.from({ length: 40 }, deliver));
  assert.deepEqual(new Set(answers), new Set([202]));
  await waitUntil(() => arrived >= 8, 'the first callbacks');
  let most = 0;
  await waitUntil(() => {
    most = Math.max(most, held.length);
    for (const response of held.splice(0)) response.writeHead(200).end();
    return arrived === 40;
  }, 'every delivery is confirmed');
  assert.ok(most <= 8, `${most} callbacks at once`);
});
