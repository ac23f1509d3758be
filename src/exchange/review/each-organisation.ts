/** What a command asks of several organisations, one after the other. Contract: OPS-39. */
import type { CommandSession } from '../../platform/command/command.ts';
import { DomainError } from '../../platform/domain-error.ts';
import { isWholeDatabase } from '../../tenancy/organisations/organisation-work.ts';
import { organisationsWithConnections } from '../connections/connection.store.ts';
import { requireConnection } from '../connections/named-connection.ts';
import type { Selection } from './delivery-selection.ts';

/** The organisation of the connection that is named, or all that have connections. */
export async function organisations(
  session: CommandSession,
  { connection }: Pick<Selection, 'connection'>,
): Promise<string[]> {
  if (connection === undefined) return organisationsWithConnections(session.db);
  return [(await requireConnection(session, connection)).organisationId];
}

export interface EachAnswer<Found> {
  found: Found[];
  /** Ids of the organisations that the database refused. */
  failed: string[];
}

/**
 * Organisation by organisation: one whose part of the database does not answer keeps a command from telling of none of
 * the others (docs/adr/0133). Throws when the database itself is out of reach.
 */
export async function eachOrganisation<Found>(
  organisationIds: readonly string[],
  ask: (organisationId: string) => Promise<readonly Found[]>,
): Promise<EachAnswer<Found>> {
  const answer: EachAnswer<Found> = { found: [], failed: [] };
  for (const organisationId of organisationIds)
    try {
      answer.found.push(...(await ask(organisationId)));
    } catch (error) {
      if (isWholeDatabase(error instanceof DomainError ? error.cause : error)) throw error;
      answer.failed.push(organisationId);
    }
  return answer;
}
