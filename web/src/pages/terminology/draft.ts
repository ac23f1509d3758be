/** A mapping as it is typed: every field a text. */
import { answered, api } from '../../api/api.ts';
import type { components } from '../../api/schema.d.ts';
import { queries } from '../../app/queries.ts';

export type MapEntry = components['schemas']['MapEntry'];
export type Level = 'organisation' | 'facility';

export const LOINC = 'http://loinc.org';
export const PARTICIPATION_TYPE = 'http://terminology.hl7.org/CodeSystem/v3-ParticipationType';
export const SYSTEMS = [
  { value: LOINC, label: 'LOINC' },
  { value: 'http://unitsofmeasure.org', label: 'UCUM' },
  { value: 'http://snomed.info/sct', label: 'SNOMED CT' },
  { value: 'http://hl7.org/fhir/sid/icd-10', label: 'ICD-10' },
  { value: PARTICIPATION_TYPE, label: 'HL7 ParticipationType' },
];

export const EQUIVALENCES = [
  'equivalent',
  'equal',
  'wider',
  'subsumes',
  'narrower',
  'specializes',
  'inexact',
  'relatedto',
  'disjoint',
  'unmatched',
] as const;
export type Equivalence = (typeof EQUIVALENCES)[number];

export interface Draft {
  localSystem: string;
  localCode: string;
  localDisplay: string;
  targetSystem: string;
  targetCode: string;
  targetDisplay: string;
  equivalence: Equivalence;
  comment: string;
}

export const EMPTY_DRAFT: Draft = {
  localSystem: '',
  localCode: '',
  localDisplay: '',
  targetSystem: LOINC,
  targetCode: '',
  targetDisplay: '',
  equivalence: 'equivalent',
  comment: '',
};

export function draftOf(entry: MapEntry): Draft {
  const { localSystem, localCode, targetSystem, equivalence } = entry;
  return {
    localSystem,
    localCode,
    targetSystem,
    equivalence,
    localDisplay: entry.localDisplay ?? '',
    targetCode: entry.targetCode ?? '',
    targetDisplay: entry.targetDisplay ?? '',
    comment: entry.comment ?? '',
  };
}

export function systemName(system: string): string {
  return SYSTEMS.find(({ value }) => value === system)?.label ?? system;
}

/** The service sends the targets of these only. */
export function isSent(equivalence: Equivalence): boolean {
  return ['equivalent', 'equal', 'wider', 'subsumes'].includes(equivalence);
}

export function needsComment(equivalence: Equivalence): boolean {
  return equivalence === 'narrower' || equivalence === 'inexact';
}

/** What is sent and checked: no target where there is none. */
export function withoutTarget(draft: Draft): Draft {
  return draft.equivalence === 'unmatched' ? { ...draft, targetCode: '', targetDisplay: '' } : draft;
}

export async function saveMapping(draft: Draft, facilityId: string | null): Promise<void> {
  const { targetCode, targetDisplay, localDisplay, comment, ...rest } = withoutTarget(draft);
  await answered(
    api.PUT('/terminology/maps', {
      body: {
        ...rest,
        facilityId,
        localDisplay: localDisplay || null,
        targetCode: targetCode || null,
        targetDisplay: targetDisplay || null,
        comment: comment || null,
      },
    }),
  );
  await mapsChanged();
}

/** Everything that shows maps is read again. */
export async function mapsChanged(): Promise<void> {
  await queries.invalidateQueries({ queryKey: ['terminology'] });
}
