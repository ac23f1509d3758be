/** Read one encounter: in scope, allowed by the patient's privacy setting, traced. Contract: ACC-3. */
import type { Queryable } from '../platform/db/database.ts';
import { isUuid } from '../platform/uuid.ts';
import type { AccessLog } from '../privacy/access-log/access-log.ts';
import { authoriseAccess } from '../privacy/authorise-access.ts';
import type { FacilityContext } from '../tenancy/callers/access.ts';
import { notFound } from '../tenancy/errors.ts';
import type { RenderedEncounter } from './encounter.fhir.ts';
import { createEncounterReader } from './encounter.store.ts';
import { type ParticipationDependencies, withMappedParticipations } from './mapped-participations.ts';

export interface ReadEncounterDependencies extends ParticipationDependencies {
  db: Queryable;
  accessLog: AccessLog;
}

/** 404 outside the scope; 403 when the purpose is refused. */
export function createReadEncounter(
  deps: ReadEncounterDependencies,
): (id: string, context: FacilityContext) => Promise<RenderedEncounter> {
  const readEncounter = createEncounterReader(deps.db);
  return async (id, context) => {
    if (!isUuid(id)) throw notFound('The encounter');
    const loaded = await readEncounter({ scope: context.scope, id });
    if (loaded === undefined) throw notFound('The encounter');
    const { encounter, refusedPurposes } = loaded;
    await authoriseAccess(deps.accessLog, context, {
      patientId: encounter.patientId,
      action: 'encounter.read',
      resourceType: 'Encounter',
      resourceId: encounter.id,
      refusedPurposes,
    });
    const [known = encounter] = await withMappedParticipations(deps, context.scope, [encounter]);
    return known;
  };
}
