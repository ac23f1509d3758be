/**
 * What the maps say about one code, in the way of FHIR's `$translate` (R4, "ConceptMap", operation
 * translate).
 * Contract: TERM-15.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { entriesOfCode } from '../maps/list-maps.store.ts';
import type { StoredEntry } from '../maps/map.schema.ts';
import type { MapScope } from '../maps/map.store.ts';
import type { Equivalence } from '../maps/map-entry.ts';
import { officialTarget } from './translate.ts';

export interface CodeLookUp {
  system: string;
  code: string;
  targetSystem?: string | undefined;
}

export interface CodeMatch {
  equivalence: Equivalence;
  /** Absent where the maps say that there is no such code. */
  concept?: { system: string; code: string; display?: string };
  /** Whose entry it is: null for the organisation's. */
  facilityId: string | null;
}

export interface CodeAnswer {
  /** True when at least one match has an equivalence that is neither `unmatched` nor `disjoint`. */
  result: boolean;
  matches: CodeMatch[];
}

export async function lookUpCode(db: Queryable, scope: MapScope, lookUp: CodeLookUp): Promise<CodeAnswer> {
  const { system, code, targetSystem } = lookUp;
  const entries = await entriesOfCode(db, scope, { localSystem: system, localCode: code, targetSystem });
  const result = entries.some(({ equivalence }) => equivalence !== 'unmatched' && equivalence !== 'disjoint');
  return { result, matches: entries.map(matchOf) };
}

/** The answer as FHIR Parameters. */
export function translateParameters({ result, matches }: CodeAnswer): object {
  const message = result
    ? []
    : [{ name: 'message', valueString: 'No terminology map has a standard code for this code.' }];
  const parts = matches.map(({ equivalence, concept }) => ({
    name: 'match',
    part: [
      { name: 'equivalence', valueCode: equivalence },
      ...(concept === undefined ? [] : [{ name: 'concept', valueCoding: concept }]),
    ],
  }));
  return {
    resourceType: 'Parameters',
    parameter: [{ name: 'result', valueBoolean: result }, ...message, ...parts],
  };
}

function matchOf({
  equivalence,
  facilityId,
  targetSystem,
  targetCode,
  targetDisplay,
}: StoredEntry): CodeMatch {
  if (targetCode === null) return { equivalence, facilityId };
  const display = targetDisplay === null ? {} : { display: targetDisplay };
  const concept = officialTarget({ system: targetSystem, code: targetCode, ...display });
  return { equivalence, concept, facilityId };
}
