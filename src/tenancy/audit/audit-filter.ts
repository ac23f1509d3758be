/** What of the record of changes is meant, from the texts of a query or of options. Contract: ADM-32. */
import { parseDateTime } from '../../fhir/date-time.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { AuditFilter } from './audit-list.store.ts';

export interface GivenAuditFilter {
  /** An id, an address, or `operator`. */
  actor?: string | undefined;
  action?: string | undefined;
  subject?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

interface Reading {
  /** Of dates without a zone. */
  timeZone: string;
  /** What to throw for a `since` or `until` that is no time. */
  refuse(name: string): Error;
}

export function auditFilterOf(
  { actor, action, subject, since, until }: GivenAuditFilter,
  reading: Reading,
): AuditFilter {
  return {
    action,
    actor: actor === undefined ? undefined : actorOf(actor.toLowerCase()),
    subject: subject !== undefined && isUuid(subject) ? subject.toLowerCase() : subject,
    since: parseInstant('since', since, reading),
    until: parseInstant('until', until, reading),
  };
}

function actorOf(text: string): NonNullable<AuditFilter['actor']> {
  if (text === 'operator') return { kind: text };
  return isUuid(text) ? { id: text } : { email: text };
}

/** The first instant of a date or date-time. */
function parseInstant(
  name: string,
  value: string | undefined,
  { timeZone, refuse }: Reading,
): Date | undefined {
  const parsed = value === undefined ? undefined : parseDateTime(value);
  if (value !== undefined && parsed === undefined) throw refuse(name);
  return parsed?.span(timeZone).start;
}
