/** Terminology maps as FHIR ConceptMap (R4, "ConceptMap"). Contract: TERM-10. */

import type { Words } from '../../platform/words/words.ts';
import { badFile } from '../errors.ts';
import type { GivenEntry, MapEntry } from '../maps/map-entry.ts';
import type { IgnoredElements, ImportRow, MapReadOptions } from './import-row.ts';

type Json = Record<string, unknown>;

/** The entries of a parsed ConceptMap. Throws when it is none. */
export function* readConceptMapRows(resource: unknown, options: MapReadOptions): Generator<ImportRow> {
  const map = objectOf(resource, { en: 'The file', fr: 'Le fichier' });
  if (map.resourceType !== 'ConceptMap')
    throw badFile({
      en: `The file is JSON, but not a FHIR ConceptMap: its resourceType is ${printable(map.resourceType) ?? 'missing'}. Send a ConceptMap, or CSV.`,
      fr: `Le fichier est du JSON, mais pas un ConceptMap FHIR : son resourceType est ${printable(map.resourceType) ?? 'absent'}. Envoyez un ConceptMap, ou du CSV.`,
    });
  for (const [position, group] of listOf(map.group, 'ConceptMap.group').entries())
    yield* readGroup(group, `ConceptMap.group[${position}]`, options);
}

function* readGroup(value: unknown, path: string, options: MapReadOptions): Generator<ImportRow> {
  const group = objectOf(value, path);
  countIgnored(options.ignored, 'group', group, ['source', 'target', 'element']);
  const systems = {
    localSystem: textOf(group.source) ?? options.localSystem,
    targetSystem: textOf(group.target) ?? options.targetSystem,
  };
  for (const [position, element] of listOf(group.element, `${path}.element`).entries())
    yield* readElement(element, `${path}.element[${position}]`, systems, options.ignored);
}

function* readElement(
  value: unknown,
  path: string,
  systems: GivenEntry,
  ignored: IgnoredElements,
): Generator<ImportRow> {
  const element = objectOf(value, path);
  countIgnored(ignored, 'group.element', element, ['code', 'display', 'target']);
  const local = { ...systems, localCode: textOf(element.code), localDisplay: textOf(element.display) };
  const targets = listOf(element.target, `${path}.target`);
  // "If there is no target, the source concept has no mapping" (R4 ConceptMap.group.element.target).
  if (targets.length === 0) yield { path, given: { ...local, equivalence: 'unmatched' } };
  for (const [position, target] of targets.entries())
    yield readTarget(objectOf(target, path), `${path}.target[${position}]`, local, ignored);
}

function readTarget(target: Json, path: string, local: GivenEntry, ignored: IgnoredElements): ImportRow {
  countIgnored(ignored, 'group.element.target', target, [
    'code',
    'display',
    'equivalence',
    'comment',
    'dependsOn',
    'product',
  ]);
  const given: GivenEntry = {
    ...local,
    targetCode: textOf(target.code),
    targetDisplay: textOf(target.display),
    equivalence: textOf(target.equivalence),
    comment: textOf(target.comment),
  };
  if (target.dependsOn !== undefined || target.product !== undefined)
    return {
      path,
      given,
      fault: {
        en: 'has dependsOn or product; a terminology map has single codes only',
        fr: 'l’entrée a dependsOn ou product ; une correspondance ne porte que sur un code à la fois',
      },
    };
  if (given.equivalence === undefined)
    return {
      path,
      given,
      fault: {
        en: 'has no equivalence, which R4 requires',
        fr: 'l’entrée n’a pas d’equivalence, que R4 exige',
      },
    };
  return { path, given };
}

function countIgnored(ignored: IgnoredElements, path: string, object: Json, known: readonly string[]): void {
  for (const name of Object.keys(object)) {
    if (known.includes(name) || !/^\w{1,40}$/.test(name)) continue;
    const element = `${path}.${name}`;
    ignored.set(element, (ignored.get(element) ?? 0) + 1);
  }
}

/** Entries of one local and one target system, page by page. */
export interface MapGroup {
  localSystem: string;
  targetSystem: string;
  pages: AsyncIterable<MapEntry[]>;
}

/** The JSON text of a ConceptMap, piece by piece. */
export async function* conceptMapText(
  header: { url: string; title: string },
  groups: Iterable<MapGroup>,
): AsyncGenerator<string> {
  const opening = { resourceType: 'ConceptMap', url: header.url, title: header.title, status: 'active' };
  yield JSON.stringify(opening).slice(0, -1);
  let before = ',"group":[';
  for (const { localSystem, targetSystem, pages } of groups) {
    const systems = { ...(localSystem === '' ? {} : { source: localSystem }), target: targetSystem };
    // Its entries may have been deleted since the groups were listed, and FHIR has no empty lists.
    let separator = `${before}${JSON.stringify(systems).slice(0, -1)},"element":[`;
    for await (const page of pages) {
      if (page.length === 0) continue;
      yield separator + page.map((entry) => JSON.stringify(elementOf(entry))).join(',');
      separator = ',';
      before = ',';
    }
    if (separator === ',') yield ']}';
  }
  yield before === ',' ? ']}' : '}';
}

function elementOf(entry: MapEntry): Json {
  const target = without({
    code: entry.targetCode,
    display: entry.targetDisplay,
    equivalence: entry.equivalence,
    comment: entry.comment,
  });
  return { ...without({ code: entry.localCode, display: entry.localDisplay }), target: [target] };
}

/** FHIR JSON has no nulls. */
function without(object: Record<string, string | null>): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

function objectOf(value: unknown, place: string | Words): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  const { en, fr } = typeof place === 'string' ? { en: place, fr: place } : place;
  throw badFile({ en: `${en} is not a JSON object.`, fr: `${fr} n’est pas un objet JSON.` });
}

function listOf(value: unknown, path: string): unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw badFile({
    en: `${path} is not a list.`,
    fr: `${path} n’est pas une liste.`,
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function printable(value: unknown): string | undefined {
  return typeof value === 'string' && /^\w{1,40}$/.test(value) ? value : undefined;
}
