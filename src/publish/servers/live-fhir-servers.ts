/**
 * Targets as this process uses them: kept connections, the limit of requests, the circuit.
 * Contract: PUB-13, PUB-32.
 */

import { AddressRefusedError } from '../../outbound/outbound-address.ts';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { unavailable } from '../../platform/http/errors.ts';
import type { PublishMetrics } from '../history/publish-metrics.ts';
import { type Circuit, type CircuitSettings, createCircuit } from '../send/breaker.ts';
import { createFhirServer, type FhirAnswer, type FhirRequest, type FhirServer } from '../send/fhir-client.ts';
import { createLimit } from '../send/limit.ts';
import type { StoredTarget } from './fhir-server.store.ts';
import { openSecret } from './fhir-server-secret.ts';

export interface LiveTarget extends StoredTarget {
  /**
   * At most `maxInFlight` at once; the others wait their turn. `begin` is asked when the turn has come: it answers how
   * many milliseconds are left for the request, beside the time-out of the target, or keeps it from beginning by
   * throwing.
   */
  send(request: FhirRequest, begin: () => number): Promise<FhirAnswer>;
  circuit: Circuit;
}

export interface LiveTargets {
  of(target: StoredTarget): Promise<LiveTarget>;
  /** Let go of all kept connections. */
  close(): void;
}

/** Nothing was sent. */
const NO_TIME_LEFT: FhirAnswer = { kind: 'unanswered', code: 'TIMEOUT', reached: false };

export function createLiveTargets(
  keys: KeyRing,
  { circuit, nowMs, metrics }: { circuit: CircuitSettings; nowMs: () => number; metrics: PublishMetrics },
): LiveTargets {
  const live = new Map<string, LiveTarget & { server: FhirServer }>();
  metrics.circuits(() => [...live.values()].map((target) => ({ target, open: target.circuit.isOpen() })));

  function open(target: StoredTarget, secret: string | undefined): LiveTarget & { server: FhirServer } {
    const server = serverOf(target, secret);
    const limit = createLimit(target.maxInFlight);
    return {
      ...target,
      server,
      send: (request, begin) =>
        limit(async () => {
          const timeoutMs = Math.min(target.timeoutMs, begin());
          if (timeoutMs <= 0) return NO_TIME_LEFT;
          const startedMs = performance.now();
          const answer = await server.send(request, timeoutMs);
          metrics.request(target, answer, performance.now() - startedMs);
          return answer;
        }),
      circuit: createCircuit(circuit, nowMs),
    };
  }

  function heldOf({ id, version }: StoredTarget): LiveTarget | undefined {
    const held = live.get(id);
    return held !== undefined && held.version >= version ? held : undefined;
  }

  return {
    async of(target) {
      const usable = heldOf(target);
      if (usable !== undefined) return usable;
      const secret = await secretOf(keys, target);
      const meanwhile = heldOf(target);
      if (meanwhile !== undefined) return meanwhile;
      const opened = open(target, secret);
      live.get(target.id)?.server.close();
      live.set(target.id, opened);
      return opened;
    },
    close() {
      for (const { server } of live.values()) server.close();
      live.clear();
    },
  };
}

/** An address that could be set may be one that is refused by now: the rules are those of this version. */
function serverOf(target: StoredTarget, secret: string | undefined): FhirServer {
  try {
    return createFhirServer(target, secret);
  } catch (cause) {
    if (!(cause instanceof AddressRefusedError)) throw cause;
    const error = unavailable(
      'The address of the target must not be used. The operator changes it: interchange target update --base.',
      60,
      'target_address',
    );
    throw Object.assign(error, { cause });
  }
}

/** The secret in the clear, for the time of a process. */
export async function secretOf(keys: KeyRing, { id, secret }: StoredTarget): Promise<string | undefined> {
  if (secret === undefined) return undefined;
  try {
    return await openSecret(keys, id, secret);
  } catch (cause) {
    const error = unavailable(
      'The secret of the target cannot be opened. Set it anew: interchange target rotate-secret.',
      60,
      'target_secret',
    );
    throw Object.assign(error, { cause });
  }
}
