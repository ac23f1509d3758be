/** The first stage of delivery: leases due lanes and sorts what may be tried from what may not. Contract: EXC-15, EXC-21, EXC-23. */
import { randomUUID } from 'node:crypto';
import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import { leaseEndAfter } from '../../outbound/lease-end.ts';
import { allowsPurpose } from '../../privacy/decide.ts';
import { probeNow } from '../queue/connection-state.store.ts';
import { LEASE_BYTES, type LeasedDelivery, leaseDue, leaseProbe, release } from '../queue/lane.store.ts';
import { park } from '../queue/parking.store.ts';
import type { LoadedConnection } from './loaded-connection.ts';
import { giveBack, type Runner, singleTask } from './runner.ts';
import { notCovered, type Try } from './try-delivery.ts';

/** Unwritten results beyond which nothing more is leased. */
const MAX_UNWRITTEN = 2_000;

export function createLeaseStage(runner: Runner) {
  const batch = createBatchSize();
  const task = singleTask(() => leaseBatch(runner, batch), {
    onError: runner.report('delivery.lease'),
    onEnd: () => runner.advance(),
  });

  /** Lease now if there is room. */
  function lease(): void {
    const { connection, breaker, inFlight, logged, leased } = runner;
    if (runner.stopping || runner.deps.isResting()) return;
    if (connection === undefined || runner.results.size > MAX_UNWRITTEN) return;
    const busy = inFlight + logged.length + leased.length;
    if (breaker.open ? busy === 0 : hasRoom(runner, batch)) task.run();
  }

  return {
    /** Resolves when nothing is being leased. */
    get ended() {
      return task.ended;
    },
    lease,
    /** Lease if there is room and the last lease found as much as it asked for. */
    leaseMore() {
      if (batch.likelyMore && hasRoom(runner, batch)) lease();
    },
  };
}

function hasRoom({ connection, leased, logged }: Runner, batch: BatchSize): boolean {
  if (connection === undefined || leased.length > batch.of(connection.maxInFlight) / 2) return false;
  const size = (sum: number, { body }: Try) => sum + body.length;
  return logged.reduce(size, leased.reduce(size, 0)) < LEASE_BYTES;
}

async function leaseBatch(runner: Runner, batch: BatchSize): Promise<void> {
  const { connection, breaker } = runner;
  if (connection === undefined) return;
  const probe = breaker.open;
  // A probe is one lane; past what may not be sent it is looked for in batches.
  let limit = probe ? 1 : batch.of(connection.maxInFlight);
  while (await leaseOnce(runner, connection, { probe, limit, batch }))
    limit = batch.of(connection.maxInFlight);
  if (runner.stopping || breaker.open !== probe) giveBack(runner);
}

/** True when a probe is still to be found and may be looked for at once. */
async function leaseOnce(
  runner: Runner,
  { timeoutMs, purposeOfUse }: LoadedConnection,
  { probe, limit, batch }: { probe: boolean; limit: number; batch: BatchSize },
): Promise<boolean> {
  const { deps, key, breaker, results } = runner;
  const startedMs = performance.now();
  const leaseToken = randomUUID();
  const durationMs = Math.max(deps.settings.leaseMs, 3 * timeoutMs);
  // Computed before the database begins the lease, so that it ends before the lease.
  const leaseEnd = leaseEndAfter(durationMs, deps.now);
  const lease = { token: leaseToken, durationMs, limit };
  const found = await (probe ? leaseProbe : leaseDue)(deps.db, key, lease).catch((error: unknown) => {
    batch.noteFailure();
    throw error;
  });
  const starved = runner.leased.length + runner.logged.length === 0;
  const envelopes = found.filter(({ body }) => body !== null).length;
  batch.note({ lanes: found.length, envelopes, startedMs, starved });
  const sorted = sortLeased(found, { probe, purposeOfUse });
  for (const delivery of sorted.tries)
    runner.leased.push({ ...delivery, leaseToken, leaseEnd, purposeOfUse, probe, nonce: randomUUID() });
  setAside(runner, sorted, { leaseToken, leaseEnd });
  if (!probe || found.length === 0 || sorted.sends) return false;
  await probeNow(deps.db, key);
  return !runner.stopping && breaker.open && results.size + runner.leased.length <= MAX_UNWRITTEN;
}

