/** `interchange connection …` as real processes, and what all commands about exchanges have in common. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { buildProgram } from '../src/app/commands.ts';
import { createFacility, createOrganisation } from '../src/tenancy/organisations/facilities.ts';
import { useExchangeCommands } from '../test-support/exchange/exchange-commands.ts';
import { insertPatients } from '../test-support/exchange/exchange-records.ts';
import { runCommand } from '../test-support/service/command.ts';

const clinic = useExchangeCommands();
const { json, fails, create } = clinic;

test('connections: create, show, update, rotate, disable, list [EXC-1, CMD-12, CMD-13]', async () => {
  const { database, place, env, origin } = clinic;
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
    `taken out .* held when they are due for a try, .*: npx interchange delivery list --connection ${created.id} --status held\n$`,
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

test('a connection whose exchange is down is said to fail, in the words of the console', async () => {
  const { database, place, env } = clinic;
  const { id } = await create();
  await database.pool.query(
    `insert into exchange_circuit (organisation_id, connection_id, opened_at) values ($1, $2, now())
     on conflict (organisation_id, connection_id) do update set opened_at = now()`,
    [place.organisationId, id],
  );
  const listed = await runCommand(['connection', 'list'], { env });
  assert.match(listed.stdout, new RegExp(`${id} +deliveries fail `));
  const counted = await runCommand(['delivery', 'count', '--connection', id], { env });
  assert.match(counted.stdout, / {2}deliveries fail$/m);
});

test('a rotated secret signs once it is activated [EXC-46, CMD-13]', async () => {
  const { env } = clinic;
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
  assert.match((await run('show')).stdout, /outbound, created [^,]+, ended \d/);
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

test('rotate-secret takes no overlap but a plain number, so an empty one ends no secret [CMD-13]', async () => {
  const { id } = await create();
  for (const hours of ['', ' ', '0x0', '-1', '2160.5'])
    await fails(
      2,
      /--overlap-hours must be/,
      'connection',
      'rotate-secret',
      '--id',
      id,
      '--overlap-hours',
      hours,
    );
  const { secrets } = await json('connection', 'show', '--id', id);
  assert.equal(secrets.length, 2, 'the two it was created with');
});

test('connection resync queues who was there before the connection, and refuses a disabled one [EXC-58]', async () => {
  const { database, place, env } = clinic;
  await insertPatients(database.pool, place, 2);
  const { id } = await create();
  const run = (...more: string[]) => runCommand(['connection', 'resync', '--id', id, ...more], { env });
  const dry = await json('connection', 'resync', '--id', id, '--dry-run');
  assert.equal(dry.dryRun, true);
  assert.ok(dry.queued >= 2 && dry.queued === dry.patients, JSON.stringify(dry));
  assert.equal((await run()).stdout, `${dry.queued} of ${dry.patients} patients were queued.\n`);
  assert.match(
    (await run()).stdout,
    new RegExp(`^0 of ${dry.patients} patients were queued\\. Each of the others`),
  );
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

test('a second connection of a name is made, with a note [CMD-12]', async () => {
  const { database, env } = clinic;
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

test('wrong arguments exit 2 and say what to do; unknown ids exit 1 and say so', async () => {
  const { place, folder } = clinic;
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
