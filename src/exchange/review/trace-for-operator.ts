/** Enters what a command shows of patients in the access log: shown to the operator, for OPS (docs/adr/0053). */
import { randomUUID } from 'node:crypto';
import { DEFAULT_PURPOSE_OF_USE } from '../../fhir/purpose-of-use.ts';
import type { CommandEnvironment, CommandSession } from '../../platform/command/command.ts';
import { OPERATOR_ACCOUNT_ID } from '../../privacy/access-log/access-log.ts';
import { withOperatorLog } from '../../privacy/access-log/operator-log.ts';
import { type AboutPatient, type Review, traceShown } from './trace-shown.ts';

type Trace = <Item extends AboutPatient>(items: readonly Item[]) => Promise<(item: Item) => boolean>;

/** `trace` is {@link traceShown} for the operator; the entries of one command have one correlation id. */
export function traceForOperator<Result>(
  environment: Pick<CommandEnvironment, 'now'>,
  session: CommandSession,
  action: Review['action'],
  work: (trace: Trace) => Promise<Result>,
): Promise<Result> {
  const caller = { accountId: OPERATOR_ACCOUNT_ID };
  const review = { caller, purposeOfUse: DEFAULT_PURPOSE_OF_USE, correlationId: randomUUID(), action };
  return withOperatorLog(environment, session, (accessLog) =>
    work((items) => traceShown(accessLog, review, items)),
  );
}
