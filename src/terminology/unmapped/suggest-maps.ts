/**
 * What a local code may be in a standard system, by what the organisation has mapped already: the same code elsewhere, the
 * same or a like name, and whether the unit fits. Somebody decides; nothing is mapped by itself.
 * Contract: ADM-65, ADM-66.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { findLikeMaps, findMetDisplay, type LikeMap } from './suggest-maps.store.ts';

export const SUGGESTION_REASONS = ['same-code', 'same-name', 'like-name'] as const;
type SuggestionReason = (typeof SUGGESTION_REASONS)[number];

/** Whose map a suggestion stands in. */
export const MAP_OWNERS = ['organisation', 'facility', 'other-facility'] as const;
type MapOwner = (typeof MAP_OWNERS)[number];

interface UnmappedCodeRequest {
  system: string;
  code: string;
  /** Default: as the code was met. */
  display?: string | undefined;
  /** Of a result with that code. */
  unit?: string | undefined;
}

const SUGGESTIONS = 10;
const SOURCES = 5;
/** Words that say nothing about what is measured. */
const EMPTY_WORDS = new Set('the and for with from test level serum plasma blood'.split(' '));
const WORDS = 6;

export async function suggestMaps(
  db: Queryable,
  scope: FacilityScope,
  { system, code, display: given, unit }: UnmappedCodeRequest,
) {
  const display = given ?? (await findMetDisplay(db, scope, { system, code })) ?? '';
  const asked = { code, name: normal(display), words: wordsOf(display) };
  const maps = await findLikeMaps(db, scope, asked);
  const groups = Map.groupBy(maps, ({ targetSystem, targetCode }) => `${targetSystem}|${targetCode}`);
  return [...groups.values()]
    .map((group) => suggestionOf(group, { ...asked, unit, facilityId: scope.facilityId }))
    .toSorted((a, b) => b.points - a.points || (a.shown.targetCode < b.shown.targetCode ? -1 : 1))
    .slice(0, SUGGESTIONS)
    .map(({ shown }) => shown);
}

interface Asked {
  code: string;
  name: string;
  words: readonly string[];
  unit: string | undefined;
  facilityId: string;
}

/** Of maps that lead to one target. */
function suggestionOf(maps: readonly LikeMap[], asked: Asked) {
  const judged = maps
    .map((map) => ({ map, ...judge(map, asked) }))
    .toSorted((a, b) => b.points - a.points || (a.map.localCode < b.map.localCode ? -1 : 1));
  const [best] = judged;
  const { targetSystem = '', targetCode = '', targetDisplay = null } = best?.map ?? {};
  const unitFits = fitsUnit(targetDisplay, asked.unit);
  const why = judged.slice(0, SOURCES).map(({ map, reason }) => ({
    reason,
    from: ownerOf(map, asked.facilityId),
    localSystem: map.localSystem,
    localCode: map.localCode,
    localDisplay: map.localDisplay,
  }));
  return {
    points: (best?.points ?? 0) + (unitFits === null ? 0 : unitFits ? 0.5 : -0.5),
    shown: { targetSystem, targetCode, targetDisplay, unitFits, why },
  };
}

function ownerOf({ facilityId }: LikeMap, own: string): MapOwner {
  if (facilityId === null) return 'organisation';
  return facilityId === own ? 'facility' : 'other-facility';
}

function judge(map: LikeMap, { code, name, words }: Asked): { reason: SuggestionReason; points: number } {
  if (map.localCode === code) return { reason: 'same-code', points: 4 };
  const names = [map.localDisplay, map.targetDisplay].map((text) => normal(text ?? ''));
  if (name !== '' && names.includes(name)) return { reason: 'same-name', points: 3 };
  const shared = words.filter((word) => names.some((text) => text.split(' ').includes(word))).length;
  return { reason: 'like-name', points: words.length === 0 ? 0 : (2 * shared) / words.length };
}

/** Lower case, without punctuation. */
function normal(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

function wordsOf(text: string): string[] {
  const words = normal(text)
    .split(' ')
    .filter((word) => word.length > 2 && !EMPTY_WORDS.has(word));
  return [...new Set(words)].slice(0, WORDS);
}

/** What a unit measures, as LOINC writes the property in its names (LOINC Users' Guide, "Kind of property"). */
const PROPERTIES: readonly { unit: RegExp; property: RegExp }[] = [
  { unit: /mol/i, property: /moles|substance/i },
  { unit: /^[munpk]?g\//i, property: /mass/i },
  { unit: /^%$/, property: /fraction|pure mass ratio|hematocrit|percent/i },
  { unit: /^\[?i?u\]?\//i, property: /enzymatic|catalytic|units/i },
  { unit: /^(?:10\*|10\^|x10)/i, property: /#|number/i },
];

function fitsUnit(targetDisplay: string | null, unit: string | undefined): boolean | null {
  if (targetDisplay === null || unit === undefined) return null;
  const own = PROPERTIES.find(({ unit: pattern }) => pattern.test(unit.trim()));
  const named = PROPERTIES.filter(({ property }) => property.test(targetDisplay));
  return own === undefined || named.length === 0 ? null : named.includes(own);
}
