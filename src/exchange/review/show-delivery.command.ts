/** `interchange delivery show`. Contract: EXC-33. */
import { Command } from 'commander';
import { type CommandEnvironment, CommandError, UsageError } from '../../platform/command/command.ts';
import { DomainError } from '../../platform/domain-error.ts';
import { isUuid } from '../../platform/uuid.ts';
import { withOperatorLog } from '../../privacy/access-log/operator-log.ts';
import type { DeliveryDetailView } from './delivery.schema.ts';
import { findDeliveries } from './each-organisation.ts';
import { deliveryLine } from './list-deliveries.command.ts';
import { readDeliveryPayload, readReviewedDelivery } from './read-delivery.ts';

export function showDeliveryCommand(environment: CommandEnvironment): Command {
  return new Command('show')
    .description('show one delivery with every attempt and decision')
    .requiredOption('--id <id>', 'delivery')
    .option('--payload', "show the envelope as it is sent; this is entered in the patient's access log")
    .addHelpText('after', '\nExample:\n  npx interchange delivery show --id 0197a3c2…')
    .action(async ({ id, payload }: { id: string; payload?: true }) => {
      if (!isUuid(id))
        throw new UsageError('--id must be a UUID. List deliveries with: npx interchange delivery list');
      const shown = await read(environment, id, payload ? readDeliveryPayload : readReviewedDelivery);
      if (typeof shown === 'string') environment.print(JSON.parse(shown), shown);
      else environment.print(shown, detailText(shown));
    });
}

function read(
  environment: CommandEnvironment,
  id: string,
  readOf: typeof readDeliveryPayload | typeof readReviewedDelivery,
): Promise<string | DeliveryDetailView> {
  return environment
    .withSession((session) =>
      withOperatorLog(environment, session, async (accessLog, operator) => {
        const { db } = session;
        const [scope] = await findDeliveries(db, { ids: [id] });
        return readOf({ db, accessLog }, { ...operator, scope }, id);
      }),
    )
    .catch((error: unknown) => refuse(error, id));
}

/** What a caller over HTTP is told of ids and headers is of no use here. */
function refuse(error: unknown, id: string): never {
  const code = error instanceof DomainError ? error.code : undefined;
  if (code === 'unknown_delivery' || code === 'not_found')
    throw new CommandError(
      `There is no delivery ${id}. List deliveries with: npx interchange delivery list`,
      { cause: error },
    );
  if (code === 'purpose_refused')
    throw new CommandError('The payload is not shown, because the patient refuses the purpose of use OPS.', {
      cause: error,
    });
  throw error;
}

function detailText(view: DeliveryDetailView): string {
  const attempts = view.attempts.map(
    (attempt) =>
      `  ${attempt.startedAt.toISOString()}  ${attempt.outcome.padEnd(9)}  ${attempt.status ?? attempt.failure ?? '-'}  ${attempt.durationMs} ms${attempt.counted || attempt.outcome === 'delivered' ? '' : '  (not counted: the exchange was considered down)'}`,
  );
  const reviews = view.reviews.map((review) =>
    `  ${review.decidedAt.toISOString()}  ${review.action}  ${review.reason ?? ''}`.trimEnd(),
  );
  // Each begins with its time.
  return [deliveryLine(view), ...[...attempts, ...reviews].sort()].join('\n');
}
