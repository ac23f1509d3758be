/** `interchange delivery list`, `show` and `count` */
import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import {
  type CommandEnvironment,
  CommandError,
  type CommandSession,
  UsageError,
} from '../platform/command/command.ts';
import { isUuid } from '../platform/uuid.ts';
import { OPERATOR_ACCOUNT_ID } from '../privacy/access-log.ts';
import { createAccessLogWriter } from '../privacy/access-log.writer.ts';
import { DEFAULT_PURPOSE_OF_USE } from '../privacy/purpose-of-use.ts';
import { organisationsWithConnections } from './connection.store.ts';
import { type DeliveryView, deliveryDetailView, deliveryView } from './delivery.schema.ts';
import { listDeliveries, readDelivery } from './delivery.store.ts';
import type { Delivery } from './delivery.ts';
import { filterOf, organisations, type Selection, statusOf, withSelection } from './delivery-selection.ts';
import { queueStates } from './queue-state.store.ts';
import { type Review, traceShown } from './trace-shown.ts';

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
        const newest = lists.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, most);
        const mayShow = await traceForOperator(environment, session, {
          action: 'delivery.list',
          items: newest,
        });
        return newest.map((delivery) => deliveryView(delivery, mayShow(delivery)));
      });
      environment.print({ items: found }, found.length === 0 ? 'none' : found.map(line).join('\n'));
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
          const shown = { action: 'delivery.read' as const, items: [found] };
          const mayShow = await traceForOperator(environment, session, shown);
          const view = deliveryDetailView(found, mayShow(found));
          const attempts = view.attempts.map(
            (attempt) =>
              `  ${attempt.startedAt}  ${attempt.outcome.padEnd(9)}  ${attempt.status ?? attempt.failure ?? '-'}  ${attempt.durationMs} ms${attempt.counted ? '' : '  (not counted)'}`,
          );
          const reviews = view.reviews.map(
            (review) => `  ${review.decidedAt}  ${review.action}  ${review.reason ?? ''}`,
          );
          environment.print(view, [line(view), ...attempts, ...reviews].join('\n'));
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

/** {@link traceShown} for the operator, whose purpose is OPS. */
async function traceForOperator(
  environment: CommandEnvironment,
  { db, keys }: CommandSession,
  { action, items }: { action: Review['action']; items: Delivery[] },
): Promise<(delivery: Delivery) => boolean> {
  const key = keys.derive('access-log');
  const accessLog = createAccessLogWriter({ pool: db, key, now: environment.now, onError: () => undefined });
  const purposeOfUse = DEFAULT_PURPOSE_OF_USE;
  const review = { accountId: OPERATOR_ACCOUNT_ID, purposeOfUse, correlationId: randomUUID(), action };
  try {
    return await traceShown(accessLog, review, items);
  } finally {
    await accessLog.close();
  }
}

function line(delivery: DeliveryView): string {
  const { id, status, event, patientId, sequence } = delivery;
  return `${id}  ${status.padEnd(9)}  ${event} #${sequence} of patient ${patientId ?? '(refuses OPS)'}  ${progress(delivery)}`;
}

/** How the last try went, and what comes next. */
function progress({ status, heldReason, lastAttempt, nextAttemptAt }: DeliveryView): string {
  const last =
    lastAttempt === null
      ? 'not tried'
      : `${lastAttempt.outcome} ${lastAttempt.status ?? lastAttempt.failure ?? ''}`.trim();
  if (heldReason !== null) return `${heldReason}, ${last}`;
  if (status !== 'queued') return last;
  if (nextAttemptAt === null) return `${last}, waits for the one before it or for its module`;
  return `${last}, next try ${nextAttemptAt}`;
}
