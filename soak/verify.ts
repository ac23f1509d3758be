/** In the end: asks the service, its database, the exchange and the FHIR server for what the ledger says must be there. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Answer } from './client.ts';
import { assignedId } from './flows/confirm-deliveries.ts';
import {
  type Finding,
  judgeDeliveries,
  judgePresence,
  judgeProvoked,
  judgePublishes,
  judgeValues,
  type RemoteResource,
} from './ledger.ts';
import { contentOf } from './records.ts';
import type { World } from './world.ts';

const SETTLE_MS = 300_000;

/** Wait until nothing waits for delivery. Returns how many are left: 0, unless it took too long or some are held. */
export async function settle(databaseUrl: string): Promise<number> {
  const end = performance.now() + SETTLE_MS;
  for (;;) {
    const [row] = await rowsOf<{ count: string; held: string }>(
      databaseUrl,
      'select count(*) as count, count(held_at) as held from exchange_head',
    );
    const [left, held] = [Number(row?.count), Number(row?.held)];
    if (left === held || performance.now() > end) return left;
    await sleep(500);
  }
}

export async function verify(world: World, databaseUrl: string): Promise<Finding[]> {
  const { ledger } = world;
  const logged = await rowsOf<{ id: string }>(
    databaseUrl,
    `select distinct correlation_id as id from access_log where outcome = 'allowed'`,
  );
  const accesses = new Set(logged.map(({ id }) => id));
  const callbacks = await rowsOf<{ id: string }>(
    databaseUrl,
    `select distinct delivery_id as id from exchange_callback where outcome = 'applied'`,
  );
  return [
    await changes(world),
    ...judgeDeliveries(ledger),
    judgeProvoked(ledger),
    judgePresence('confirmations kept', ledger.confirmed.keys(), new Set(callbacks.map(({ id }) => id))),
    await assignedIds(world),
    judgePresence('answered reads and publishes in the access log', ledger.accesses, accesses),
    judgePresence(
      'sent deliveries in the access log',
      ledger.arrivals.map(({ nonce }) => nonce),
      accesses,
    ),
    await publishes(world),
    await maps(world),
  ];
}

/** Every change that was answered is what a read gives. */
async function changes(world: World): Promise<Finding> {
  const found = new Map<number, string | undefined>();
  for (const patient of world.patients) {
    const resource = await read(world, `/patients/base/${patient.id}/clinical/fhir`);
    found.set(patient.number, String(contentOf(resource).round));
  }
  const expected = new Map([...world.ledger.rounds].map(([patient, round]) => [patient, String(round)]));
  return judgeValues('answered changes of patients kept', expected, found);
}

async function assignedIds(world: World): Promise<Finding> {
  const expected = new Map(
    [...world.ledger.confirmed.values()].map((patient) => [patient, assignedId(patient)]),
  );
  const found = new Map<number, string | undefined>();
  for (const { number, id } of world.patients) {
    const resource = await read(world, `/patients/base/${id}/clinical/fhir`);
    const values = (resource.identifier as { value?: string }[]).map(({ value }) => value);
    found.set(
      number,
      values.find((value) => value === assignedId(number)),
    );
  }
  return judgeValues('ids assigned by the exchange', expected, found);
}

async function publishes({ ledger, fhirServer }: World): Promise<Finding> {
  const { resources } = await fhirServer.state();
  const remote = resources.map(
    ({ resourceType, id, meta, identifier = [] }): RemoteResource => ({
      key: `${resourceType}/${id}`,
      version: Number(meta?.versionId ?? 0),
      identity: identifier.map(({ system, value }) => `${system}|${value}`).join(' '),
    }),
  );
  return judgePublishes(ledger.published.values(), remote);
}

async function maps(world: World): Promise<Finding> {
  const { items } = await read(world, '/terminology/maps?limit=100');
  const found = new Map(
    (items as { localCode: string; targetCode: string }[]).map(({ localCode, targetCode }) => [
      localCode,
      targetCode,
    ]),
  );
  return judgeValues('answered changes of maps kept', world.ledger.maps, found);
}

async function read({ client }: World, path: string): Promise<Answer['json']> {
  return (await client.insist('checks', path, { token: await client.token() })).json;
}

/** On a connection of its own. The database is not killed any more. */
async function rowsOf<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
