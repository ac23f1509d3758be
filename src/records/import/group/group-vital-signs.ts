/** Gathers the vital signs of one encounter and time into one vital set. Contract: IN-19. */
import {
  type GroupedVitalSign,
  moveVitalSigns,
  type NewVitalSet,
  touchVitalSets,
  vitalSignsToGroup,
  writeVitalSets,
} from '../../../encounters/vitals/grouping.store.ts';
import { saysDay } from '../../../fhir/date-time.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import { recordId } from '../resolve/record-id.ts';

/** `touched`: ids of observations that were created or changed. */
export async function groupVitalSigns(
  client: Client,
  scope: FacilityScope,
  touched: readonly string[],
): Promise<void> {
  const signs = await vitalSignsToGroup(client, scope, touched);
  const sets = new Map<string, NewVitalSet>();
  const moves = new Map<string, string | null>();
  const affected = new Set<string>();
  for (const sign of signs) {
    const set = setOf(sign);
    if (set !== undefined) sets.set(set.id, set);
    const next = set?.id ?? null;
    if (next !== sign.vitalSetId) moves.set(sign.id, next);
    for (const id of [sign.vitalSetId, next]) if (id !== null) affected.add(id);
  }
  if (sets.size > 0) await writeVitalSets(client, scope, [...sets.values()]);
  if (moves.size > 0) await moveVitalSigns(client, scope, moves);
  if (affected.size > 0) await touchVitalSets(client, scope, [...affected].sort());
}

/**
 * The set of a sign: the same for the same patient, encounter and instant. A sign without a time to the day
 * cannot be one by the R4 vital-signs profile (invariant vs-1): it is kept and belongs to no set.
 */
export function setOf(sign: Omit<GroupedVitalSign, 'id' | 'vitalSetId'>): NewVitalSet | undefined {
  const { vitalSign, patientId, encounterId, effectiveStart, effectiveAt } = sign;
  if (!vitalSign || effectiveAt === null || !saysDay(effectiveStart ?? '')) return undefined;
  const id = recordId('VitalSet', `${patientId}/${encounterId ?? ''}/${effectiveAt}`);
  return { id, patientId, encounterId, takenAt: effectiveAt };
}
