/**
 * Delivers for one connection: leases due lanes, logs the access, sends, and writes down how it went.
 *
 * Leased deliveries pass through three places: `leased` (nothing done yet, may be given back), `logged` (the
 * access is in the access log, so the ledger must say what became of it) and in flight.
 * Contract: EXC-23, EXC-26, EXC-27.
 */
import { randomUUID } from 'node:crypto';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import type { Pool } from '../../platform/db/database.ts';
import { errorFields, type Log } from '../../platform/log/log.ts';
import type { AccessLog } from '../../privacy/access-log/access-log.ts';
import type { ConnectionState } from '../queue/connection-state.store.ts';
import {
  type ConnectionKey,
  type LeasedDelivery,
  leaseDue,
  leaseProbe,
  type Result,
  release,
  settle,
} from '../queue/lane.store.ts';
import { park, unpark } from '../queue/parking.store.ts';
import { createSettleQueue } from '../queue/settle-queue.ts';
import { createBatchSize } from './batch-size.ts';
import { probeNow } from './breaker.store.ts';
import { type Chosen, chooseTries } from './choose-tries.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import type { DeliverySettings } from './delivery-settings.ts';
import { leaseEndAfter } from './lease-end.ts';
import { type LiveTarget, loadTarget } from './loaded-connection.ts';
import { accessEntry, notCovered, notSent, type Tried, type Try, tryDelivery } from './try-delivery.ts';

export interface RunnerDependencies {
  db: Pool;
  accessLog: AccessLog;
  keys: KeyRing;
  log: Log;
  now: () => Date;
  settings: DeliverySettings;
  /** Told of every try. */
  onAttempt: (key: ConnectionKey, attempt: NonNullable<Result['attempt']>) => void;
}

export interface ConnectionRunner {
  /** Look again: what the database says of the connection now. */
  wake(state: ConnectionState): void;
  /** Finish what is in flight and give back the rest. */
  stop(): Promise<void>;
}

/** Unwritten results beyond which nothing more is leased. */
const MAX_UNWRITTEN = 2_000;
/** How many times the requests in flight may be logged before they are sent, so that senders do not wait for the log. */
const LOGGED_AHEAD = 2;
/** A process that stops does not wait longer for a database that does not answer. */
const STOP_LIMIT_MS = 10_000;
/** Lanes let go on by one statement; the next look lets the next go on. */
const UNPARKED_AT_ONCE = 2_000;
/** A connection that could not be loaded is looked at again after this. */
const LOAD_AGAIN_MS = 2_000;

