/** Enters what a command shows of patients in the access log: shown to the operator, for OPS (docs/adr/0053). */
import { randomUUID } from 'node:crypto';
import { DEFAULT_PURPOSE_OF_USE } from '../../fhir/purpose-of-use.ts';
import type { CommandEnvironment, CommandSession } from '../../platform/command/command.ts';
import { OPERATOR_ACCOUNT_ID } from '../../privacy/access-log/access-log.ts';
import { createAccessLogWriter } from '../../privacy/access-log/access-log.writer.ts';
import { newestChainKey } from '../../privacy/access-log/access-log-keys.ts';
import { type AboutPatient, type Review, traceShown } from './trace-shown.ts';

type Trace = <Item extends AboutPatient>(items: readonly Item[]) => Promise<(item: Item) => boolean>;

/** See {@link traceShown}. */
export async function traceForOperator<Item extends AboutPatient>(
  environment: Pick<CommandEnvironment, 'now'>,
  session: CommandSession,
  { action, items }: { action: Review['action']; items: readonly Item[] },
): Promise<(item: Item) => boolean> {
  return withOperatorTrace(environment, session, action, (trace) => trace(items));
}

/** The same for several lists, one after the other. */
export async function withOperatorTrace<Result>(
  { now }: Pick<CommandEnvironment, 'now'>,
  { db, keys }: CommandSession,
  action: Review['action'],
  work: (trace: Trace) => Promise<Result>,
): Promise<Result> {
  const accessLog = createAccessLogWriter({
    pool: db,
    chainKey: (on) => newestChainKey(keys, on),
    now,
    onError: () => undefined,
  });
  const purposeOfUse = DEFAULT_PURPOSE_OF_USE;
  const review = { accountId: OPERATOR_ACCOUNT_ID, purposeOfUse, correlationId: randomUUID(), action };
  try {
    return await work((items) => traceShown(accessLog, review, items));
  } finally {
    await accessLog.close();
  }
}
