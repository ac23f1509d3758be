/** `interchange exchange-simulator` as a real process, and the simulated exchange itself. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { signRequest } from '../src/exchange/signing/signed-request.ts';
import { useExchangeCommands } from '../test-support/exchange/exchange-commands.ts';
import { insertPatients, queue, rename } from '../test-support/exchange/exchange-records.ts';
import { startCommand } from '../test-support/service/command.ts';
import { freePort } from '../test-support/service/free-port.ts';
import { waitUntil } from '../test-support/wait-until.ts';
import { WELL } from '../tools/exchange-simulator/behaviour.ts';
import { createSimulatedExchange } from '../tools/exchange-simulator/simulated-exchange.ts';

const clinic = useExchangeCommands();
const { json, fails, create } = clinic;

test('the simulator takes a signed delivery, confirms it, and fails when told to [EXC-52]', async () => {
  const { database, place, folder, env, origin } = clinic;
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
    const refused = await fetch(`${address}/control`, { method: 'POST', body: '{"failRate":7}' });
    assert.equal(refused.status, 400);
    const { message, failRate } = (await refused.json()) as { message: string; failRate: number };
    assert.match(message, /^Nothing was changed\. .*failRate and rejectRate \(a number from 0 to 1\)/);
    assert.equal(failRate, 0);
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
  const { folder, env } = clinic;
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
