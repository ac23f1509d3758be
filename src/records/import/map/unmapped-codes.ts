/**
 * Local codes of imported records that have no standard code beside them, for the list of unmapped codes.
 * Contract: TERM-17, TERM-29.
 */
import type { RecordRow } from '../../../clinical/description/describe.ts';
import type { CodeableConcept, Coding } from '../../../fhir/coded.ts';
import { NO_TRANSLATIONS, unmappedCodings } from '../../../terminology/maps/apply-map.ts';
import type { UnmappedPlace } from '../../../terminology/unmapped/record-unmapped.ts';
import type { WriteResult } from './resource-importer.ts';
import { isResult } from './shown.ts';

export interface PlacedCoding {
  place: UnmappedPlace;
  coding: Coding;
}

/** Codes of the records that were created or changed: importing the same again counts nothing. */
export function unmappedCodesOf(
  type: string,
  rows: readonly RecordRow[],
  result: WriteResult,
): PlacedCoding[] {
  const written = new Set([...result.created, ...result.updated]);
  return rows.flatMap((row) => (written.has(row.id) ? codesOf(type, row) : []));
}

function codesOf(type: string, { values, children }: RecordRow): PlacedCoding[] {
  const place = placeOf(type, values);
  if (place === undefined) return [];
  const parts = [values, ...(children.observation_component ?? [])].map(({ code }) => code ?? {});
  const kinds = (children.encounter_participant ?? []).flatMap(({ type: kind }) => kind ?? []);
  const concepts = [...parts, ...kinds] as CodeableConcept[];
  const codings = concepts.flatMap((concept) => unmappedCodings(concept, NO_TRANSLATIONS));
  return codings.map((coding) => ({ place, coding }));
}

/** Undefined for records whose codes no map concerns, and for orders and reports of neither discipline. */
function placeOf(type: string, values: RecordRow['values']): UnmappedPlace | undefined {
  if (type === 'Encounter') return 'encounter.participation';
  const { vital_sign, discipline, kind, category } = values;
  if (type === 'Observation') {
    if (vital_sign === true) return 'vitals.sign';
    // A social history goes out only where a laboratory report lists it; it is counted then.
    return isResult({ kind, category, vitalSign: vital_sign }) ? 'lab.result' : undefined;
  }
  const part = type === 'ServiceRequest' ? 'order' : type === 'DiagnosticReport' ? 'report' : undefined;
  if (part === undefined) return undefined;
  if (discipline === 'laboratory') return `lab.${part}`;
  return discipline === 'imaging' ? `imaging.${part}` : undefined;
}
