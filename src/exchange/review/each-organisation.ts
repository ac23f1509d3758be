/**
 * Organisation by organisation: one whose part of the database does not answer keeps a command from telling of none of
 * the others (docs/adr/0133).
 * Contract: OPS-39.
 */
import { DomainError } from '../../platform/domain-error.ts';
import { isWholeDatabase } from '../../tenancy/organisations/organisation-work.ts';

export interface EachAnswer<Found> {
  found: Found[];
  /** Ids of the organisations that the database refused. */
  failed: string[];
}

/** Throws when the database itself is out of reach. */
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
