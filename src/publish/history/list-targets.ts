/** The targets of a facility with their state. Contract: ADM-41, ADM-42. */
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { failureWithoutCodes } from '../errors.ts';
import type { Publisher } from '../runs/publish.ts';
import { listFhirServers } from '../servers/fhir-server.store.ts';
import { targetHistories } from './publications.store.ts';

/** By name. One of the organisation hides that of all organisations with the same name, as in a publish. */
export async function listTargets(
  { db, publisher }: { db: Queryable; publisher: Pick<Publisher, 'stateOf'> },
  scope: FacilityScope,
) {
  // Those of all organisations come first.
  const all = await listFhirServers(db, scope.organisationId);
  const usable = [...new Map(all.map((server) => [server.name, server])).values()];
  const byDefault = all.findLast(({ isDefault }) => isDefault)?.id;
  const ids = usable.map(({ id }) => id);
  const histories = await targetHistories(db, scope, ids);
  return usable
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((server) => {
      const { id, name, base, auth, idPolicy, allowLocalCodes, enabled } = server;
      const { lastSuccessAt = null, lastFailure = null } = histories.get(id) ?? {};
      return {
        name,
        base,
        auth,
        idPolicy,
        references: server.referencePolicy,
        allowLocalCodes,
        scope: server.organisationId === null ? 'deployment' : 'organisation',
        default: id === byDefault,
        enabled,
        state: publisher.stateOf(id),
        lastSuccessAt,
        lastFailure: lastFailure && { ...lastFailure, message: failureWithoutCodes(lastFailure.message) },
      };
    });
}
