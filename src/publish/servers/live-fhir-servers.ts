/**
 * FHIR servers as this process uses them: kept connections, the limit of requests, the breaker.
 * Contract: PUB-13, PUB-32.
 */

import { AddressRefusedError } from '../../outbound/outbound-address.ts';
import { openSecret } from '../../outbound/sealed-secret.ts';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { publishError } from '../errors.ts';
import type { PublishMetrics } from '../history/publish-metrics.ts';
import { type BreakerState, createPublishBreaker, type PublishBreaker } from '../send/breaker.ts';
import { createFhirClient, type FhirAnswer, type FhirClient, type FhirRequest } from '../send/fhir-client.ts';
import { createLimit } from '../send/limit.ts';
import { secretSealedFor } from './fhir-server.store.ts';
import type { FhirServer } from './fhir-server.ts';
import type { PublishSettings } from './publish-settings.ts';

export interface LiveFhirServer extends FhirServer {
  /**
   * At most `maxInFlight` requests at once; the others wait. `begin` is called when a request may begin. It returns how
   * many milliseconds are left for the request, or throws when the request must not begin.
   */
  send(request: FhirRequest, begin: () => number): Promise<FhirAnswer>;
  breaker: PublishBreaker;
}

export interface LiveFhirServers {
  of(server: FhirServer): Promise<LiveFhirServer>;
  /** Whether this process leaves the server alone; `closed` for one that it has not used. */
  stateOf(id: string): BreakerState;
  /** Let go of all kept connections. */
  close(): void;
}

/** Nothing was sent. */
const NO_TIME_LEFT: FhirAnswer = { kind: 'unanswered', code: 'TIMEOUT', reached: false };

interface LiveOptions {
  settings: Pick<PublishSettings, 'breaker' | 'clock'>;
  metrics: PublishMetrics;
}

type OpenServer = LiveFhirServer & { client: FhirClient };

export function createLiveFhirServers(keys: KeyRing, options: LiveOptions): LiveFhirServers {
  const live = new Map<string, OpenServer>();
  options.metrics.breakers(() =>
    [...live.values()].map((server) => ({ server, open: server.breaker.isOpen() })),
  );

  function current({ id, version }: FhirServer): LiveFhirServer | undefined {
    const held = live.get(id);
    return held !== undefined && held.version >= version ? held : undefined;
  }

  return {
    async of(server) {
      const usable = current(server);
      if (usable !== undefined) return usable;
      const secret = await secretOf(keys, server);
      const meanwhile = current(server);
      if (meanwhile !== undefined) return meanwhile;
      const opened = openServer(server, secret, options);
      live.get(server.id)?.client.close();
      live.set(server.id, opened);
      return opened;
    },
    stateOf: (id) => live.get(id)?.breaker.state() ?? 'closed',
    close() {
      for (const { client } of live.values()) client.close();
      live.clear();
    },
  };
}

function openServer(
  server: FhirServer,
  secret: string | undefined,
  { settings, metrics }: LiveOptions,
): OpenServer {
  const client = clientOf(server, secret);
  const limit = createLimit(server.maxInFlight);
  return {
    ...server,
    client,
    send: (request, begin) =>
      limit(async () => {
        const timeoutMs = Math.min(server.timeoutMs, begin());
        if (timeoutMs <= 0) return NO_TIME_LEFT;
        const startedMs = performance.now();
        const answer = await client.send(request, timeoutMs);
        metrics.request(server, answer, performance.now() - startedMs);
        return answer;
      }),
    breaker: createPublishBreaker(settings.breaker, settings.clock.nowMs),
  };
}

/** A stored address may be refused by now: the rules of this version apply. */
function clientOf(server: FhirServer, secret: string | undefined): FhirClient {
  try {
    return createFhirClient(server, secret);
  } catch (cause) {
    if (!(cause instanceof AddressRefusedError)) throw cause;
    throw publishError('target_address', undefined, { cause });
  }
}

/** The opened secret. */
export async function secretOf(keys: KeyRing, { id, secret }: FhirServer): Promise<string | undefined> {
  if (secret === undefined) return undefined;
  try {
    return await openSecret(keys, secretSealedFor(id, secret.id), secret.sealed);
  } catch (cause) {
    throw publishError('target_secret', undefined, { cause });
  }
}
