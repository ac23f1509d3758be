/**
 * The first pass over a source: what it is, what stands where, and which resources are taken. It parses each entry and
 * forgets it again. So the faults of a Bundle are known before anything of it is written.
 * Contract: IN-31, IN-49, IN-54.
 */

import { hash } from 'node:crypto';
import { parseFhirJson } from '../../../fhir/json.ts';
import { type JsonObject, ResourceRejected } from '../../../fhir/reading/json-resource.ts';
import { hasMoreValues, isDeeper, textAtKey, tooDeep } from '../../../platform/json-depth.ts';
import { createPauses } from '../../../platform/pauses.ts';
import { IMPORTERS } from '../map/importers.ts';
import { reportedPath, requireUnderstood } from '../map/understood.ts';
import type { LineNumbers } from '../run/line-numbers.ts';
import type { Rejected } from '../run/run-unit.ts';
import {
  BUNDLE_REASONS,
  count,
  MisspeltType,
  RESOURCE_TYPE,
  type SeenEntry,
  seenEntry,
  seenResource,
  Unit,
} from '../run/unit.ts';
import { MAX_JSON_LEVELS, MAX_JSON_VALUES, type SourceLimits, sizeText } from '../source/limits.ts';
import { type JsonText, notJson } from '../source/not-json.ts';
import {
  decodeUtf8,
  type EntryRange,
  type LinePosition,
  readDocument,
  readLines,
  tooLarge,
} from '../source/read-entries.ts';
import { repeatedKey } from '../source/repeated-key.ts';
import { SourceError } from '../source/source-error.ts';
import type { Spool } from '../source/spool.ts';
import { recordIdOf } from './record-id.ts';

/** Bundles that hold records to take (R4, Bundle.type). */
const BUNDLE_TYPES = ['transaction', 'batch', 'collection', 'searchset'];
/** What a Bundle may have (R4). */
const BUNDLE_ELEMENTS = new Set(
  'resourceType id meta implicitRules language identifier type timestamp total link entry signature'.split(
    ' ',
  ),
);

export interface IndexedDocument {
  unit: Unit;
  rejected: Rejected[];
}

/** A Bundle, or a resource as its only entry. Throws SourceError when the document is neither, or cannot be read. */
export async function indexDocument(
  spool: Spool,
  range: { start: number; end: number },
  { limits, understood }: { limits: SourceLimits; understood: ReadonlySet<string> },
): Promise<IndexedDocument> {
  const unit = new Unit({ isBundle: true });
  const rejected: Rejected[] = [];
  const envelope = await readDocument(spool, range, limits, async (place, bytes) => {
    if (rejected.length >= BUNDLE_REASONS) return;
    await indexEntry(unit, { place, bytes, spool, understood, rejected });
    if (unit.heldBytes > limits.maxIndexBytes)
      throw new SourceError(
        `has too many ids, addresses and identifiers: they need more than the limit of ${sizeText(limits.maxIndexBytes)}. Split the file.`,
      );
  });
  const wide = wideResource(envelope);
  if (wide !== undefined) return unparsed(envelope, wide);
  const isWhole = Buffer.byteLength(envelope) === range.end - range.start;
  const document = asResource(parseDocument(envelope, isWhole));
  if (document.resourceType !== BUNDLE) return indexResource(document, envelope, { number: 1, ...range });
  if (!BUNDLE_TYPES.some((type) => type === document.type))
    throw new SourceError(`is a Bundle, but its type is not one of ${BUNDLE_TYPES.join(', ')}`);
  if (document.entry !== undefined && !Array.isArray(document.entry))
    throw new SourceError('is a Bundle, but its entry is not a list');
  if (document.entry === undefined && Object.keys(document).some(isNoElement))
    throw new SourceError(
      'is a Bundle without an entry list, and has an element that FHIR does not define. Rename the list of its resources to entry',
    );
  try {
    requireUnderstood(document, 'Bundle', understood);
  } catch (error) {
    rejected.push({ entry: null, reason: reasonOf(error, '') });
  }
  return { unit, rejected };
}

