/**
 * The records that published resources refer to: sent with them, named by their identifier, or withheld. Pure, but for
 * the load.
 * Contract: PUB-25, PUB-50.
 */

import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import type { Reference } from '../../fhir/coded.ts';
import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import { isUuid } from '../../platform/uuid.ts';
import { allowsPurpose } from '../../privacy/decide.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { NotSent, SaysNotSent } from '../publish.schema.ts';
import type { ReferencePolicy } from '../servers/fhir-server.ts';
import { keyOf, type ResourceKey, referencedKeys, splitKey } from './content.fhir.ts';
import { isShared, SENT_AHEAD } from './resource-types.ts';

/** A record as it is loaded, and whose data it is. */
export interface LoadedRecord {
  /** Of a result only its type and id: it is never sent for being named. */
  resource: FhirResource;
  /** Undefined for what patients share. */
  patient?: { id: string; refusedPurposes: readonly string[] };
}

/** Loads records of these types in scope, as FHIR; those that are not there are missing from the answer. */
export type LoadReferenced = (scope: FacilityScope, keys: readonly ResourceKey[]) => Promise<LoadedRecord[]>;

/** Why a record is not sent. `unavailable`: it belongs to another facility, or does not exist. Callers do not learn which. */
type WithheldReason = NotSent['reason'];

export interface Referenced {
  /** May be sent, or named by the identifier that others use. */
  records: readonly FhirResource[];
  /** May not be sent: named by our identifier alone. */
  withheld: ReadonlyMap<ResourceKey, WithheldReason>;
  /** Whether each other patient whose data this is allows the purpose. */
  otherPatients: ReadonlyMap<string, 'allowed' | 'refused'>;
}

/** The record that is published. */
export interface Referring {
  patientId: string;
  purposeOfUse: PurposeOfUse;
  referencePolicy: ReferencePolicy;
  resources: readonly FhirResource[];
  /** Everything that they refer to. */
  named: ReadonlySet<ResourceKey>;
}

/**
 * What the record refers to, and what that refers to in turn; with the policy `literal` only what may be of another
 * patient. Each load answers the privacy setting with the record, so that asking costs no further query.
 */
export async function loadReferenced(
  load: LoadReferenced,
  scope: FacilityScope,
  record: Referring,
): Promise<Referenced> {
  const isWanted = wantedOf(record);
  const seen = new Set<ResourceKey>();
  const decided: Decided = { withheld: new Map(), otherPatients: new Map() };
  const found: LoadedRecord[] = [];
  let named: Iterable<ResourceKey> = record.named;
  for (;;) {
    const keys = [...named].filter((key) => !seen.has(key) && isWanted(key));
    if (keys.length === 0) break;
    for (const key of keys) seen.add(key);
    const loaded = await load(scope, keys);
    decide(decided, record, { keys, loaded });
    const kept = loaded.filter(({ resource }) => !decided.withheld.has(keyOf(resource)));
    found.push(...kept);
    named = new Set(kept.flatMap(({ resource }) => [...referencedKeys(JSON.stringify(resource))]));
  }
  withholdUnregistered(decided, found);
  const records = found.map(({ resource }) => resource).filter((one) => SENT_AHEAD.has(one.resourceType));
  return { ...decided, records: records.filter((one) => !decided.withheld.has(keyOf(one))) };
}

/** Which records are looked at. */
function wantedOf({ referencePolicy, patientId, resources }: Referring): (key: ResourceKey) => boolean {
  const own = new Set<string | undefined>(resources.map(keyOf));
  // `Observation.focus` may name a result of somebody else. An import refuses every other way to a record of theirs.
  const isWanted = (key: ResourceKey) => {
    const { type, id } = splitKey(key);
    return (SENT_AHEAD.has(type) || type === 'Observation') && isUuid(id) && !own.has(key);
  };
  if (referencePolicy !== 'literal') return isWanted;
  // The encounter of a record is of its patient.
  own.add(`Patient/${patientId}`);
  for (const { encounter } of resources) own.add((encounter as Reference | undefined)?.reference);
  return (key) => isWanted(key) && isOfPatient(key);
}

function isOfPatient(key: ResourceKey): boolean {
  return !isShared(splitKey(key).type);
}

interface Decided {
  withheld: Map<ResourceKey, WithheldReason>;
  otherPatients: Map<string, 'allowed' | 'refused'>;
}

/** Whether what was asked for (`keys`) may be sent: not what is of a patient who refuses, or is not in scope. */
function decide(
  { withheld, otherPatients }: Decided,
  { patientId, purposeOfUse }: Referring,
  { keys, loaded }: { keys: readonly ResourceKey[]; loaded: readonly LoadedRecord[] },
): void {
  const missing = new Set(keys.filter((key) => isOfPatient(key) && key !== `Patient/${patientId}`));
  for (const { resource, patient } of loaded) {
    missing.delete(keyOf(resource));
    if (patient === undefined || patient.id === patientId) continue;
    const allowed = allowsPurpose(patient.refusedPurposes, purposeOfUse);
    otherPatients.set(patient.id, allowed ? 'allowed' : 'refused');
    if (!allowed) withheld.set(keyOf(resource), 'refused');
  }
  for (const key of missing) withheld.set(key, 'unavailable');
}

/** The patient of an encounter may not be registered at this facility, or may have refused since the encounter was loaded. */
function withholdUnregistered({ withheld, otherPatients }: Decided, found: readonly LoadedRecord[]) {
  for (const { resource, patient } of found) {
    const reason = patient === undefined ? undefined : withheld.get(`Patient/${patient.id}`);
    if (patient === undefined || reason === undefined) continue;
    withheld.set(keyOf(resource), reason);
    otherPatients.set(patient.id, 'refused');
  }
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
