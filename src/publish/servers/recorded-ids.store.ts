/**
 * SQL of the ids that a FHIR server is known to hold ours under, for its operator: of every organisation that uses
 * it.
 * Contract: PUB-55.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { FhirServer } from './fhir-server.ts';

/** Organisation by organisation, because that is how the ids are kept. */
const OF_TARGET = `
  organisation_id in (select id from organisation where $2::uuid is null or id = $2)
    and target_id = $1
    and server_id is not null`;

export async function hasRecordedIds(
  db: Queryable,
  { id, organisationId }: Pick<FhirServer, 'id' | 'organisationId'>,
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `select 1 from publish_resource where ${OF_TARGET} limit 1`,
    values: [id, organisationId],
  });
  return rowCount === 1;
}

/** What was stored under them is searched for by our identifier before it is created anew (docs/adr/0050). */
export async function forgetRecordedIds(
  db: Queryable,
  { id, organisationId }: Pick<FhirServer, 'id' | 'organisationId'>,
): Promise<void> {
  await db.query({
    text: `
      update publish_resource
      set server_id = null, version_id = null, content_hash = null, chain_id = null
      where ${OF_TARGET}`,
    values: [id, organisationId],
  });
}
