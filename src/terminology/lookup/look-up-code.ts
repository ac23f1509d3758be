/**
 * What the maps say about one code, in the way of FHIR's `$translate` (R4, "ConceptMap", operation
 * translate).
 * Contract: TERM-15.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { StandardCoding } from '../maps/apply-map.ts';
import { entriesOfCode } from '../maps/list-maps.store.ts';
import type { MapScope } from '../maps/map.store.ts';
import type { Equivalence } from '../maps/map-entry.ts';
import { officialTarget } from './translate.ts';

export interface CodeAnswer {
  /** True when at least one match has an equivalence that is neither `unmatched` nor `disjoint`. */
  result: boolean;
  /** `concept` is absent where the maps say that there is no such code. */
  matches: { equivalence: Equivalence; concept?: StandardCoding }[];
}

export async function lookUpCode(
  db: Queryable,
  scope: MapScope,
  { system, code, targetSystem }: { system: string; code: string; targetSystem?: string | undefined },
): Promise<CodeAnswer> {
  const entries = await entriesOfCode(db, scope, { localSystem: system, localCode: code, targetSystem });
  const matches = entries.map(({ equivalence, targetSystem: target, targetCode, targetDisplay }) => {
    if (targetCode === null) return { equivalence };
    const display = targetDisplay === null ? {} : { display: targetDisplay };
    return { equivalence, concept: officialTarget({ system: target, code: targetCode, ...display }) };
  });
  const result = matches.some(({ equivalence }) => equivalence !== 'unmatched' && equivalence !== 'disjoint');
  return { result, matches };
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
