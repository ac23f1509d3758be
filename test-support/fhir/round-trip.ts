/** What of a FHIR resource came back differently from how it went in. */
import { Decimal, decimalText } from '../../src/fhir/json.ts';
import { recordId } from '../../src/records/import/resolve/record-id.ts';

/** `left out`: was in the source only. `added`: is in the answer only. `changed`, `reordered`: is in both. */
export type DifferenceKind = 'left out' | 'added' | 'changed' | 'reordered';

export interface Difference {
  /** Element path without indexes: `Observation.code.text`. */
  path: string;
  kind: DifferenceKind;
}

type Json = unknown;

/** Differences of the answer to the source, element by element. Both as `parseFhirJson` gives them. */
export function differences(source: object, answer: object, path: string): Difference[] {
  const names = new Set([...Object.keys(source), ...Object.keys(answer)]);
  return [...names].flatMap((name) => {
    const [before, after] = [member(source, name), member(answer, name)];
    return compare(before, after, `${path}.${name}`);
  });
}

function compare(before: Json, after: Json, path: string): Difference[] {
  if (before === undefined) return [{ path, kind: 'added' }];
  if (after === undefined) return [{ path, kind: 'left out' }];
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(before, after, path);
  if (isObject(before) && isObject(after)) return differences(before, after, path);
  return sameValue(before, after, path) ? [] : [{ path, kind: 'changed' }];
}

function compareLists(before: Json[], after: Json[], path: string): Difference[] {
  if (path.endsWith('.coding')) return compareCodings(before, after, path);
  const kept = before.flatMap((item, index) =>
    index < after.length ? compare(item, after[index], path) : [{ path, kind: 'left out' as const }],
  );
  const added = after.slice(before.length).map(() => ({ path, kind: 'added' as const }));
  return [...kept, ...added];
}

/** Codings are compared by what they code; another order of the same ones is one difference. */
function compareCodings(before: Json[], after: Json[], path: string): Difference[] {
  const keys = (list: Json[]) =>
    list.map((item) => `${member(Object(item), 'system')}|${member(Object(item), 'code')}`);
  const [keysBefore, keysAfter] = [keys(before), keys(after)];
  const inner = before.flatMap((item, index) =>
    compare(item, after[keysAfter.indexOf(keysBefore[index] ?? '')], path),
  );
  const added = keysAfter
    .filter((key) => !keysBefore.includes(key))
    .map(() => ({ path, kind: 'added' as const }));
  const kept = keysAfter.filter((key) => keysBefore.includes(key));
  const reordered = kept.join() !== keysBefore.filter((key) => keysAfter.includes(key)).join();
  return [...inner, ...added, ...(reordered ? [{ path, kind: 'reordered' as const }] : [])];
}

function sameValue(before: Json, after: Json, path: string): boolean {
  const [digitsBefore, digitsAfter] = [decimalText(before), decimalText(after)];
  if (digitsBefore !== undefined || digitsAfter !== undefined) return digitsBefore === digitsAfter;
  if (before === after) return true;
  if (typeof before !== 'string' || typeof after !== 'string') return false;
  if (path.endsWith('.data')) return before.replaceAll(/\s/g, '') === after;
  return path.endsWith('.reference') && sameTarget(before, after);
}

/** `urn:uuid:X`, `Type/X`, or `Type?identifier=…`, against `Type/<id here>`. */
function sameTarget(before: string, after: string): boolean {
  const [type = '', id = ''] = after.split('/');
  if (before.startsWith('urn:uuid:')) return before.slice('urn:uuid:'.length).toLowerCase() === id;
  if (before.includes('?')) return before.startsWith(`${type}?`);
  const [sourceType = '', sourceId = ''] = before.split('/').slice(-2);
  return sourceType === type && recordId(type, sourceId) === id;
}

function isObject(value: Json): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Decimal) && !Array.isArray(value);
}

function member(value: object, name: string): Json {
  return (value as Record<string, Json>)[name];
}
