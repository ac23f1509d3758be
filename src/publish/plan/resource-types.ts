/** Every type that is sent to FHIR servers (docs/publish.md): when, and whose its records are. */

interface PublishedType {
  /** The records referred to, the order, its results, its studies, its reports: what must be stored before what. */
  stage: 0 | 1 | 2 | 3 | 4;
  /** Of no patient: patients and facilities share its records. */
  shared?: true;
}

/** Location for encounters, ImagingStudy for imaging reports. */
const TYPES: Readonly<Record<string, PublishedType>> = {
  Organization: { stage: 0, shared: true },
  Practitioner: { stage: 0, shared: true },
  Location: { stage: 0, shared: true },
  Patient: { stage: 0 },
  Encounter: { stage: 0 },
  ServiceRequest: { stage: 1 },
  Specimen: { stage: 1 },
  Observation: { stage: 2 },
  ImagingStudy: { stage: 3 },
  DiagnosticReport: { stage: 4 },
};

export const PUBLISHED_TYPES: readonly string[] = Object.keys(TYPES);

/** Any other goes with the results. */
export function sendingStageOf(type: string): number {
  return TYPES[type]?.stage ?? 2;
}

/** Types that a FHIR server can be sent ahead of what refers to them. */
export const SENT_AHEAD: ReadonlySet<string> = new Set(
  PUBLISHED_TYPES.filter((type) => TYPES[type]?.stage === 0),
);

/** Whether patients and facilities share records of this type. */
export function isShared(type: string): boolean {
  return TYPES[type]?.shared === true;
}
