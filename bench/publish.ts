/**
 * Publishes per second of laboratory orders with 20 results to a local FHIR server, beside a bare loop that sends
 * the same bytes to it, as many requests at once, over kept connections too.
 *
 * Alone: node bench/publish.ts [--rounds N] (with the pinned Node.js).
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyRing } from '../src/platform/crypto/key-ring.ts';
import { createPool, type Pool } from '../src/platform/db/database.ts';
import { openEmbeddedPostgres } from '../src/platform/db/embedded-postgres.ts';
import { migrate, SERVICE_ROLE } from '../src/platform/db/migrate.ts';
import { createAccessLogWriter } from '../src/privacy/access-log.writer.ts';
import { createFhirServer, type FhirRequest } from '../src/publish/fhir-server.ts';
import { createLimit } from '../src/publish/limit.ts';
import { createTarget } from '../src/publish/manage-targets.ts';
import { PUBLISH } from '../src/publish/publish-settings.ts';
import { DEFAULT_SETTINGS } from '../src/publish/target.ts';
import { type SeenRequest, startFhirServer, type TestFhirServer } from '../test-support/fhir-server/start.ts';
import { createClinic, createTestPublisher, type PublishClinic } from '../test-support/publish-records.ts';

export interface PublishNumbers {
  /** Orders per second, several publishes at a time. */
  bare: number;
  published: number;
  ratio: number;
  /** Milliseconds for one order when nothing else runs: its requests alone, and the whole publish. */
  bareMs: number;
  publishedMs: number;
}

const ORDERS = 120;
/** Publishes under way. */
const AT_ONCE = 8;

/** Measure on a migrated database; `rounds` of each, in turn, and the median of each ratio. */
export async function measurePublishes(
  url: string,
  rounds: number,
  say: (line: string) => void,
): Promise<PublishNumbers> {
  const db = createPool(
    { url, max: 10, applicationName: 'bench publish', role: SERVICE_ROLE },
    () => undefined,
  );
  const server = await startFhirServer('--no-integrity');
  const keys = createKeyRing(randomBytes(32));
  const accessLog = createAccessLogWriter({
    pool: db,
    key: keys.derive('access-log'),
    now: () => new Date(),
    onError: () => undefined,
  });
  try {
    const clinics = await seed(db, ORDERS);
    const node = createTestPublisher(db, { ...PUBLISH }, { keys, accessLog });
    await createTarget(
      { db, keys },
      {
        organisationId: null,
        settings: { name: 'bench', base: server.base, auth: 'none' },
        secret: undefined,
        makeDefault: true,
      },
    );
    const publishAll = (atOnce: number) => inTurn(clinics, atOnce, (clinic) => node.publish(clinic));
    await publishAll(AT_ONCE);
    const sent = groupByOrder(await server.state());
    await server.reset();
    const bare = createBareLoop(server);
    const bareAll = (atOnce: number) => inTurn(sent, atOnce, (requests) => bare.send(requests));
    const measured: PublishNumbers[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const numbers = await oneRound(server, { publishAll, bareAll });
      say(`${round === 0 ? 'warm-up' : `round ${round}`}: ${describe(numbers)}`);
      if (round > 0) measured.push(numbers);
    }
    bare.close();
    node.publisher.close();
    return medians(measured);
  } finally {
    await server.stop();
    await accessLog.close();
    await db.end();
  }
}

export function describe(n: PublishNumbers): string {
  const rates = `bare ${n.bare.toFixed(0)}/s, published ${n.published.toFixed(0)}/s (${n.ratio.toFixed(2)} of bare)`;
  const alone = `one alone: bare ${n.bareMs.toFixed(1)} ms, published ${n.publishedMs.toFixed(1)} ms`;
  return `orders, ${AT_ONCE} at a time: ${rates}; ${alone}`;
}

async function oneRound(
  server: TestFhirServer,
  run: Record<'publishAll' | 'bareAll', (atOnce: number) => Promise<number>>,
): Promise<PublishNumbers> {
  const fresh = async (rate: () => Promise<number>) => {
    await server.reset();
    return rate();
  };
  const bare = await fresh(() => run.bareAll(AT_ONCE));
  const published = await fresh(() => run.publishAll(AT_ONCE));
  const bareMs = 1_000 / (await fresh(() => run.bareAll(1)));
  const publishedMs = 1_000 / (await fresh(() => run.publishAll(1)));
  return { bare, published, ratio: published / bare, bareMs, publishedMs };
}

/** Work on the items, so many at once. Items per second. */
async function inTurn<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<unknown>,
): Promise<number> {
  const left = [...items];
  const startedMs = performance.now();
  const worker = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (items.length * 1_000) / (performance.now() - startedMs);
}

async function seed(db: Pool, orders: number): Promise<PublishClinic[]> {
  const first = await createClinic(db);
  const clinics = [first];
  while (clinics.length < orders) clinics.push(await createClinic(db, { scope: first.scope }));
  return clinics;
}

/** The requests that were made, by the call that made them. */
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
  const server = createFhirServer(settings, undefined);
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

function medians(measured: readonly PublishNumbers[]): PublishNumbers {
  const middle = (name: keyof PublishNumbers) =>
    measured.map((numbers) => numbers[name]).sort((a, b) => a - b)[Math.floor(measured.length / 2)] ?? 0;
  return {
    bare: middle('bare'),
    published: middle('published'),
    ratio: middle('ratio'),
    bareMs: middle('bareMs'),
    publishedMs: middle('publishedMs'),
  };
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
