/** `interchange delivery show`. Contract: EXC-33. */
import { Command } from 'commander';
import {
  type CommandEnvironment,
  CommandError,
  type CommandSession,
  UsageError,
} from '../../platform/command/command.ts';
import { isUuid } from '../../platform/uuid.ts';
import { organisationsWithConnections } from '../connections/connection.store.ts';
import { exchangeError } from '../errors.ts';
import { type DeliveryDetail, deliveryDetailView } from './delivery.schema.ts';
import { readDelivery, readPayload } from './delivery.store.ts';
import { eachOrganisation } from './each-organisation.ts';
import { deliveryLine } from './list-deliveries.command.ts';
import { traceForOperator } from './trace-for-operator.ts';

export function showDeliveryCommand(environment: CommandEnvironment): Command {
  return new Command('show')
    .description('show one delivery with every attempt and decision')
    .requiredOption('--id <id>', 'delivery')
    .option('--payload', "show the envelope as it is sent; this is entered in the patient's access log")
    .addHelpText('after', '\nExample:\n  npx interchange delivery show --id 0197a3c2…')
    .action(async ({ id, payload }: { id: string; payload?: true }) => {
      if (!isUuid(id))
        throw new UsageError('--id must be a UUID. List deliveries with: npx interchange delivery list');
      await environment.withSession(async (session) => {
        const found = await findDelivery(session, id);
        await (payload ? printPayload : printDelivery)(environment, session, found);
      });
    });
}

async function findDelivery({ db }: CommandSession, id: string): Promise<DeliveryDetail> {
  const all = await organisationsWithConnections(db);
  const { found, failed } = await eachOrganisation(all, async (organisationId) => {
    const delivery = await readDelivery(db, { organisationId }, id);
    return delivery === undefined ? [] : [delivery];
  });
  const [delivery] = found;
  if (delivery !== undefined) return delivery;
  if (failed.length > 0) throw exchangeError('delivery_not_read');
  throw new CommandError(`There is no delivery ${id}. List deliveries with: npx interchange delivery list`);
}

async function printDelivery(
  environment: CommandEnvironment,
  session: CommandSession,
  found: DeliveryDetail,
): Promise<void> {
  const mayShow = await traceForOperator(environment, session, 'delivery.read', (trace) => trace([found]));
  const view = deliveryDetailView(found, mayShow(found));
  const attempts = view.attempts.map(
    (attempt) =>
      `  ${attempt.startedAt.toISOString()}  ${attempt.outcome.padEnd(9)}  ${attempt.status ?? attempt.failure ?? '-'}  ${attempt.durationMs} ms${attempt.counted ? '' : '  (not counted)'}`,
  );
  const reviews = view.reviews.map((review) =>
    `  ${review.decidedAt.toISOString()}  ${review.action}  ${review.reason ?? ''}`.trimEnd(),
  );
  // Each begins with its time.
  environment.print(view, [deliveryLine(view), ...[...attempts, ...reviews].sort()].join('\n'));
}

async function printPayload(
  environment: CommandEnvironment,
  session: CommandSession,
  found: DeliveryDetail,
): Promise<void> {
  const action = 'patient.delivery-payload.read';
  const mayShow = await traceForOperator(environment, session, action, (trace) => trace([found]));
  if (!mayShow(found))
    throw new CommandError('The payload is not shown, because the patient refuses the purpose of use OPS.');
  const payload = await readPayload(session.db, found, found.id);
  const text = payload?.body;
  if (typeof text !== 'string') throw exchangeError('payload_removed');
  environment.print(JSON.parse(text), text);
}