/** `_` before an element stands for what belongs to a primitive value (R4, JSON). */
function isNoElement(name: string): boolean {
  return !BUNDLE_ELEMENTS.has(name.replace(/^_/, ''));
}

/** A resource by itself, which was parsed from `text`. */
function indexResource(resource: JsonObject, text: string, place: EntryRange): IndexedDocument {
  const unit = new Unit();
  const seen = seenResource(resource);
  const { resourceType } = seen;
  const importer = IMPORTERS.get(resourceType);
  try {
    if (importer === undefined) unit.addOther(seen);
    else
      unit.add(
        place,
        seen,
        importer,
        recordIdOf(resource, resourceType, undefined, () => exactJson(text)),
      );
    return { unit, rejected: [] };
  } catch (error) {
    return { unit, rejected: [{ entry: place.number, reason: reasonOf(error, 'The resource') }] };
  }
}

/** A document that is not parsed. Throws SourceError when it is no FHIR. */
function unparsed(envelope: string, wide: WideResource): IndexedDocument {
  const beginning = envelope.trimStart().charAt(0);
  if (beginning === '[') asResource([]);
  if (beginning !== '{') parseDocument(envelope, true);
  if (wide.resourceType === '') asResource({});
  const unit = new Unit();
  if (wide.resourceType === BUNDLE) return { unit, rejected: [tooWide(wide, null)] };
  if (wide.isTaken) return { unit, rejected: [tooWide(wide, 1)] };
  count(unit.notTaken, wide.resourceType);
  return { unit, rejected: [] };
}

/** A line whose resource is taken. */
export interface Line extends EntryRange {
  order: number;
  /** Of lines that are taken once more: stands for the reference to whom it is about; empty where there is none. */
  subject: string;
}

export interface IndexedLines {
  /**
   * By the order of their types, then as they stand. Those that are taken once more go patient by patient: what refers to
   * each other and moved to another patient is taken together.
   */
  lines: Line[];
  bundles: EntryRange[];
  notTaken: Map<string, number>;
  /** Lines that are FHIR, but are not taken. */
  rejected: Rejected[];
  /** Where the lines after these begin; undefined when there are none. */
  next: LinePosition | undefined;
}

/** Told of each line that is no FHIR; says `stop` when the rest is not to be read. */
export type OnBrokenLine = (rejected: Rejected) => 'stop' | undefined;

/** At most `linesAtOnce` lines of NDJSON from a position on; where `only` is given, those of them that are in it. */
export async function indexLines(
  spool: Spool,
  from: LinePosition,
  { limits, only, onBroken }: { limits: SourceLimits; only: LineNumbers | undefined; onBroken: OnBrokenLine },
): Promise<IndexedLines> {
  const found: IndexedLines = { lines: [], bundles: [], notTaken: new Map(), rejected: [], next: undefined };
  found.next = await readLines(spool, from, limits, (place, bytes) => {
    if (only !== undefined && !only.has(place.number)) return undefined;
    try {
      if (bytes === undefined) throw new ResourceRejected(`The line ${tooLarge(limits)}`);
      const text = decodeUtf8(bytes);
      const wide = wideResource(text);
      if (wide !== undefined) return addWide(found, wide, place);
      const { resourceType, resource } = seenResource(parseJson(text));
      requireUniqueKeys(text, resourceType);
      const importer = IMPORTERS.get(resourceType);
      if (resourceType === BUNDLE) found.bundles.push(place);
      else if (importer === undefined) count(found.notTaken, resourceType);
      else {
        recordIdOf(resource, resourceType, undefined);
        found.lines.push({ ...place, order: importer.order, subject: subjectOf(resource, only) });
      }
      return undefined;
    } catch (error) {
      const rejected = { entry: place.number, reason: reasonOf(error, 'The line') };
      if (!(error instanceof MisspeltType)) return onBroken(rejected);
      found.rejected.push(rejected);
      return undefined;
    }
  });
  found.lines.sort((a, b) => compareTexts(a.subject, b.subject) || a.order - b.order || a.number - b.number);
  return found;
}

