/** Which discipline an order or a report is of, by what the source says about it (docs/fhir-mapping.md). */
import type { CodeableConcept } from '../../fhir/coded.ts';
import {
  isStandardSystem,
  LOINC,
  OBSERVATION_CATEGORY,
  SNOMED_CT,
  V2_DIAGNOSTIC_SERVICE,
} from '../../terminology/lookup/code-systems.ts';

export type Discipline = 'laboratory' | 'imaging' | 'other';

type CodesBySystem = ReadonlyMap<string, readonly string[]>;

/** A map, because a source may name a system as it likes: an object has a `constructor`. */
function codesBySystem(codes: Readonly<Record<string, readonly string[]>>): CodesBySystem {
  return new Map(Object.entries(codes));
}

const LABORATORY = codesBySystem({
  [OBSERVATION_CATEGORY]: ['laboratory'],
  // HL7 v2 table 0074: the laboratory and its departments.
  [V2_DIAGNOSTIC_SERVICE]: [
    'LAB',
    'BG',
    'BLB',
    'CG',
    'CH',
    'CP',
    'GE',
    'HM',
    'IMM',
    'MB',
    'MCB',
    'MYC',
    'OSL',
    'SP',
    'SR',
    'TX',
    'VR',
  ],
  [SNOMED_CT]: ['108252007', '15220000'],
});

const IMAGING = codesBySystem({
  [OBSERVATION_CATEGORY]: ['imaging'],
  [V2_DIAGNOSTIC_SERVICE]: ['RAD', 'CT', 'CUS', 'IMG', 'NMR', 'NMS', 'OUS', 'RUS', 'RX', 'VUS', 'XRC'],
  [SNOMED_CT]: ['363679005', '394914008'],
  // LOINC part "Radiology", as US Core categorises reports.
  [LOINC]: ['LP29684-5'],
});

/** LOINC names imaging procedures by their modality. */
const MODALITY = /\b(CT|MR|MRI|XR|US|DXA|MG|NM|PET|RF|X-?ray|ultrasound|mammogra\w*|radiograph\w*)\b/i;

/** By category; undefined when the categories are of neither discipline, or absent. */
export function categorised(category: readonly CodeableConcept[] | undefined): Discipline | undefined {
  const codings = (category ?? []).flatMap(({ coding }) => coding ?? []);
  const among = (known: CodesBySystem) =>
    codings.some(({ system, code }) => known.get(system ?? '')?.includes(code ?? '') === true);
  if (among(IMAGING)) return 'imaging';
  return among(LABORATORY) ? 'laboratory' : undefined;
}

/** Whether categories leave room for one of ours of the discipline: they say the same, or are the source's own. */
export function leavesRoomFor(
  discipline: Discipline,
  category: readonly CodeableConcept[] | undefined,
): boolean {
  const known = categorised(category);
  if (known !== undefined) return known === discipline;
  const codings = (category ?? []).flatMap(({ coding }) => coding ?? []);
  // HL7's systems had other addresses before R4.
  return !codings.some(
    ({ system }) => isStandardSystem(system) || system?.startsWith('http://hl7.org/fhir/'),
  );
}

/**
 * An order: by its category, and other when that is of neither discipline. Without a category: by its LOINC code
 * (imaging when the name has a modality in it, else laboratory), then laboratory when it names a specimen, else other.
 */
export function orderDiscipline(
  category: readonly CodeableConcept[] | undefined,
  code: CodeableConcept | undefined,
  hasSpecimen: boolean,
): Discipline {
  const known = categorised(category);
  if (known !== undefined) return known;
  if (category !== undefined) return 'other';
  const loinc = code?.coding?.find(({ system }) => system === LOINC);
  if (loinc === undefined) return hasSpecimen ? 'laboratory' : 'other';
  return MODALITY.test(`${loinc.display ?? ''} ${code?.text ?? ''}`) ? 'imaging' : 'laboratory';
}

/**
 * A report: by its category. When that is of neither discipline: imaging when the report names a study, laboratory when
 * it lists results or has no category at all, else other.
 */
export function reportDiscipline(
  category: readonly CodeableConcept[] | undefined,
  { hasStudy, hasResults }: { hasStudy: boolean; hasResults: boolean },
): Discipline {
  const known = categorised(category);
  if (known !== undefined) return known;
  if (hasStudy) return 'imaging';
  return hasResults || category === undefined ? 'laboratory' : 'other';
}
