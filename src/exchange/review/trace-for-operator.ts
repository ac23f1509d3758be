/** Enters what a command shows of patients in the access log: shown to the operator, for OPS (docs/adr/0053). */
import type { CommandEnvironment, CommandSession } from '../../platform/command/command.ts';
import { withOperatorLog } from '../../privacy/access-log/operator-log.ts';
import { type AboutPatient, type Review, traceShown } from './trace-shown.ts';

type Trace = <Item extends AboutPatient>(items: readonly Item[]) => Promise<(item: Item) => boolean>;

/** `trace` is {@link traceShown} for the operator. */
export function traceForOperator<Result>(
  environment: Pick<CommandEnvironment, 'now'>,
  session: CommandSession,
  action: Review['action'],
  work: (trace: Trace) => Promise<Result>,
): Promise<Result> {
  return withOperatorLog(environment, session, (accessLog, operator) =>
    work((items) => traceShown(accessLog, { ...operator, action }, items)),
  );
}
