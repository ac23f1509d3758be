/**
 * The records that a publish names and does not send, as its answer lists them. Pure.
 * Contract: PUB-50.
 */
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { type ResourceKey, splitKey } from './content.fhir.ts';
import type { Referenced, WithheldReason } from './referenced-records.ts';

export interface NotSent {
  /** Where it is named: `Observation.focus`. */
  element: string;
  resourceType: string;
  localId: string;
  reason: WithheldReason;
}

/** Member of an answer; left out where nothing was withheld. */
export interface SaysNotSent {
  notSent?: NotSent[];
}

/** Each record that the sent resources name and that was withheld, once for each element that names it. */
export function saysNotSent(sent: readonly FhirResource[], { withheld }: Referenced): SaysNotSent {
  if (withheld.size === 0) return {};
  const found = new Map<string, NotSent>();
  for (const resource of sent)
    for (const { element, key } of references(resource, resource.resourceType)) {
      const reason = withheld.get(key);
      if (reason === undefined) continue;
      const { type: resourceType, id: localId } = splitKey(key);
      found.set(`${element} ${key}`, { element, resourceType, localId, reason });
    }
  return found.size === 0 ? {} : { notSent: [...found.values()] };
}

/** Every reference in `value`, and the path of the element that it stands in. */
function* references(value: object, element: string): Generator<{ element: string; key: ResourceKey }> {
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    if (name === 'reference' && typeof member === 'string') yield { element, key: member as ResourceKey };
    if (typeof member !== 'object' || member === null) continue;
    yield* references(member, Array.isArray(value) ? element : `${element}.${name}`);
  }
}
