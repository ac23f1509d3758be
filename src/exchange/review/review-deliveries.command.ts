/** `interchange delivery replay` and `skip`. Contract: EXC-29, CMD-14. */

import { Command } from 'commander';
import {
  type CommandEnvironment,
  CommandError,
  type CommandSession,
  UsageError,
} from '../../platform/command/command.ts';
import { DomainError } from '../../platform/domain-error.ts';
import { OPERATOR } from '../../tenancy/administration/author.ts';
import { isOneLine } from '../../tenancy/organisations/name.ts';
import { exchangeError } from '../errors.ts';
import type { ReviewOutcome } from './delivery.schema.ts';
import { filterOf, organisations, type Selection, statusOf, withSelection } from './delivery-selection.ts';
import { type ReviewRequest, reviewDeliveries } from './review-deliveries.ts';
import { traceForOperator } from './trace-for-operator.ts';

const HELD_ONLY = 'only held deliveries can be chosen, so this option may be left out';

export function replayDeliveriesCommand(environment: CommandEnvironment): Command {
  return withSelection(new Command('replay'), HELD_ONLY)
    .description('try held deliveries again: the chosen ones, or all without options')
    .option('--dry-run', 'show how many deliveries would be changed, and change none')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange delivery replay --connection 7f0c… --since 2026-03-01 --dry-run',
    )
    .action(async (options: Selection & { dryRun?: true }) => {
      await review(environment, options, { action: 'replay', reason: null });
    });
}

export function skipDeliveriesCommand(environment: CommandEnvironment): Command {
  return withSelection(new Command('skip'), HELD_ONLY)
    .description('give up held deliveries; the next delivery of the same patient is then sent')
    .requiredOption('--reason <text>', 'why you skip them; the reason is kept with the deliveries')
    .option('--dry-run', 'show how many deliveries would be changed, and change none')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange delivery skip --id 0197a3c2… --reason "patient entered twice"',
    )
    .action(async ({ reason, ...options }: Selection & { reason: string; dryRun?: true }) => {
      if (!isOneLine(reason)) throw new UsageError('Give the reason with --reason "…", as one line of text.');
      await review(environment, options, { action: 'skip', reason });
    });
}

async function review(
  environment: CommandEnvironment,
  options: Selection & { dryRun?: true },
  decision: ReviewRequest['decision'],
): Promise<void> {
  if (statusOf(options.status) !== undefined && options.status !== 'held')
    throw new UsageError(
      'Only held deliveries can be replayed or skipped. Use --status held, or leave the option out.',
    );
  const filter = filterOf(options);
  const dryRun = options.dryRun === true;
  const outcome = await environment.withSession(async (session) => {
    const total: ReviewOutcome = { dryRun, count: 0, deliveryIds: [] };
    for (const organisationId of await organisations(session, options)) {
      const request = { organisationId, filter, decision, author: OPERATOR, dryRun };
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
  try {
    return await traceForOperator(environment, session, 'delivery.list', (trace) =>
      reviewDeliveries({ db: session.db, trace }, request, request),
    );
  } catch (error) {
    const code = error instanceof DomainError ? error.code : undefined;
    if (code === 'not_found') throw exchangeError('unknown_delivery', undefined, { cause: error });
    if (code === 'purpose_refused')
      throw new CommandError(
        'The patient refuses the purpose of use OPS, so --patient cannot be used. Name the deliveries with --id.',
        { cause: error },
      );
    throw error;
  }
}
