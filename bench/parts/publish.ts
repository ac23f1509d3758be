/**
 * Publishes per second of laboratory orders with 20 results to a local FHIR server, beside a bare loop that sends
 * the same bytes to it, as many requests at once, over kept connections too. It measures twice. One server takes 5 ms
 * for each answer, as a server that stores resources does. The other answers at once; then the shared processors are
 * the bound of both.
 *
 * By itself: node bench/parts/publish.ts [--rounds N], with the pinned Node.js. `npm run bench` runs it with 3 rounds.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '../../local-postgres/embedded-postgres.ts';
import { createKeyRing } from '../../src/platform/crypto/key-ring.ts';
import { createPool, type Pool } from '../../src/platform/db/database.ts';
import { migrate, SERVICE_ROLE } from '../../src/platform/db/migrate.ts';
import { createAccessLogWriter } from '../../src/privacy/access-log/access-log.writer.ts';
import { createFhirClient, type FhirRequest } from '../../src/publish/send/fhir-client.ts';
import { createLimit } from '../../src/publish/send/limit.ts';
import { DEFAULT_SETTINGS } from '../../src/publish/servers/fhir-server.ts';
import { createFhirServer } from '../../src/publish/servers/manage-fhir-servers.ts';
import { PUBLISH } from '../../src/publish/servers/publish-settings.ts';
import {
  type SeenRequest,
  startFhirServer,
  type TestFhirServer,
} from '../../test-support/fhir-server/start.ts';
import { createClinic, createTestPublisher, type PublishClinic } from '../../test-support/publish-records.ts';

/** Orders per second, several publishes at a time. */
export interface PublishRates {
  bare: number;
  published: number;
  ratio: number;
}

export interface PublishNumbers {
  /** The server answers after {@link LATENCY_MS}. */
  distant: PublishRates;
  /** The server answers at once. */
  instant: PublishRates;
}

const ORDERS = 120;
/** Publishes under way. */
const AT_ONCE = 8;
const LATENCY_MS = 5;

/** Measures on a migrated database: a warm-up, then `rounds` rounds. Returns the median of each number. */
export async function measurePublishes(
  url: string,
  rounds: number,
  say: (line: string) => void,
): Promise<PublishNumbers> {
  const db = createPool(
    { url, max: 10, applicationName: 'bench publish', role: SERVICE_ROLE },
    () => undefined,
  );
  const keys = createKeyRing(randomBytes(32));
  const accessLog = createAccessLogWriter({
    pool: db,
    chainKey: async () => keys.derive('access-log'),
    now: () => new Date(),
    onError: () => undefined,
  });
  try {
    const clinics = await seed(db, ORDERS);
    const node = createTestPublisher(db, { ...PUBLISH }, { keys, accessLog });
    const measureServer = async (name: string, ...options: string[]) => {
      const server = await startFhirServer('--no-integrity', ...options);
      const settings = { name, base: server.base, auth: 'none' } as const;
      await createFhirServer(
        { db, keys },
        { organisationId: null, settings, secret: undefined, makeDefault: true },
      );
      const publishAll = () => inTurn(clinics, (clinic) => node.publish(clinic));
      const rates = await measureRounds(server, publishAll, (line, round) =>
        say(`${round === 0 ? 'warm-up' : `round ${round}`}, server ${name}: ${line}`),
      );
      await server.stop();
      return rates;
    };
    async function measureRounds(
      server: TestFhirServer,
      publishAll: () => Promise<number>,
      sayRound: (line: string, round: number) => void,
    ): Promise<PublishRates> {
      await publishAll();
      const sent = groupByOrder(await server.state());
      const bare = createBareLoop(server);
      const measured: PublishRates[] = [];
      for (let round = 0; round <= rounds; round += 1) {
        await server.reset();
        const bareRate = await inTurn(sent, (requests) => bare.send(requests));
        await server.reset();
        // The first publish fills the server again. A publish to a server that has lost everything is another measure.
        await publishAll();
        const published = await publishAll();
        const rates = { bare: bareRate, published, ratio: published / bareRate };
        sayRound(describeRates(rates), round);
        if (round > 0) measured.push(rates);
      }
      bare.close();
      return medians(measured);
    }
    const distant = await measureServer('distant', '--latency-ms', String(LATENCY_MS));
    const instant = await measureServer('instant');
    node.publisher.close();
    return { distant, instant };
  } finally {
    await accessLog.close();
    await db.end();
  }
}

export function describe({ distant, instant }: PublishNumbers): string {
  return [
    `orders with 20 results, ${AT_ONCE} at a time`,
    `to a server that answers after ${LATENCY_MS} ms: ${describeRates(distant)}`,
    `to a server that answers at once: ${describeRates(instant)}`,
  ].join('\n  ');
}

function describeRates({ bare, published, ratio }: PublishRates): string {
  return `bare ${bare.toFixed(0)}/s, published ${published.toFixed(0)}/s (${ratio.toFixed(2)} of bare)`;
}

/** Works on the items, {@link AT_ONCE} at a time. Returns items per second. */
async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<number> {
  const left = [...items];
  const startedMs = performance.now();
  const worker = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return (items.length * 1_000) / (performance.now() - startedMs);
}

async function seed(db: Pool, orders: number): Promise<PublishClinic[]> {
  const first = await createClinic(db);
  const clinics = [first];
  while (clinics.length < orders) clinics.push(await createClinic(db, { scope: first.scope }));
  return clinics;
}

/** The requests that the server saw, grouped by the publish that sent them. */
function groupByOrder({ seen }: { seen: SeenRequest[] }): FhirRequest[][] {
  const groups = Map.groupBy(seen, ({ headers }) => headers['x-correlation-id']);
  return [...groups.values()].map((requests) =>
    requests.map(({ method, path, body, headers }) => ({
      method: method as FhirRequest['method'],
      path,
      body,
      headers: {
        prefer: headers.prefer ?? '',
        'x-correlation-id': headers['x-correlation-id'] ?? '',
        'x-idempotency-key': headers['x-idempotency-key'] ?? '',
      },
    })),
  );
}

/** Sends, waits for the answers, and knows nothing of orders. */
function createBareLoop({ base }: TestFhirServer) {
  const settings = { ...DEFAULT_SETTINGS, name: 'bare', base, auth: 'none' } as const;
  const server = createFhirClient(settings, undefined);
  const limit = createLimit(settings.maxInFlight);
  return {
    async send(requests: readonly FhirRequest[]) {
      const answers = await Promise.all(requests.map((request) => limit(() => server.send(request))));
      for (const answer of answers)
        if (answer.kind === 'unanswered' || answer.status > 201) throw new Error('the FHIR server failed');
    },
    close: () => server.close(),
  };
}

function medians(measured: readonly PublishRates[]): PublishRates {
  const middle = (name: keyof PublishRates) =>
    measured.map((rates) => rates[name]).sort((a, b) => a - b)[Math.floor(measured.length / 2)] ?? 0;
  return { bare: middle('bare'), published: middle('published'), ratio: middle('ratio') };
}

async function main(): Promise<void> {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const dataDir = await mkdtemp(join(tmpdir(), 'interchange-bench-'));
  const log = { info: () => undefined, error: () => undefined };
  const database = await openEmbeddedPostgres({ dataDir, log });
  try {
    await migrate(database.url);
    const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1] || 3) || 3;
    say(`median: ${describe(await measurePublishes(database.url, rounds, say))}`);
  } finally {
    await database.release();
    await rm(dataDir, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
