/** `interchange delivery replay` and `skip`. Contract: EXC-29, CMD-14. */

import { Command } from 'commander';
import { type CommandEnvironment, CommandError, UsageError } from '../../platform/command/command.ts';
import { DomainError } from '../../platform/domain-error.ts';
import { withOperatorLog } from '../../privacy/access-log/operator-log.ts';
import { isOneLine } from '../../tenancy/organisations/name.ts';
import { SOME_REFUSED } from '../../tenancy/organisations/organisation-work.ts';
import { exchangeError } from '../errors.ts';
import { filterOf, type Selection, statusOf, withSelection } from './delivery-selection.ts';
import { type ReviewRequest, reviewDeliveriesForOperator } from './review-deliveries.ts';

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
    .description(
      'give up held deliveries: the chosen ones, or all without options; the next one of each patient is then sent',
    )
    .option(
      '--reason <text>',
      'why you skip them; the reason is kept with the deliveries (required, except with --dry-run)',
    )
    .option('--dry-run', 'show how many deliveries would be changed, and change none')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange delivery skip --id 0197a3c2… --reason "patient entered twice"',
    )
    .action(async ({ reason, ...options }: Selection & { reason?: string; dryRun?: true }) => {
      if (reason === undefined ? options.dryRun !== true : !isOneLine(reason))
        throw new UsageError('Give the reason with --reason "…", as one line of text.');
      await review(environment, options, { action: 'skip', reason: reason ?? null });
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
  const request = { filter: filterOf(options), decision, dryRun: options.dryRun === true };
  const { outcome, failed } = await environment
    .withSession((session) =>
      withOperatorLog(environment, session, (accessLog, operator) =>
        reviewDeliveriesForOperator({ db: session.db, accessLog }, operator, request),
      ),
    )
    .catch(refuse);
  const verb = decision.action === 'replay' ? 'replayed' : 'skipped';
  const lines = [
    `${outcome.count} ${request.dryRun ? `would be ${verb}` : verb}`,
    ...(outcome.heldAgain === undefined
      ? []
      : [
          `${outcome.heldAgain} of them will be held again, because their facility is not in the connection. Add it with connection update, then replay them, or skip them.`,
        ]),
    ...failed.map(
      (id) =>
        `The deliveries of organisation ${id} could not be ${verb}. To see why, run the command again with --connection and one of its connections.`,
    ),
    ...(decision.action === 'replay' && outcome.count > 0 && !request.dryRun
      ? ['To see whether the exchange takes them: npx interchange delivery list']
      : []),
  ];
  environment.print({ ...outcome, ...(failed.length === 0 ? {} : { failed }) }, lines.join('\n'));
  if (failed.length > 0) environment.fail(SOME_REFUSED);
}

/** What a caller over HTTP is told of ids and purposes is of no use here. */
function refuse(error: unknown): never {
  const code = error instanceof DomainError ? error.code : undefined;
  if (code === 'not_found') throw exchangeError('unknown_delivery', undefined, { cause: error });
  if (code === 'purpose_refused')
    throw new CommandError(
      'The patient refuses the purpose of use OPS, so --patient cannot be used. Name the deliveries with --id.',
      { cause: error },
    );
  throw error;
}
