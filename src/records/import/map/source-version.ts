/**
 * Which version of a resource its source says it is (https://hl7.org/fhir/R4/resource.html#Meta; docs/adr/0108).
 * Contract: IN-34.
 */
import { parseDateTime } from '../../../fhir/date-time.ts';
import type { JsonObject } from '../../../fhir/reading/json-resource.ts';

export interface SourceVersion {
  /** `meta.versionId`, where it is a whole number. */
  version?: string;
  /** `meta.lastUpdated`: a FHIR instant. */
  updatedAt?: string;
  /** `meta.source` without its fragment, which servers make anew for each request. */
  system?: string;
}

/** Of at most 18 digits: it fits into a bigint. */
const VERSION = /^\d{1,18}$/;
const INSTANT = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Characters of a `meta.source`; a longer one says nothing. */
const MAX_LENGTH = 1_024;

/** What is not of its type says nothing: no resource is refused for what a server wrote on it. */
export function sourceVersion({ meta }: JsonObject): SourceVersion {
  const { versionId, lastUpdated, source } = (meta ?? {}) as JsonObject;
  const isInstant =
    typeof lastUpdated === 'string' && INSTANT.test(lastUpdated) && parseDateTime(lastUpdated) !== undefined;
  const [system = ''] = typeof source === 'string' ? source.split('#') : [];
  return {
    ...(typeof versionId === 'string' && VERSION.test(versionId) ? { version: versionId } : {}),
    // PostgreSQL takes the leap second 23:59:60, and refuses a fraction of it.
    ...(isInstant ? { updatedAt: lastUpdated.replace(/(:60)\.\d+/, '$1') } : {}),
    ...(system !== '' && system.length <= MAX_LENGTH && isStorable(system) ? { system } : {}),
  };
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
