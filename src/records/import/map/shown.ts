/**
 * What of the clinical records goes out in a fetch, as far as a record itself says (docs/fhir-mapping.md, "Grouping").
 * Pure. Contract: IN-39, IN-40.
 */
import type { Values } from '../../../clinical/description/element.ts';
import { inCategory } from '../../../clinical/resources/observation.fhir.ts';
import { saysDay } from '../../../fhir/date-time.ts';

/** Why a record is in no answer, unless a report or an order brings it along. */
export type NotShownReason =
  | 'survey'
  | 'social-history'
  | 'imaging'
  | 'vital-sign'
  | 'other-order'
  | 'other-report';

/** True for an observation that gets an order made for it when nothing else gives it one. */
export function isResult({
  kind,
  category,
  vitalSign,
}: {
  kind: unknown;
  category: unknown;
  vitalSign: unknown;
}): boolean {
  if (kind === 'laboratory') return true;
  return kind === 'other' && vitalSign !== true && background(category) === undefined;
}

/** Undefined for what is shown, and for records of other kinds. */
export function reasonNotShown(type: string, values: Values): NotShownReason | undefined {
  const { discipline, kind, category, vital_sign: vitalSign } = values;
  if (type === 'ServiceRequest') return discipline === 'other' ? 'other-order' : undefined;
  if (type === 'DiagnosticReport') return discipline === 'other' ? 'other-report' : undefined;
  if (type !== 'Observation' || isResult({ kind, category, vitalSign })) return undefined;
  if (vitalSign === true) return isTimed(values) ? undefined : 'vital-sign';
  if (kind === 'vital-sign') return 'vital-sign';
  return kind === 'imaging' ? 'imaging' : background(category);
}

/** A vital sign is in a set when its time is known to the day (R4 vital-signs profile, vs-1). */
function isTimed({ effective_at: at, effective_start: start, effective_end: end }: Values): boolean {
  return at !== undefined && saysDay(String(start ?? end ?? ''));
}

function background(category: unknown): 'survey' | 'social-history' | undefined {
  if (inCategory(category, 'survey')) return 'survey';
  return inCategory(category, 'social-history') ? 'social-history' : undefined;
}