export function createConnectionRunner(deps: RunnerDependencies, key: ConnectionKey): ConnectionRunner {
  const { db, settings } = deps;
  const report = (event: string) => (error: unknown) =>
    deps.log.warn({ event, ...key, ...errorFields(error) }, 'a step of delivery failed and is tried again');
  const circuit = createCircuitBreaker({
    db,
    key,
    settings: settings.circuit,
    onChange: onCircuit,
    onError: report('delivery.circuit'),
  });
  const results = createSettleQueue({
    write: (batch) => settle(db, key, batch),
    onMore: () => void lease(),
    onLost: (count) =>
      deps.log.warn(
        { event: 'delivery.lease-lost', ...key, count },
        'a lease ended before its result was written',
      ),
    onError: report('delivery.settle'),
  });
  const batchSize = createBatchSize();
  let target: LiveTarget | undefined;
  let loading: Promise<void> | undefined;
  let leasing: Promise<void> | undefined;
  let logging: Promise<void> | undefined;
  let reopening: Promise<void> | undefined;
  let leased: Try[] = [];
  let logged: Try[] = [];
  let inFlight = 0;
  let loadAgainMs = 0;
  let stopping = false;
  let whenIdle: (() => void) | undefined;

  function wake(state: ConnectionState): void {
    if (stopping) return;
    circuit.learn(state.circuitOpen);
    if (state.reopened) reopen();
    if (target?.version !== state.version && performance.now() >= loadAgainMs)
      loading ??= load(state.version)
        .catch(report('delivery.load'))
        .finally(() => {
          loading = undefined;
          advance();
          void lease();
        });
    else if (state.due) void lease();
  }

  async function load(version: number): Promise<void> {
    const before = target;
    loadAgainMs = performance.now() + LOAD_AGAIN_MS;
    target = undefined;
    before?.sender.close();
    target = await loadTarget(deps, key, version);
    loadAgainMs = 0;
  }

  function lease(): Promise<void> | undefined {
    if (stopping || target === undefined || leasing !== undefined || results.size > MAX_UNWRITTEN)
      return leasing;
    const busy = inFlight + logged.length + leased.length;
    if (circuit.open ? busy > 0 : leased.length > batchSize.of(target.maxInFlight) / 2) return undefined;
    leasing = leaseBatch(target)
      .catch(report('delivery.lease'))
      .finally(() => {
        leasing = undefined;
        advance();
      });
    return leasing;
  }

  async function leaseBatch(by: LiveTarget): Promise<void> {
    const probe = circuit.open;
    // A probe is one lane; past what may not be sent it is looked for in batches.
    let limit = probe ? 1 : batchSize.of(by.maxInFlight);
    while (await leaseOnce(by, { probe, limit })) limit = batchSize.of(by.maxInFlight);
    if (stopping || circuit.open !== probe) giveBack();
  }

  /** True when a probe is still to be found and may be looked for at once. */
  async function leaseOnce(by: LiveTarget, { probe, limit }: { probe: boolean; limit: number }) {
    const startedMs = performance.now();
    const leaseToken = randomUUID();
    const durationMs = Math.max(settings.leaseMs, 3 * by.timeoutMs);
    // Begun before the database begins the lease, so that it ends before the lease does.
    const leaseEnd = leaseEndAfter(durationMs, deps.now);
    const found = await (probe ? leaseProbe : leaseDue)(db, key, { token: leaseToken, durationMs, limit });
    batchSize.note({ found: found.length, startedMs, starved: leased.length + logged.length === 0 });
    const { purposeOfUse } = by;
    const chosen = chooseTries(found, { probe, purposeOfUse });
    for (const delivery of chosen.tries)
      leased.push({ ...delivery, leaseToken, leaseEnd, purposeOfUse, probe, nonce: randomUUID() });
    setAside(chosen, { leaseToken, leaseEnd });
    if (!probe || found.length === 0 || chosen.sends) return false;
    await probeNow(db, key);
    return !stopping && circuit.open && results.size + leased.length <= MAX_UNWRITTEN;
  }

  function setAside(
    { off, uncovered, spare }: Chosen,
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

  function reopen(): void {
    reopening ??= unpark(db, key, UNPARKED_AT_ONCE)
      .then(() => lease())
      .catch(report('delivery.unpark'))
      .finally(() => {
        reopening = undefined;
      });
  }

  /** Keep every place filled from the one before it. */
  function advance(): void {
    if (target !== undefined && !stopping) {
      sendLogged(target);
      if (leased.length > 0) logLeased(target);
      if (batchSize.likelyMore && leased.length <= batchSize.of(target.maxInFlight) / 2) void lease();
    }
    if (inFlight === 0) whenIdle?.();
  }

  function sendLogged(by: LiveTarget): void {
    while (inFlight < by.maxInFlight) {
      const item = logged.shift();
      if (item === undefined) return;
      void send(item, by);
    }
  }

  function logLeased(by: LiveTarget): void {
    if (logging !== undefined || logged.length >= LOGGED_AHEAD * by.maxInFlight) return;
    // What waited too long to be sent under its lease is left to whoever leases it next.
    const { late = [], inTime = [] } = Object.groupBy(leased, (item) =>
      item.leaseEnd.isWithin(by.timeoutMs) ? 'late' : 'inTime',
    );
    releaseAll(late);
    leased = inTime.slice(2 * LOGGED_AHEAD * by.maxInFlight);
    logging = logAccess(inTime.slice(0, 2 * LOGGED_AHEAD * by.maxInFlight))
      .catch(report('delivery.access-log'))
      .finally(() => {
        logging = undefined;
        advance();
      });
  }

  async function logAccess(batch: Try[]): Promise<void> {
    const entries = batch.map((item) => accessEntry(key, item));
    try {
      await deps.accessLog.record(entries);
    } catch (error) {
      leased.unshift(...batch);
      giveBack();
      throw error;
    }
    batch.forEach((item, index) => {
      if (entries[index]?.outcome === 'allowed') logged.push(item);
      else settleUnsent(item, 'withheld');
    });
    if (stopping || (circuit.open && batch.some((item) => !item.probe))) giveBack();
  }

  async function send(item: Try, by: LiveTarget): Promise<void> {
    inFlight += 1;
    const maySend = () => isStillPermitted(item, by);
    const context = {
      target: by,
      retry: settings.retry,
      now: deps.now,
      counts: () => !circuit.open,
      maySend,
    };
    const tried = await tryDelivery(item, context);
    inFlight -= 1;
    if (tried === undefined) settleUnsent(item, 'unsent');
    else noteTried(item, tried, by);
    advance();
  }

  function noteTried(item: Try, { result, sign, restMs }: Tried, by: LiveTarget): void {
    results.add(result, item.leaseEnd.ms);
    if (result.attempt !== null) deps.onAttempt(key, result.attempt);
    circuit.note(sign, { ...item, restMs });
    void by.noteUse(item.deliveryId, deps.now()).catch(report('delivery.secret-use'));
  }

  /** What may not be sent now is leased again at once, and then withheld, held or set aside, as anything else. */
  async function isStillPermitted(item: Try, by: LiveTarget): Promise<boolean> {
    if (item.purposeOfUse !== by.purposeOfUse) return false;
    const permit = await by.permit(item).catch((error: unknown) => {
      report('delivery.permit')(error);
      return 'changed';
    });
    if (permit === 'outdated') forget(by);
    // The answer may have been long in coming.
    return permit === 'send' && !item.leaseEnd.isWithin(by.timeoutMs);
  }

  /** The connection was changed since: nothing is leased or sent before it is loaded anew. */
  function forget(by: LiveTarget): void {
    if (target === by) target = undefined;
    by.sender.close();
  }

  function settleUnsent(item: Try, why: 'withheld' | 'unsent'): void {
    const result = notSent(item, why, deps.now());
    results.add(result, item.leaseEnd.ms);
    // Past what is withheld the probe was looked for when it was leased.
    if (item.probe && why === 'unsent') probeNow(db, key).catch(report('delivery.circuit'));
    if (result.attempt !== null) deps.onAttempt(key, result.attempt);
  }

  function onCircuit(open: boolean): void {
    const message = open ? 'the exchange is taken for down' : 'the exchange answers again';
    deps.log.warn({ event: 'delivery.circuit', ...key, outcome: open ? 'open' : 'closed' }, message);
    if (open) giveBack();
    else void lease();
  }

  /** Let go of everything that is not in flight. */
  function giveBack(): void {
    const untouched = leased;
    leased = [];
    releaseAll(untouched);
    const unsent = logged;
    logged = [];
    for (const item of unsent) settleUnsent(item, 'unsent');
  }

  function releaseAll(items: readonly Try[]): void {
    for (const [token, of] of Map.groupBy(items, (item) => item.leaseToken))
      release(db, key, { token, patientIds: of.map(({ patientId }) => patientId) }).catch(
        report('delivery.release'),
      );
  }

  async function stop(): Promise<void> {
    stopping = true;
    await Promise.all([loading, leasing, logging, reopening]);
    giveBack();
    const idle = new Promise<void>((resolve) => {
      whenIdle = resolve;
    });
    advance();
    await idle;
    await results.drain(STOP_LIMIT_MS);
    target?.sender.close();
  }

  return { wake, stop };
}
