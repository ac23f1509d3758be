/** Which deliveries a command is about. */
import type { Command } from 'commander';
import { parseDateTime } from '../../fhir/date-time.ts';
import { isUuid } from '../../platform/uuid.ts';
import { exchangeError } from '../errors.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from './delivery.schema.ts';
import type { OperatorFilter } from './each-organisation.ts';

export interface Selection {
  id?: string[];
  organisation?: string;
  connection?: string;
  patient?: string;
  status?: string;
  since?: string;
  until?: string;
}

/** Add the options of a selection to a command. `list`, `replay` and `skip` have them all, and must obey them all. */
export function withSelection(
  command: Command,
  statuses = `one of ${DELIVERY_STATUSES.join(', ')}`,
): Command {
  return command
    .option(
      '--id <ids>',
      'ids of the deliveries, separated by commas',
      (text: string, before: readonly string[] = []) => [
        ...before,
        ...text.split(',').map((id) => id.trim()),
      ],
    )
    .option('--connection <id>', 'of this connection')
    .option('--patient <id>', 'of this patient')
    .option('--status <status>', statuses)
    .option('--since <time>', 'queued at or after: a date (UTC) or a date-time with a zone')
    .option('--until <time>', 'queued before')
    .option('--organisation <id>', 'of this organisation');
}

/** The filter. Throws `bad_option`. */
export function filterOf(selection: Selection): OperatorFilter {
  const { id, organisation, connection, patient, since, until } = selection;
  if (id?.every(isUuid) === false)
    throw exchangeError('bad_option', { problem: '--id must be UUIDs, separated by commas.' });
  if (patient !== undefined && !isUuid(patient))
    throw exchangeError('bad_option', { problem: '--patient must be a UUID.' });
  return {
    ids: id,
    organisationId: organisation,
    connectionId: connection,
    patientId: patient,
    since: parsedTime('--since', since),
    until: parsedTime('--until', until),
  };
}

/** The instant at which the time that was given begins; a date begins in UTC. Throws `bad_option`. */
export function parsedTime(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const parsed = parseDateTime(text);
  if (parsed === undefined)
    throw exchangeError('bad_option', {
      problem: `${option} must be a date or a date-time with a zone, such as 2026-03-01T08:00:00Z.`,
    });
  return parsed.span('UTC').start;
}

/** The status named, if any. Throws `bad_option`. */
export function statusOf(text: string | undefined): DeliveryStatus | undefined {
  const status = DELIVERY_STATUSES.find((one) => one === text);
  if (text !== undefined && status === undefined)
    throw exchangeError('bad_option', {
      problem: `--status must be one of ${DELIVERY_STATUSES.join(', ')}.`,
    });
  return status;
}
