/** One real laboratory result with a local code and no standard one from its source, as it goes out now. Contract: ADM-67. */
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { patientOfTooLarge } from '../../clinical/fetch/record-loader.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { AccessLog } from '../../privacy/access-log/access-log.ts';
import { authoriseAccess } from '../../privacy/authorise-access.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import type { createOrderEmitter } from '../emit-investigation.ts';
import { findResultWithCode } from './unmapped-example.store.ts';

export interface UnmappedExampleDependencies {
  db: Queryable;
  accessLog: AccessLog;
  emitOrder: ReturnType<typeof createOrderEmitter>;
}

export interface UnmappedExample {
  patientId: string;
  orderId: string;
  /** The Observation. */
  resource: FhirResource;
}

/**
 * One, or none when no result of the facility has the code, or the order of the one that was found is too large for an
 * answer. 403 when the purpose is refused meanwhile.
 */
export async function readUnmappedExample(
  deps: UnmappedExampleDependencies,
  local: { system: string; code: string },
  context: FacilityContext,
): Promise<UnmappedExample[]> {
  const { scope, purposeOfUse } = context;
  const found = await findResultWithCode(deps.db, scope, { ...local, purposeOfUse });
  if (found === undefined) return [];
  const order = { orderId: found.orderId, discipline: 'laboratory' } as const;
  const loaded = await deps.emitOrder(scope, order).catch(noneIfTooLarge);
  if (loaded === undefined) return [];
  const { patientId, refusedPurposes, resources } = loaded;
  const resource = resources.find(
    ({ resourceType, id }) => resourceType === 'Observation' && id === found.id,
  );
  if (resource === undefined) return [];
  await authoriseAccess(deps.accessLog, context, {
    patientId,
    refusedPurposes,
    action: 'lab-result.read',
    resourceType: 'Observation',
    resourceId: found.id,
  });
  return [{ patientId, orderId: found.orderId, resource }];
}

function noneIfTooLarge(error: unknown): undefined {
  if (patientOfTooLarge(error) === undefined) throw error;
}
