/** A time at the command line. */
import { parseDateTime } from '../../fhir/date-time.ts';
import { UsageError } from '../../platform/command/command.ts';

/** The instant that it begins at; a date begins in UTC. Throws UsageError. */
export function parsedTime(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const parsed = parseDateTime(text);
  if (parsed === undefined)
    throw new UsageError(
      `${option} must be a date or a date-time with a zone, such as 2026-03-01T08:00:00Z.`,
    );
  return parsed.span('UTC').start;
}
