/** What an import says at its end: counts, and what was rejected and why. Contract: IN-7, IN-23, IN-35. */
import type { Static } from 'typebox';
import type { ImportContent } from './history/kept-import.ts';
import type { ImportReportSchema } from './import-report.schema.ts';
import { comparePlaces, type ElementCount, ElementTally } from './map/element-tally.ts';
import { NotShownTally } from './not-shown.ts';
import type { UnitOutcome } from './run/import-unit.ts';
import { count, type EntryReason } from './run/unit.ts';

/** Rejections, older versions and notices that are listed; more are only counted. */
const LISTED = 10_000;

/** The document that `interchange import --json` and `POST /imports/fhir` give. */
export type ImportDocument = Omit<Static<typeof ImportReportSchema>, 'dryRun'>;
export type Rejection = ImportDocument['rejected'][number];
type OlderResource = ImportDocument['older'][number];

export class ImportReport {
  /** Sources that are done with. */
  doneFiles = 0;
  bundles = 0;
  rejectedCount = 0;
  olderCount = 0;
  noticeCount = 0;
  /** Sources that could not be read to their end, or are no FHIR JSON at all. */
  unreadable = 0;
  readonly rejected: Rejection[] = [];
  /** By their place: one may be taken several times. */
  readonly #begunSources = new Set<number>();
  readonly #older: OlderResource[] = [];
  readonly #notices: ImportDocument['notices'] = [];
  /** Of sources that are done with. */
  #doneBytes = 0;
  /** Bytes that were taken of the others, by their place among the sources: a file may be named twice. */
  readonly #read = new Map<number, number>();
  /** What the sources are. */
  readonly contents = new Set<ImportContent>();
  readonly notShown = new NotShownTally();
  readonly #resources = new Map<string, number>();
  readonly #unchanged = new Map<string, number>();
  readonly #notTaken = new Map<string, number>();
  readonly #notKept = new ElementTally();
  readonly #unresolved = new ElementTally();
  readonly #onRead: () => void;

  /** `onRead` is called when more was taken. */
  constructor(onRead: () => void = () => undefined) {
    this.#onRead = onRead;
  }

  /** A source is about to be read. */
  begin(source: number): void {
    this.#begunSources.add(source);
  }

