/** The last stage of delivery: sends what is logged, a few at a time, and notes how it went. Contract: EXC-24, EXC-27. */
import type { LoadedConnection } from './loaded-connection.ts';
import { type Runner, settleUnsent } from './runner.ts';
import { type Tried, type Try, tryDelivery } from './try-delivery.ts';

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
  const tried = await tryDelivery(item, {
    connection,
    retry: deps.settings.retry,
    now: deps.now,
    counts: () => !breaker.open,
    maySend: () => isStillPermitted(runner, item, connection),
  });
  runner.inFlight -= 1;
  if (tried === undefined) settleUnsent(runner, item, 'unsent');
  else noteTried(runner, item, { ...tried, connection });
  runner.advance();
}

function noteTried(
  { deps, key, results, breaker, report }: Runner,
  item: Try,
  { result, health, restMs, connection }: Tried & { connection: LoadedConnection },
): void {
  results.add(result, item.leaseEnd.ms);
  if (result.attempt !== null) deps.onAttempt(key, result.attempt);
  breaker.note(health, { ...item, restMs });
  void connection.noteUse(item.deliveryId, deps.now()).catch(report('delivery.secret-use'));
}

/** What may not be sent now is leased again at once, and then withheld, held or set aside, as anything else. */
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