type Sendable = LeasedDelivery & { body: string };

interface SortedLanes {
  /** To be logged and sent; those of a patient who refuses the purpose, to be logged and held. */
  tries: Sendable[];
  /** Their facility has the module off: they wait for it. */
  off: LeasedDelivery[];
  /** Their facility is covered no longer: people decide. */
  uncovered: LeasedDelivery[];
  /** May be sent, and wait: the lease brought no envelope, or one delivery is enough for a probe. */
  spare: LeasedDelivery[];
  /** One of the tries will be sent. */
  sends: boolean;
}

/** What of the lanes that were leased may be tried (docs/adr/0054, docs/adr/0059). */
function sortLeased(
  found: readonly LeasedDelivery[],
  { probe, purposeOfUse }: { probe: boolean; purposeOfUse: PurposeOfUse },
): SortedLanes {
  const sorted: SortedLanes = { tries: [], off: [], uncovered: [], spare: [], sends: false };
  for (const delivery of found) {
    const { body } = delivery;
    const sendable = allowsPurpose(delivery.refusedPurposes, purposeOfUse);
    if (!delivery.covered) sorted.uncovered.push(delivery);
    else if (!delivery.moduleOn) sorted.off.push(delivery);
    else if (body === null || (probe && sendable && sorted.sends)) sorted.spare.push(delivery);
    else {
      sorted.tries.push({ ...delivery, body });
      sorted.sends ||= sendable;
    }
  }
  return sorted;
}

function setAside(
  { deps: { db }, key, results, report }: Runner,
  { off, uncovered, spare }: SortedLanes,
  { leaseToken, leaseEnd }: Pick<Try, 'leaseToken' | 'leaseEnd'>,
): void {
  const lanes = (of: readonly LeasedDelivery[]) => ({
    token: leaseToken,
    patientIds: of.map(({ patientId }) => patientId),
  });
  for (const delivery of uncovered) results.add(notCovered({ ...delivery, leaseToken }), leaseEnd.ms);
  if (off.length > 0) park(db, key, lanes(off)).catch(report('delivery.park'));
  if (spare.length > 0) release(db, key, lanes(spare)).catch(report('delivery.release'));
}

/** How many lanes a worker leases at once: just enough that no sender waits for the database. */
interface BatchSize {
  of(maxInFlight: number): number;
  /** Note a lease: how many lanes and envelopes it brought, when it was begun, and whether senders had to wait for it. */
  note(lease: { lanes: number; envelopes: number; startedMs: number; starved: boolean }): void;
  /** Note a lease that failed: the next waits for the next look. */
  noteFailure(): void;
  /** The last lease was a full one. */
  readonly likelyMore: boolean;
}

const MAX_BATCH = 512;
/** When a batch takes longer than this, the next ones are smaller. */
const SLOW_MS = 750;

function createBatchSize(): BatchSize {
  const state = { size: 0, lastMs: 0, likelyMore: false };
  return {
    of(maxInFlight) {
      state.size = Math.max(state.size, maxInFlight * 2);
      return state.size;
    },
    note({ lanes, envelopes, startedMs, starved }) {
      const wasFull = state.likelyMore;
      state.likelyMore = lanes >= state.size;
      if (envelopes < lanes) state.size = envelopes;
      else if (wasFull && starved) state.size = Math.min(MAX_BATCH, state.size * 2);
      else if (startedMs - state.lastMs > SLOW_MS) state.size = Math.floor(state.size / 2);
      state.lastMs = startedMs;
    },
    noteFailure() {
      state.likelyMore = false;
    },
    get likelyMore() {
      return state.likelyMore;
    },
  };
}