  /** `bytes`: of what was taken. In a later round they are fewer at first. */
  readTo(source: number, bytes: number): void {
    if (bytes <= (this.#read.get(source) ?? 0)) return;
    this.#read.set(source, bytes);
    this.#onRead();
  }

  readWhole(source: number, bytes: number): void {
    this.doneFiles += 1;
    this.#doneBytes += bytes;
    this.#read.delete(source);
    this.#onRead();
  }

  /** How far it has come. */
  progress(): { doneBytes: number; resources: number; rejected: number } {
    return {
      doneBytes: this.#doneBytes + total(this.#read),
      resources: total(this.#resources),
      rejected: this.rejectedCount,
    };
  }

  /** Where all sources are alike. */
  content(): ImportContent | null {
    const [one] = this.contents;
    return this.contents.size === 1 && one !== undefined ? one : null;
  }

  reject(rejection: Rejection): void {
    this.rejectedCount += 1;
    if (this.rejected.length < LISTED) this.rejected.push(rejection);
  }

  addNotTaken(types: ReadonlyMap<string, number>): void {
    addCounts(this.#notTaken, types);
  }

  add({ resources, unchanged, notKept, older, notices, notShown }: UnitOutcome, file: string): void {
    for (const one of notShown) this.notShown.add(one);
    this.addNotices(notices, file);
    this.olderCount += older.length;
    for (const { number: entry, target } of older.slice(0, LISTED - this.#older.length))
      this.#older.push({ file, entry, resourceType: target.type });
    addCounts(this.#resources, resources);
    addCounts(this.#unchanged, unchanged);
    this.#notKept.addAll(notKept, file);
  }

  addNotices(notices: readonly EntryReason[], file: string): void {
    this.noticeCount += notices.length;
    for (const { entry, reason } of notices.slice(0, LISTED - this.#notices.length))
      this.#notices.push({ file, entry: entry.number, resourceType: entry.target.type, reason });
  }

  addUnresolved(unresolved: ElementTally, file: string): void {
    this.#unresolved.addAll(unresolved, file);
  }

  document(): ImportDocument {
    return {
      files: this.#begunSources.size,
      bundles: this.bundles,
      resources: sorted(this.#resources),
      notTaken: sorted(this.#notTaken),
      rejected: this.rejected.toSorted(comparePlaces),
      rejectedCount: this.rejectedCount,
      unchanged: sorted(this.#unchanged),
      older: this.#older.toSorted(comparePlaces),
      olderCount: this.olderCount,
      notices: this.#notices.toSorted(comparePlaces),
      noticeCount: this.noticeCount,
      notShown: this.notShown.counts(),
      notKept: this.#notKept.counts(),
      unresolved: this.#unresolved.counts(),
    };
  }
}

/** The document as lines for people. */
export function importText(document: ImportDocument & { otherFiles?: number; stopped?: boolean }): string {
  const { otherFiles = 0, stopped = false } = document;
  const lines = [
    ...(stopped ? ['stopped    before all was read'] : []),
    `files      ${document.files}${otherFiles > 0 ? `, and ${otherFiles} ${otherFiles === 1 ? 'other that is' : 'others that are'} neither JSON nor gzip` : ''}`,
    `bundles    ${document.bundles}`,
    ...counted('taken', document.resources),
    ...counted('unchanged', document.unchanged),
    ...counted('not taken', document.notTaken),
    ...listed('older', document.older, {
      count: document.olderCount,
      what: 'not taken: a newer version is there',
    }),
    ...listed('notices', document.notices, { count: document.noticeCount, what: 'taken: look at these' }),
    ...counted('not shown', document.notShown),
    ...elements('not kept', document.notKept),
    ...elements('unresolved', document.unresolved),
    `rejected   ${document.rejectedCount}`,
    ...rejectionLines(document.rejected),
  ];
  const unlisted = document.rejectedCount - document.rejected.length;
  return [...lines, ...(unlisted > 0 ? [`  and ${unlisted} more`] : [])].join('\n');
}

/** The first few of the rejections of one file that are alike, and how many more there are. */
function rejectionLines(rejected: readonly Rejection[]): string[] {
  const alike = Map.groupBy(rejected, ({ file, resourceType, reason }) =>
    JSON.stringify([file, resourceType, reason]),
  );
  /** Those that are shown, with how many like them follow that are not. */
  const shown = new Map<Rejection, number>();
  for (const group of alike.values())
    for (const [index, one] of group.slice(0, SHOWN_ALIKE).entries())
      shown.set(one, index === SHOWN_ALIKE - 1 ? group.length - SHOWN_ALIKE : 0);
  return rejected.flatMap((one) => {
    const more = shown.get(one);
    if (more === undefined) return [];
    const { file, entry, resourceType, reason } = one;
    const place = entry === null ? file : `${file}, entry ${entry}`;
    const line = `  ${place}${resourceType === undefined ? '' : ` (${resourceType})`}: ${reason}`;
    return more === 0 ? [line] : [line, `  and ${more} more like this one: --json names them`];
  });
}

function listed(
  title: string,
  resources: readonly (OlderResource & { reason?: string })[],
  { count, what }: { count: number; what: string },
): string[] {
  if (count === 0) return [];
  const shown = resources.slice(0, SHOWN);
  const more = count - shown.length;
  return [
    `${title.padEnd(10)} ${count}, ${what}`,
    ...shown.map(
      ({ file, entry, resourceType, reason }) =>
        `  ${file}, entry ${entry} (${resourceType})${reason === undefined ? '' : `: ${reason}`}`,
    ),
    ...(more > 0 ? [`  and ${more} more: --json names them`] : []),
  ];
}

function counted(title: string, counts: Record<string, number>): string[] {
  const entries = Object.entries(counts);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  if (entries.length === 0) return [];
  return [title, ...entries.map(([name, times]) => `  ${name.padEnd(width)}  ${times}`)];
}

/** How many lines of a section, rejections that are alike and types of an element people are shown. The document has more. */
const SHOWN = 20;
const SHOWN_ALIKE = 5;
const SHOWN_TYPES = 3;

/** One line for each element, whatever types it is of, most frequent first. */
function elements(title: string, all: readonly ElementCount[]): string[] {
  if (all.length === 0) return [];
  const groups = [...Map.groupBy(all, ({ element }) => element.slice(element.indexOf('.') + 1))]
    .map(([name, counts]) => ({ name, counts, total: counts.reduce((sum, { count }) => sum + count, 0) }))
    .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
  const shown = groups.slice(0, SHOWN);
  const width = Math.max(...shown.map(({ name }) => name.length));
  const digits = String(shown[0]?.total).length;
  const more = groups.length - shown.length;
  return [
    title,
    ...shown.map(
      ({ name, counts, total }) =>
        `  ${name.padEnd(width)}  ${String(total).padStart(digits)}  ${typesText(counts)}`,
    ),
    ...(more > 0 ? [`  and ${more} more ${more === 1 ? 'element' : 'elements'}: --json names them`] : []),
  ];
}

/** `Observation 7, Patient 2, Encounter 1 and 3 other types, for example in a.json, entry 4` */
function typesText(counts: readonly ElementCount[]): string {
  const [first] = counts;
  const types = counts.slice(0, SHOWN_TYPES).map(({ element, count }) => `${element.split('.')[0]} ${count}`);
  const others = counts.length - types.length;
  const more = others > 0 ? ` and ${others} other ${others === 1 ? 'type' : 'types'}` : '';
  return `${types.join(', ')}${more}, for example in ${first?.file}, entry ${first?.entry}`;
}

function addCounts(counts: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [name, times] of more) count(counts, name, times);
}

function total(counts: ReadonlyMap<unknown, number>): number {
  return counts.values().reduce((sum, count) => sum + count, 0);
}

function sorted(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