function addWide(found: IndexedLines, wide: WideResource, place: EntryRange): undefined {
  // Its entries are parsed one by one.
  if (wide.resourceType === BUNDLE) found.bundles.push(place);
  else if (wide.isTaken) found.rejected.push(tooWide(wide, place.number));
  else count(found.notTaken, wide.resourceType);
}

function subjectOf({ subject }: JsonObject, only: LineNumbers | undefined): string {
  if (only === undefined) return '';
  const { reference } = (subject ?? {}) as JsonObject;
  // A reference may be as long as a line, and those of many lines are in memory at once.
  return typeof reference === 'string' ? hash('sha256', reference, 'base64') : '';
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * A unit of the first of `lines`. It ends before a line about a record that it has already: that line must find the
 * earlier one written. It also ends before it has more bytes than one entry may have.
 */
export async function lineUnit(
  spool: Spool,
  lines: readonly Line[],
  limits: SourceLimits,
): Promise<{ unit: Unit; used: number }> {
  const unit = new Unit();
  const pause = createPauses();
  let used = 0;
  let bytes = 0;
  for (const line of lines) {
    await pause();
    bytes += line.end - line.start;
    if (used > 0 && bytes > limits.maxEntryBytes) break;
    const text = decodeUtf8(await spool.read(line.start, line.end));
    const seen = seenResource(parseJson(text));
    const importer = IMPORTERS.get(seen.resourceType);
    if (importer === undefined) throw new SourceError('changed while it was read');
    const id = recordIdOf(seen.resource, seen.resourceType, undefined, () => exactJson(text));
    if (unit.sameRecord(seen.resourceType, id) !== undefined) break;
    unit.add(line, seen, importer, id);
    used += 1;
  }
  return { unit, used };
}

interface EntryAtHand {
  place: EntryRange;
  bytes: Buffer;
  spool: Spool;
  understood: ReadonlySet<string>;
  rejected: Rejected[];
}

async function indexEntry(
  unit: Unit,
  { place, bytes, spool, understood, rejected }: EntryAtHand,
): Promise<void> {
  let type: { resourceType?: string } = {};
  try {
    const text = decodeUtf8(bytes);
    const wide = wideResource(text, 2);
    if (wide !== undefined) {
      if (wide.isTaken) rejected.push(tooWide(wide, place.number));
      else count(unit.notTaken, wide.resourceType);
      return;
    }
    const parsed = parseJson(text);
    const seen = seenEntry(parsed);
    const { resourceType } = seen;
    type = { resourceType };
    requireUniqueKeys(text, resourceType);
    const importer = IMPORTERS.get(resourceType);
    if (importer === undefined) {
      unit.addOther(seen);
      return;
    }
    // The resource itself is looked at when it is taken.
    requireUnderstood({ ...(parsed as JsonObject), resource: undefined }, 'Bundle.entry', understood);
    const id = recordIdOf(seen.resource, resourceType, seen.fullUrl, () => exactResource(text));
    if (await isRepeated(unit, { seen, text }, id, spool)) count(unit.repeated, resourceType);
    else unit.add(place, seen, importer, id);
  } catch (error) {
    rejected.push({ entry: place.number, ...type, reason: reasonOf(error, 'The entry') });
  }
}

const BUNDLE = 'Bundle';

/** What JSON text says of itself that has too many values to be parsed. */
interface WideResource {
  /** Empty for none. */
  resourceType: string;
  /** False for a type that is only counted. */
  isTaken: boolean;
}

/** `level`: how deep the resource stands in the text. */
function wideResource(text: string, level = 1): WideResource | undefined {
  if (!hasMoreValues(text, MAX_JSON_VALUES)) return undefined;
  const named = textAtKey(text, 'resourceType', level) ?? '';
  const resourceType = RESOURCE_TYPE.test(named) ? named : '';
  return { resourceType, isTaken: resourceType === '' || IMPORTERS.has(resourceType) };
}

function tooWide({ resourceType }: WideResource, entry: number | null): Rejected {
  const reason = `The resource has more than the limit of ${MAX_JSON_VALUES} values. Send less of it`;
  return { entry, ...(resourceType === '' ? {} : { resourceType }), reason };
}

/** True when the Bundle has the same resource already; throws when it has another one under the same id. */
async function isRepeated(
  unit: Unit,
  { seen, text }: { seen: SeenEntry; text: string },
  id: string,
  spool: Spool,
): Promise<boolean> {
  const before = unit.sameRecord(seen.resourceType, id);
  if (before === undefined) return false;
  const earlier = decodeUtf8(await spool.read(before.start, before.end));
  if (JSON.stringify(exactResource(earlier)) === JSON.stringify(exactResource(text))) return true;
  throw new ResourceRejected(
    seen.resource.id === undefined
      ? `The entry has no id, and its fullUrl or first identifier makes it the same record as entry ${before.number}, but it has other content`
      : `The entry has the same type and id as entry ${before.number}, but other content`,
  );
}

/**
 * Parsed JSON; throws SourceError, which says where the fault is if that can be told. Numbers may lose digits: for looking,
 * not for keeping.
 */
function parseJson(text: string, about: JsonText = { of: 'part', isWhole: true }): unknown {
  if (isDeeper(text, MAX_JSON_LEVELS)) throw new SourceError(tooDeep(MAX_JSON_LEVELS));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson(text, about, error);
  }
}

