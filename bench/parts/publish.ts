/**
 * Publishes per second of laboratory orders with 20 results to a local FHIR server, beside a bare loop that sends
 * the same bytes to it, as many requests at once, over kept connections too. It measures twice. One server takes 5 ms
 * for each answer, as a server that stores resources does. The other answers at once; then the shared processors are
 * the bound of both.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { createKeyRing } from '../../src/platform/crypto/key-ring.ts';
import { createPool, type Pool } from '../../src/platform/db/database.ts';
import { SERVICE_ROLE } from '../../src/platform/db/migrate.ts';
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
import {
  contextOf,
  createClinic,
  createTestPublisher,
  labOrderSource,
  type PublishClinic,
} from '../../test-support/publish/publish-records.ts';
import type { Bench, Part, Row } from '../bench.ts';
import { compare } from '../compare.ts';
import { withTemporaryDatabase } from '../databases.ts';
import { describe, type Measurement, rateOf } from '../measure.ts';
import { times } from '../report.ts';

/** Publishes under way. */
const AT_ONCE = 8;
const LATENCY_MS = 5;

export const publish: Part = {
  name: 'publish',
  summary: 'publish of a laboratory order to a distant and to an instant FHIR server',
  measure: (bench) => withTemporaryDatabase(bench.serverUrl, (url) => measurePublishes(bench, url)),
};

async function measurePublishes(bench: Bench, url: string): Promise<Row[]> {
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
  const { publisher } = createTestPublisher(db, { ...PUBLISH }, { keys, accessLog });
  // One for all, as in the service: publishes under way share the round trips of its loader.
  const source = labOrderSource(db);
  const publishOrder = ({ scope, orderId }: PublishClinic) => {
    const context = contextOf(scope, { purposeOfUse: 'OPS', correlationId: randomUUID() });
    return publisher.publish(source, { id: orderId, target: undefined }, context);
  };
  try {
    const clinics = await seed(db, bench.options.quick ? 40 : 120);
    const measureServer = async (name: string, ...options: string[]): Promise<Row> => {
      bench.say(`${name} server`);
      const server = await startFhirServer('--no-integrity', ...options);
      const settings = { name, base: server.base, auth: 'none' } as const;
      await createFhirServer(
        { db, keys },
        { organisationId: null, settings, secret: undefined, makeDefault: true },
      );
      try {
        return await measureRounds(bench, server, (seconds) => inTurn(clinics, seconds, publishOrder));
      } finally {
        await server.stop();
      }
    };
    return [
      {
        ...(await measureServer('distant', '--latency-ms', String(LATENCY_MS))),
        what: `Publish, server takes ${LATENCY_MS} ms`,
        aim: '0.6 of the bare loop',
      },
      {
        ...(await measureServer('instant')),
        what: 'Publish, instant server',
        aim: '0.4 of the bare loop',
      },
    ];
  } finally {
    publisher.close();
    await accessLog.close();
    await db.end();
  }
}

async function measureRounds(
  bench: Bench,
  server: TestFhirServer,
  publishFor: (seconds: number) => Promise<Measurement>,
): Promise<Row> {
  await publishFor(0);
  const sent = groupByOrder(await server.state());
  const bare = createBareLoop(server);
  const result = await compare(bench, {
    bare: async ({ seconds }) => {
      await server.reset();
      return inTurn(sent, seconds, (requests) => bare.send(requests));
    },
    published: async ({ seconds }) => {
      await server.reset();
      // The first publishes fill the server again. A publish to a server that has lost everything is another measure.
      await publishFor(0);
      return publishFor(seconds);
    },
  });
  bare.close();
  return {
    what: '',
    measured: `orders with 20 results, ${describe(result.of('published'))}; bare ${describe(result.of('bare'))}`,
    reached: `${times(result.ratio('published', 'bare'))} of the bare loop`,
    aim: '',
  };
}

/** Works on all items, and on them again until the seconds are over, {@link AT_ONCE} at a time. */
async function inTurn<T>(
  items: readonly T[],
  seconds: number,
  work: (item: T) => Promise<unknown>,
): Promise<Measurement> {
  const startedMs = performance.now();
  const secondsGone = () => (performance.now() - startedMs) / 1_000;
  let begun = 0;
  const worker = async () => {
    while (begun < items.length || secondsGone() < seconds) {
      const item = items[begun % items.length] as T;
      begun += 1;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return rateOf(begun, secondsGone());
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
