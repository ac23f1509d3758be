/** `interchange delivery …`: review of deliveries, for the operator (design section 5). */
import { Command } from 'commander';
import { parseDateTime } from '../fhir/date-time.ts';
import {
  type CommandEnvironment,
  CommandError,
  type CommandSession,
  UsageError,
} from '../platform/command/command.ts';
import { HttpError } from '../platform/http/errors.ts';
import { isUuid } from '../tenancy/check-access.ts';
import { requireConnection } from './connection.command.ts';
import { organisationsWithConnections } from './connection.store.ts';
import { deliveryDetailView, deliveryView } from './delivery.schema.ts';
import { listDeliveries, readDelivery } from './delivery.store.ts';
import { DELIVERY_STATUSES, type Delivery, type DeliveryFilter, type DeliveryStatus } from './delivery.ts';
import { queueStates } from './queue-state.store.ts';
import { type ReviewOutcome, reviewDeliveries } from './review-deliveries.ts';

interface Selection {
  id?: string[];
  connection?: string;
  patient?: string;
  status?: string;
  since?: string;
  until?: string;
}

export function listDeliveriesCommand(environment: CommandEnvironment): Command {
  return withSelection(new Command('list'))
    .description('deliveries, newest first')
    .option('--limit <n>', 'how many at most', '50')
    .addHelpText('after', '\nExample:\n  npx interchange delivery list --status held --since 2026-03-01')
    .action(async ({ limit, ...selection }: Selection & { limit: string }) => {
      const most = Number(limit);
      if (!Number.isInteger(most) || most < 1 || most > 10_000)
        throw new UsageError('--limit must be from 1 to 10000.');
      const status = statusOf(selection.status);
      const filter = filterOf(selection);
      const found = await environment.withSession(async (session) => {
        const lists: Delivery[] = [];
        for (const organisationId of await organisations(session, selection))
          lists.push(
            ...(await listDeliveries(session.db, { organisationId }, { filter, status, limit: most })),
          );
        return lists.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, most);
      });
      environment.print(
        { items: found.map(deliveryView) },
        found.length === 0 ? 'none' : found.map(line).join('\n'),
      );
    });
}

export function showDeliveryCommand(environment: CommandEnvironment): Command {
  return new Command('show')
    .description('one delivery with every attempt and decision, without its payload')
    .requiredOption('--id <id>', 'delivery')
    .addHelpText('after', '\nExample:\n  npx interchange delivery show --id 0197a3c2…')
    .action(async ({ id }: { id: string }) => {
      if (!isUuid(id))
        throw new UsageError('--id must be a UUID. Find it with: npx interchange delivery list');
      await environment.withSession(async (session) => {
        for (const organisationId of await organisationsWithConnections(session.db)) {
          const found = await readDelivery(session.db, { organisationId }, id);
          if (found === undefined) continue;
          const view = deliveryDetailView(found);
          const attempts = view.attempts.map(
            (attempt) =>
              `  ${attempt.startedAt}  ${attempt.outcome.padEnd(9)}  ${attempt.status ?? attempt.failure ?? '-'}  ${attempt.durationMs} ms${attempt.counted ? '' : '  (not counted)'}`,
          );
          const reviews = view.reviews.map(
            (review) => `  ${review.decidedAt}  ${review.action}  ${review.reason ?? ''}`,
          );
          environment.print(view, [line(found), ...attempts, ...reviews].join('\n'));
          return;
        }
        throw new CommandError(`There is no delivery ${id}. Find it with: npx interchange delivery list`);
      });
    });
}

export function countDeliveriesCommand(environment: CommandEnvironment): Command {
  return new Command('count')
    .description('how many deliveries wait and are held, by connection')
    .addHelpText('after', '\nExample:\n  npx interchange delivery count')
    .action(async () => {
      const states = await environment.withSession(({ db }) => queueStates(db));
      const lines = states.map(
        (state) =>
          `${state.connectionId}  queued ${state.queued}  held ${state.held}  oldest ${Math.round(state.oldestSeconds)} s${state.circuitOpen ? '  exchange down' : ''}`,
      );
      environment.print({ items: states }, lines.length === 0 ? 'no connections' : lines.join('\n'));
    });
}

export function replayDeliveriesCommand(environment: CommandEnvironment): Command {
  return withSelection(new Command('replay'))
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
  return withSelection(new Command('skip'))
    .description('give up held deliveries; their lanes go on with what is behind them')
    .option('--reason <text>', 'why; it is kept with the delivery (required)')
    .option('--dry-run', 'only say how many')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange delivery skip --id 0197a3c2… --reason "patient entered twice"',
    )
    .action(async ({ reason, ...options }: Selection & { reason?: string; dryRun?: true }) => {
      if (reason === undefined || reason.trim() === '') throw new UsageError('Say why with --reason "…".');
      await review(environment, options, { action: 'skip', reason, accountId: null });
    });
}