/** What {@link parseJson} took, with the digits of its numbers: `7.0` is not `7`. What cannot be kept is refused later. */
function exactJson(text: string): unknown {
  try {
    return parseFhirJson(text);
  } catch {
    return JSON.parse(text);
  }
}

/** The resource of an entry. */
function exactResource(text: string): unknown {
  return (exactJson(text) as JsonObject).resource;
}

/** Throws ResourceRejected when an object in the JSON text of a resource or of its entry has a key twice. */
function requireUniqueKeys(text: string, resourceType: string): void {
  const key = repeatedKey(text);
  if (key === undefined) return;
  const path = key.replace(/^resource\./, '');
  throw new ResourceRejected(`${reportedPath(`${resourceType}.${path}`)} ${TWICE}`);
}

const TWICE = 'is there twice in one JSON object, so that one of them would be lost. Send it once';

/** A document without its entries. Throws SourceError, which says what it is when it is not JSON. */
function parseDocument(text: string, isWhole: boolean): unknown {
  const beginning = text.trimStart().charAt(0);
  if (beginning === '') throw new SourceError('is empty');
  if (beginning === '<') throw new SourceError('is XML or HTML. Send FHIR as JSON');
  const parsed = parseJson(text, { of: 'source', isWhole });
  const path = repeatedKey(text);
  if (path !== undefined)
    throw new SourceError(`has ${reportedPath(path)} twice in one JSON object. Send it once`);
  return parsed;
}

function asResource(value: unknown): JsonObject {
  if (Array.isArray(value))
    throw new SourceError(
      'is a JSON list. Send a Bundle, one resource, or NDJSON with a resource on each line',
    );
  try {
    return seenResource(value).resource;
  } catch (error) {
    throw new SourceError(`is JSON, but not FHIR: ${reasonOf(error, '')}`, { cause: error });
  }
}

function reasonOf(error: unknown, what: string): string {
  if (error instanceof ResourceRejected) return error.message;
  if (error instanceof SourceError) return `${what} ${error.message}`;
  throw error;
}
