/** `interchange delivery list` and `count`. Contract: EXC-28, CMD-14. */
import { Command } from 'commander';
import { type CommandEnvironment, type CommandSession, UsageError } from '../../platform/command/command.ts';
import { isWholeDatabase } from '../../tenancy/organisations/organisation-work.ts';
import { organisationsWithConnections } from '../connections/connection.store.ts';
import type { Delivery } from '../queue/delivery.ts';
import { type QueueState, queueStates } from '../queue/queue-state.store.ts';
import { type DeliveryView, deliveryView } from './delivery.schema.ts';
import { listDeliveries } from './delivery.store.ts';
import { filterOf, organisations, type Selection, statusOf, withSelection } from './delivery-selection.ts';
import { traceForOperator } from './trace-for-operator.ts';

export function listDeliveriesCommand(environment: CommandEnvironment): Command {
  return withSelection(new Command('list'))
    .description('list deliveries, newest first')
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
      environment.print({ items: found }, found.length === 0 ? 'none' : found.map(deliveryLine).join('\n'));
    });
}

export function countDeliveriesCommand(environment: CommandEnvironment): Command {
  return new Command('count')
    .description('count queued and held deliveries, by connection')
    .addHelpText('after', '\nExample:\n  npx interchange delivery count')
    .action(async () => {
      const { states, failed } = await environment.withSession(countEach);
      const lines = states.map(
        (state) =>
          `${state.connectionId}  queued ${state.queued}  held ${state.held}  oldest ${Math.round(state.oldestSeconds)} s${state.breakerOpen ? '  exchange down' : ''}`,
      );
      lines.push(...failed.map((organisationId) => notCounted(organisationId)));
      environment.print({ items: states, failed }, lines.length === 0 ? 'no connections' : lines.join('\n'));
      if (failed.length > 0) environment.fail();
    });
}

/** Organisation by organisation: one whose part of the database does not answer keeps none of the others from being counted. */
async function countEach({ db }: CommandSession): Promise<{ states: QueueState[]; failed: string[] }> {
  const states: QueueState[] = [];
  const failed: string[] = [];
  for (const organisationId of await organisationsWithConnections(db))
    try {
      states.push(...(await queueStates(db, { organisationId })));
    } catch (error) {
      if (isWholeDatabase(error)) throw error;
      failed.push(organisationId);
    }
  return { states, failed };
}

function notCounted(organisationId: string): string {
  return `The deliveries of organisation ${organisationId} could not be counted: the database refused. Its log says why.`;
}

/** One line of a list. */
export function deliveryLine(delivery: DeliveryView): string {
  const { id, status, event, patientId, sequence } = delivery;
  return `${id}  ${status.padEnd(9)}  ${event} #${sequence} of patient ${patientId ?? '(refuses OPS)'}  ${progress(delivery)}`;
}

/** How the last try went, and what comes next. */
function progress({ status, heldReason, lastAttempt, nextAttemptAt, confirmation }: DeliveryView): string {
  const last =
    lastAttempt === null
      ? 'not tried'
      : `${lastAttempt.outcome} ${lastAttempt.status ?? lastAttempt.failure ?? ''}`.trim();
  if (heldReason !== null) return `${heldReason}, ${last}`;
  if (status === 'delivered') return `${last}, ${confirmed(confirmation)}`;
  if (status !== 'queued') return last;
  if (nextAttemptAt === null)
    return `${last}, waits for the delivery before it, or for the exchange module to be on`;
  return `${last}, next try ${nextAttemptAt.toISOString()}`;
}

/** What the exchange said in its callback. */
function confirmed(confirmation: DeliveryView['confirmation']): string {
  if (confirmation === null) return 'not confirmed';
  const { status, assignedId } = confirmation;
  return assignedId === null ? status : `${status} as ${assignedId}`;
}