type Decision = Parameters<typeof reviewDeliveries>[2]['decision'];

async function review(
  environment: CommandEnvironment,
  options: Selection & { dryRun?: true },
  decision: Decision,
): Promise<void> {
  if (statusOf(options.status) !== undefined && options.status !== 'held')
    throw new UsageError('Only held deliveries can be replayed or skipped: --status held.');
  const filter = filterOf(options);
  const dryRun = options.dryRun === true;
  const outcome = await environment.withSession(async (session) => {
    const total: ReviewOutcome = { dryRun, count: 0, deliveryIds: [] };
    for (const organisationId of await organisations(session, options)) {
      const done = await reviewOne(session, { organisationId }, { filter, decision, dryRun });
      total.count += done.count;
      total.deliveryIds.push(...done.deliveryIds);
    }
    return total;
  });
  const verb = decision.action === 'replay' ? 'replayed' : 'skipped';
  environment.print(outcome, `${outcome.count} ${dryRun ? `would be ${verb}` : verb}`);
}

async function reviewOne(
  { db }: CommandSession,
  scope: { organisationId: string },
  request: Parameters<typeof reviewDeliveries>[2],
): Promise<ReviewOutcome> {
  const named = request.filter.ids !== undefined;
  try {
    return await reviewDeliveries(db, scope, request);
  } catch (error) {
    if (!(named && error instanceof HttpError)) throw error;
    throw new CommandError(
      error.statusCode === 404
        ? 'There is no such delivery. Find it with: npx interchange delivery list --status held'
        : 'A delivery named is not held, so there is nothing to decide. Look at it with: npx interchange delivery show',
    );
  }
}

/** The organisation of the connection or delivery that is named, or all that have connections. */
async function organisations(session: CommandSession, { connection, id }: Selection): Promise<string[]> {
  if (connection !== undefined) return [(await requireConnection(session, connection)).organisationId];
  const all = await organisationsWithConnections(session.db);
  if (id === undefined) return all;
  const holding: string[] = [];
  for (const organisationId of all) {
    const found = await listDeliveries(session.db, { organisationId }, { filter: { ids: id }, limit: 1 });
    if (found.length > 0) holding.push(organisationId);
  }
  if (holding.length === 0)
    throw new CommandError(
      'There is no such delivery. Find it with: npx interchange delivery list --status held',
    );
  return holding;
}

function withSelection(command: Command): Command {
  return command
    .option('--id <ids>', 'these deliveries, separated by commas', (text: string) =>
      text.split(',').map((id) => id.trim()),
    )
    .option('--connection <id>', 'of this connection')
    .option('--patient <id>', 'of this patient')
    .option('--status <status>', `one of ${DELIVERY_STATUSES.join(', ')}`)
    .option('--since <time>', 'queued at or after: a date (UTC) or a date-time with a zone')
    .option('--until <time>', 'queued before');
}

function filterOf({ id, connection, patient, since, until }: Selection): DeliveryFilter {
  if (id?.every(isUuid) === false) throw new UsageError('--id must be UUIDs, separated by commas.');
  if (patient !== undefined && !isUuid(patient)) throw new UsageError('--patient must be a UUID.');
  return {
    ids: id,
    connectionId: connection,
    patientId: patient,
    since: timeOf('--since', since),
    until: timeOf('--until', until),
  };
}

function statusOf(text: string | undefined): DeliveryStatus | undefined {
  const status = DELIVERY_STATUSES.find((one) => one === text);
  if (text !== undefined && status === undefined)
    throw new UsageError(`--status must be one of ${DELIVERY_STATUSES.join(', ')}.`);
  return status;
}

function timeOf(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const parsed = parseDateTime(text);
  if (parsed === undefined)
    throw new UsageError(
      `${option} must be a date or a date-time with a zone, such as 2026-03-01T08:00:00Z.`,
    );
  return parsed.span('UTC').start;
}

function line(delivery: Delivery): string {
  const { id, status, event, patientId, sequence, heldReason, lastAttempt } = delivery;
  const last =
    lastAttempt === null ? 'not tried' : `${lastAttempt.outcome} ${lastAttempt.status ?? ''}`.trim();
  return `${id}  ${status.padEnd(9)}  ${event} #${sequence} of patient ${patientId}  ${heldReason ?? last}`;
}
