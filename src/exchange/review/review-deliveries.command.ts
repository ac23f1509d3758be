/** `interchange delivery replay` and `skip`. Contract: EXC-29, CMD-14. */
import { Command } from 'commander';
import {
  type CommandEnvironment,
  CommandError,
  type CommandSession,
  UsageError,
} from '../../platform/command/command.ts';
import { HttpError } from '../../platform/http/errors.ts';
import { DELIVERY_STATUSES, type Delivery } from '../queue/delivery.ts';
import { filterOf, organisations, type Selection, statusOf, withSelection } from './delivery-selection.ts';
import { isReason, type ReviewOutcome, type ReviewRequest, reviewDeliveries } from './review-deliveries.ts';
import { traceForOperator } from './trace-for-operator.ts';

const HELD_ONLY = `held, as without it: of ${DELIVERY_STATUSES.join(', ')} no other is decided on`;

export function replayDeliveriesCommand(environment: CommandEnvironment): Command {
  return withSelection(new Command('replay'), HELD_ONLY)
    .description('try held deliveries again; without a filter, all of them')
    .option('--dry-run', 'only say how many')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange delivery replay --connection 7f0c… --since 2026-03-01 --dry-run',
    )
    .action(async (options: Selection & { dryRun?: true }) => {
      await review(environment, options, { action: 'replay', reason: null, accountId: null });
    });
}

export function skipDeliveriesCommand(environment: CommandEnvironment): Command {
  return withSelection(new Command('skip'), HELD_ONLY)
    .description('give up held deliveries; their lanes go on with what is behind them')
    .requiredOption('--reason <text>', 'why; it is kept with the delivery')
    .option('--dry-run', 'only say how many')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange delivery skip --id 0197a3c2… --reason "patient entered twice"',
    )
    .action(async ({ reason, ...options }: Selection & { reason: string; dryRun?: true }) => {
      if (!isReason(reason)) throw new UsageError('Say why, in one line, with --reason "…".');
      await review(environment, options, { action: 'skip', reason, accountId: null });
    });
}

async function review(
  environment: CommandEnvironment,
  options: Selection & { dryRun?: true },
  decision: ReviewRequest['decision'],
): Promise<void> {
  if (statusOf(options.status) !== undefined && options.status !== 'held')
    throw new UsageError('Only held deliveries can be replayed or skipped: --status held.');
  const filter = filterOf(options);
  const dryRun = options.dryRun === true;
  const outcome = await environment.withSession(async (session) => {
    const total: ReviewOutcome = { dryRun, count: 0, deliveryIds: [] };
    for (const organisationId of await organisations(session, options)) {
      const request = { organisationId, filter, decision, dryRun };
      const done = await reviewOne(environment, session, request);
      total.count += done.count;
      total.deliveryIds.push(...done.deliveryIds);
    }
    return total;
  });
  const verb = decision.action === 'replay' ? 'replayed' : 'skipped';
  environment.print(outcome, `${outcome.count} ${dryRun ? `would be ${verb}` : verb}`);
}

async function reviewOne(
  environment: CommandEnvironment,
  session: CommandSession,
  request: ReviewRequest & { organisationId: string },
): Promise<ReviewOutcome> {
  const trace = (items: readonly Delivery[]) =>
    traceForOperator(environment, session, { action: 'delivery.list', items });
  try {
    return await reviewDeliveries({ db: session.db, trace }, request, request);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw new CommandError(WHY_NOT[error.statusCode] ?? error.message);
  }
}

const WHY_NOT: Record<number, string> = {
  403: 'The patient refuses the purpose of use OPS. Decide by --id.',
  404: 'There is no such delivery. Find it with: npx interchange delivery list --status held',
  409: 'A delivery named is not held, or not one that the other options mean. Look at it with: npx interchange delivery show',
};
