/**
 * The second and the last stage of delivery: writes the access of what was leased into the access log, then sends it, a
 * few at a time, and notes how it went.
 * Contract: EXC-24, EXC-26, EXC-27.
 */
import { type Span, traced } from '../../platform/trace/trace.ts';
import type { DeliveryResult } from '../queue/settle.store.ts';
import type { LoadedConnection } from './loaded-connection.ts';
import { giveBack, type Runner, releaseTries, settleUnsent, singleTask } from './runner.ts';
import { deliveryAccess, type Tried, type Try, tryDelivery } from './try-delivery.ts';

/** How many times as many deliveries as fit in flight are logged ahead, so that senders do not wait for the log. */
const LOGGED_AHEAD = 2;

export function createLogStage(runner: Runner) {
  const task = singleTask(
    async () => {
      if (runner.connection !== undefined) await logAccess(runner, takeLeased(runner, runner.connection));
    },
    { onError: runner.report('delivery.access-log'), onEnd: () => runner.advance() },
  );
  return {
    /** Resolves when nothing is being logged. */
    get ended() {
      return task.ended;
    },
    /** Log what is leased, if there is room for it. */
    log() {
      const { connection, leased, logged } = runner;
      if (connection === undefined || leased.length === 0) return;
      if (logged.length < LOGGED_AHEAD * connection.maxInFlight) task.run();
    },
  };
}

/** The next tries. A delivery that waited too long for its lease is given back. */
function takeLeased(runner: Runner, { timeoutMs, maxInFlight }: LoadedConnection): Try[] {
  const { late = [], inTime = [] } = Object.groupBy(runner.leased, ({ leaseEnd }) =>
    leaseEnd.isWithin(timeoutMs) ? 'late' : 'inTime',
  );
  releaseTries(runner, late);
  const most = 2 * LOGGED_AHEAD * maxInFlight;
  runner.leased = inTime.slice(most);
  return inTime.slice(0, most);
}

async function logAccess(runner: Runner, batch: Try[]): Promise<void> {
  const entries = batch.map((item) => deliveryAccess(runner.key, item));
  try {
    await runner.deps.accessLog.record(entries);
  } catch (error) {
    runner.leased.unshift(...batch);
    giveBack(runner);
    throw error;
  }
  batch.forEach((item, index) => {
    if (entries[index]?.outcome === 'allowed') runner.logged.push(item);
    else settleUnsent(runner, item, 'withheld');
  });
  if (runner.stopping || (runner.breaker.open && batch.some((item) => !item.probe))) giveBack(runner);
}

/** Fill the free places in flight. */
export function sendLogged(runner: Runner, connection: LoadedConnection): void {
  while (runner.inFlight < connection.maxInFlight) {
    const item = runner.logged.shift();
    if (item === undefined) return;
    void send(runner, item, connection);
  }
}

async function send(runner: Runner, item: Try, connection: LoadedConnection): Promise<void> {
  const { deps, breaker } = runner;
  runner.inFlight += 1;
  const span = trySpan(runner, item);
  const tried = await traced(span, async () => {
    const outcome = await tryDelivery(item, {
      connection,
      retry: deps.settings.retry,
      now: deps.now,
      counts: () => !breaker.open,
      maySend: () => isStillPermitted(runner, item, connection),
    });
    span.attributes['interchange.outcome'] = outcome?.result.attempt?.outcome ?? 'unsent';
    return outcome;
  });
  runner.inFlight -= 1;
  if (tried === undefined) settleUnsent(runner, item, 'unsent');
  else noteTried(runner, item, { ...tried, connection });
  runner.advance();
}

function trySpan({ key }: Runner, { deliveryId, attempts, nonce }: Try): Span {
  return {
    name: 'delivery try',
    kind: 'internal',
    attributes: {
      'interchange.connection_id': key.connectionId,
      'interchange.delivery_id': deliveryId,
      'interchange.attempt': attempts + 1,
      'interchange.correlation_id': nonce,
    },
  };
}

function noteTried(
  runner: Runner,
  item: Try,
  { result, health, restMs, connection }: Tried & { connection: LoadedConnection },
): void {
  const { deps, key, results, breaker, report } = runner;
  // What was sent before a change of the connection says nothing of the address and the secret that it has now.
  const isChanged = runner.connection !== connection;
  results.add(isChanged ? withoutDelay(result) : result, item.leaseEnd.ms);
  if (result.attempt !== null) deps.onAttempt(key, result.attempt, item.facilityId);
  if (!isChanged) breaker.note(health, { ...item, restMs });
  void connection.noteUse(item.deliveryId, deps.now()).catch(report('delivery.secret-use'));
}

/** The next try goes at once, also where this was to be the last one. What was refused for good stays so. */
function withoutDelay(result: DeliveryResult): DeliveryResult {
  const { next } = result;
  const failed = next.kind === 'retry' || (next.kind === 'hold' && next.reason === 'retries_exhausted');
  return failed ? { ...result, next: { kind: 'retry', afterMs: 0 } } : result;
}

/** A delivery that may not be sent now is leased again at once. The lease then decides: withhold it, hold it or let it wait. */
async function isStillPermitted(runner: Runner, item: Try, connection: LoadedConnection): Promise<boolean> {
  if (item.purposeOfUse !== connection.purposeOfUse) return false;
  const permit = await connection.permit(item).catch((error: unknown) => {
    runner.report('delivery.permit')(error);
    return 'changed';
  });
  if (permit === 'outdated') forget(runner, connection);
  // The answer may have been long in coming.
  return permit === 'send' && !item.leaseEnd.isWithin(connection.timeoutMs);
}

/** The connection was changed since: nothing is leased or sent before it is loaded anew. */
function forget(runner: Runner, connection: LoadedConnection): void {
  if (runner.connection === connection) runner.connection = undefined;
  connection.sender.close();
}
