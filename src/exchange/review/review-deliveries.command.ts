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
import { SOME_REFUSED } from '../../tenancy/organisations/organisation-work.ts';
import { exchangeError } from '../errors.ts';
import type { ReviewOutcome } from './delivery.schema.ts';
import { type DeliveryFilter, listDeliveries } from './delivery.store.ts';
import { filterOf, type Selection, statusOf, withSelection } from './delivery-selection.ts';
import { eachOrganisation, findDeliveries, organisations } from './each-organisation.ts';
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
  const asked = { decision, author: OPERATOR, dryRun: options.dryRun === true };
  const { outcome, failed } = await environment.withSession(async (session) => {
    const { filters, failed } = await filtersOf(session, options);
    const reviewIn = (organisationId: string, filter: DeliveryFilter, dryRun = asked.dryRun) =>
      reviewOne(environment, session, { ...asked, organisationId, filter, dryRun });
    const [only] = filters;
    if (only !== undefined && filters.size === 1) return { outcome: await reviewIn(...only), failed };
    // What is named may be refused: it is before anything is changed.
    const { id, patient } = options;
    if (id !== undefined || patient !== undefined) for (const one of filters) await reviewIn(...one, true);
    const each = await eachOrganisation([...filters.keys()], async (organisationId) => [
      await reviewIn(organisationId, filters.get(organisationId) ?? {}),
    ]);
    return { outcome: together(asked.dryRun, each.found), failed: [...failed, ...each.failed] };
  });
  const verb = decision.action === 'replay' ? 'replayed' : 'skipped';
  const lines = [
    `${outcome.count} ${asked.dryRun ? `would be ${verb}` : verb}`,
    ...failed.map(
      (id) =>
        `The deliveries of organisation ${id} could not be ${verb}. To see why, run the command again with --connection and one of its connections.`,
    ),
  ];
  environment.print({ ...outcome, ...(failed.length === 0 ? {} : { failed }) }, lines.join('\n'));
  if (failed.length > 0) environment.fail(SOME_REFUSED);
}

interface Meant {
  filters: Map<string, DeliveryFilter>;
  /** Ids of the organisations that the database refused, so that it is not known whether they have any of the patient. */
  failed: string[];
}

/** What is meant, by organisation: of a patient, in those that have deliveries of the patient. */
async function filtersOf(session: CommandSession, options: Selection): Promise<Meant> {
  const filter = filterOf(options);
  const { db } = session;
  const { ids } = filter;
  if (ids !== undefined) {
    const found = await findDeliveries(db, { ...filter, ids });
    return {
      filters: new Map(found.map(({ organisationId, ids }) => [organisationId, { ...filter, ids }])),
      failed: [],
    };
  }
  const among = await organisations(db, filter);
  const { found: meant, failed } =
    filter.patientId === undefined
      ? { found: among, failed: [] }
      : await eachOrganisation(among, async (organisationId) => {
          const { length } = await listDeliveries(db, { organisationId }, { filter, limit: 1 });
          return length === 0 ? [] : [organisationId];
        });
  return { filters: new Map(meant.map((organisationId) => [organisationId, filter])), failed };
}

function together(dryRun: boolean, outcomes: readonly ReviewOutcome[]): ReviewOutcome {
  const count = outcomes.reduce((sum, outcome) => sum + outcome.count, 0);
  return { dryRun, count, deliveryIds: outcomes.flatMap(({ deliveryIds }) => deliveryIds) };
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
