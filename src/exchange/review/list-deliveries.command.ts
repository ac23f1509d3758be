/** `interchange delivery list` and `count`. Contract: EXC-28, CMD-14, OPS-39. */
import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { withOperatorLog } from '../../privacy/access-log/operator-log.ts';
import { SOME_REFUSED } from '../../tenancy/organisations/organisation-work.ts';
import type { DeliveryView } from './delivery.schema.ts';
import { filterOf, type Selection, statusOf, withSelection } from './delivery-selection.ts';
import { type CountedConnection, countDeliveries, listDeliveriesForOperator } from './list-deliveries.ts';

export function listDeliveriesCommand(environment: CommandEnvironment): Command {
  return withSelection(new Command('list'))
    .description('list deliveries, newest first')
    .option('--limit <n>', 'how many at most', '50')
    .option('--dry-run', 'changes nothing: a list never does')
    .addHelpText('after', '\nExample:\n  npx interchange delivery list --status held --since 2026-03-01')
    .action(async ({ limit, ...selection }: Selection & { limit: string }) => {
      const most = Number(limit);
      if (!Number.isInteger(most) || most < 1 || most > 10_000)
        throw new UsageError('--limit must be from 1 to 10000.');
      const status = statusOf(selection.status);
      const query = { filter: filterOf(selection), status, limit: most };
      const { found, failed, more } = await environment.withSession((session) =>
        withOperatorLog(environment, session, (accessLog, operator) =>
          listDeliveriesForOperator({ db: session.db, accessLog }, operator, query),
        ),
      );
      const isOfSeveral = (of: 'connectionId' | 'organisationId') =>
        new Set(found.map((delivery) => delivery[of])).size > 1;
      const [hasIds, hasOrganisations] = [isOfSeveral('connectionId'), isOfSeveral('organisationId')];
      const lineOf = (delivery: DeliveryView) =>
        `${deliveryLine(delivery, hasOrganisations)}${hasIds ? `, connection ${delivery.connectionId}` : ''}`;
      const lines = [...found.map(lineOf), ...failed.map((id) => refused(id, 'listed'))];
      if (more)
        lines.push(
          'There are older ones. See more with --limit, or choose with --status, --since or --until.',
        );
      environment.print({ items: found, failed, more }, lines.length === 0 ? 'none' : lines.join('\n'));
      if (failed.length > 0) environment.fail(SOME_REFUSED);
    });
}

export function countDeliveriesCommand(environment: CommandEnvironment): Command {
  return new Command('count')
    .description('count queued and held deliveries, by connection')
    .option('--organisation <id>', 'of this organisation')
    .option('--connection <id>', 'of this connection')
    .addHelpText('after', '\nExample:\n  npx interchange delivery count')
    .action(async ({ organisation, connection }: Pick<Selection, 'organisation' | 'connection'>) => {
      const filter = { organisationId: organisation, connectionId: connection };
      const { found, failed } = await environment.withSession(({ db }) => countDeliveries(db, filter));
      const lines = found.map(countLine);
      lines.push(...failed.map((organisationId) => refused(organisationId, 'counted')));
      environment.print({ items: found, failed }, lines.length === 0 ? 'no connections' : lines.join('\n'));
      if (failed.length > 0) environment.fail(SOME_REFUSED);
    });
}

function countLine(counted: CountedConnection): string {
  const { connectionId, connectionName, queued, held, oldestSeconds } = counted;
  const state = counted.breakerOpen ? '  deliveries fail' : counted.connectionEnabled ? '' : '  disabled';
  return `${connectionId}  ${connectionName}  queued ${queued}  held ${held}  oldest ${Math.round(oldestSeconds)} s${state}`;
}

function refused(organisationId: string, what: 'counted' | 'listed'): string {
  return `The deliveries of organisation ${organisationId} could not be ${what}: the database refused. Its log says why.`;
}

/** One line of a list. Where it is of several organisations, each line names its own. */
export function deliveryLine(delivery: DeliveryView, hasOrganisations = false): string {
  const { id, status, event, patientId, sequence } = delivery;
  const of = hasOrganisations ? ` of ${delivery.organisationName}` : '';
  const to = `${delivery.connectionName}${of}${delivery.connectionEnabled ? '' : ' (disabled)'}`;
  return `${id}  ${status.padEnd(9)}  ${event} #${sequence} of patient ${patientId ?? '(refuses OPS)'} to ${to}  ${progress(delivery)}`;
}

/** How the last try went, and what comes next. */
function progress(delivery: DeliveryView): string {
  const { status, heldReason, lastAttempt, lastReview } = delivery;
  const last =
    lastAttempt === null
      ? 'not tried'
      : `${lastAttempt.outcome} ${lastAttempt.status ?? lastAttempt.failure ?? ''}`.trim();
  if (heldReason !== null) return `${heldReason}, ${last}`;
  if (status === 'delivered') return `${last}, ${confirmed(delivery)}`;
  if (status === 'skipped') return `${last}, ${skipped(lastReview)}`;
  if (status !== 'queued') return last;
  return `${last}, ${next(delivery)}`;
}

/** What a queued delivery waits for, and what to do about it. */
function next({ waitReason, waitsForId, connectionId, facilityId, nextAttemptAt }: DeliveryView): string {
  const first = `waits for delivery ${waitsForId} of the same patient, which is`;
  if (waitReason === 'earlier_delivery') return `${first} sent first`;
  if (waitReason === 'held_delivery') return `${first} held: replay or skip that one`;
  if (waitReason === 'connection_disabled')
    return `waits: the connection is disabled. Enable it with: npx interchange connection enable --id ${connectionId}`;
  if (waitReason === 'module_disabled')
    return `waits: the module exchange is off for facility ${facilityId}. Turn it on with: npx interchange facility modules`;
  if (nextAttemptAt === null) return 'next try as soon as a worker looks';
  return `next try not before ${nextAttemptAt.toISOString()}`;
}

/** When it was skipped, by whom, and why. A reason that speaks of a patient who refuses the purpose is left out. */
function skipped(review: DeliveryView['lastReview']): string {
  if (review === null) return 'skipped';
  const { decidedAt, accountId, reason } = review;
  const who = accountId === null ? 'an operator' : `account ${accountId}`;
  return `skipped ${decidedAt.toISOString()} by ${who}${reason === null ? '' : `: ${reason}`}`;
}

/** What the exchange said in its callback, which is not shown of a patient who refuses the purpose. */
function confirmed({ patientId, confirmation }: DeliveryView): string {
  if (patientId === null) return 'confirmation not shown';
  if (confirmation === null) return 'not confirmed';
  const { status, assignedId } = confirmation;
  return assignedId === null ? status : `${status} as ${assignedId}`;
}
