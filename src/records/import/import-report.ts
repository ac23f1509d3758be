/** What an import says at its end (design section 5): counts, and what was rejected and why. */
import type { UnitOutcome } from './import-unit.ts';
import { count } from './unit.ts';

/** Rejections that are listed; more are only counted. */
const LISTED = 10_000;

export interface Rejection {
  /** File as it was named; `-` is standard input. */
  file: string;
  /** Number of the Bundle entry or NDJSON line, from 1; null where it concerns the whole file. */
  entry: number | null;
  resourceType?: string;
  /** For people; never clinical values. */
  reason: string;
}

/** The document that `interchange import --json` and `POST /imports/fhir` give. Counts are by resource type. */
export interface ImportDocument {
  /** Files read. */
  files: number;
  /** Bundles taken. */
  bundles: number;
  /** Resources taken, also those whose content was there already. */
  resources: Record<string, number>;
  /** Resources of types that are not taken. */
  notTaken: Record<string, number>;
  rejected: Rejection[];
  /** All rejections, where the list is cut. */
  rejectedCount: number;
  /** Of `resources`: those that changed nothing. */
  unchanged: Record<string, number>;
  /** By element path: what resources carried that the model has no place for. */
  notKept: Record<string, number>;
  /** By element path: references whose target is not there, kept as their display. */
  unresolved: Record<string, number>;
}

export class ImportReport {
  files = 0;
  bundles = 0;
  rejectedCount = 0;
  /** Sources that are no FHIR JSON at all. */
  unreadable = 0;
  readonly rejected: Rejection[] = [];
  readonly #resources = new Map<string, number>();
  readonly #unchanged = new Map<string, number>();
  readonly #notTaken = new Map<string, number>();
  readonly #notKept = new Map<string, number>();
  readonly #unresolved = new Map<string, number>();

  reject(rejection: Rejection): void {
    this.rejectedCount += 1;
    if (this.rejected.length < LISTED) this.rejected.push(rejection);
  }

  addNotTaken(types: ReadonlyMap<string, number>): void {
    addCounts(this.#notTaken, types);
  }

  add({ resources, unchanged, notKept, unresolved }: UnitOutcome): void {
    addCounts(this.#resources, resources);
    addCounts(this.#unchanged, unchanged);
    addCounts(this.#notKept, notKept);
    addCounts(this.#unresolved, unresolved);
  }

  document(): ImportDocument {
    return {
      files: this.files,
      bundles: this.bundles,
      resources: sorted(this.#resources),
      notTaken: sorted(this.#notTaken),
      rejected: this.rejected.toSorted(compareRejections),
      rejectedCount: this.rejectedCount,
      unchanged: sorted(this.#unchanged),
      notKept: sorted(this.#notKept),
      unresolved: sorted(this.#unresolved),
    };
  }
}

/** The document as lines for people. */
export function importText(document: ImportDocument): string {
  const lines = [
    `files      ${document.files}`,
    `bundles    ${document.bundles}`,
    ...counted('taken', document.resources),
    ...counted('unchanged', document.unchanged),
    ...counted('not taken', document.notTaken),
    ...counted('not kept', document.notKept),
    ...counted('unresolved', document.unresolved),
    `rejected   ${document.rejectedCount}`,
    ...document.rejected.map(({ file, entry, resourceType, reason }) => {
      const place = entry === null ? file : `${file}, entry ${entry}`;
      return `  ${place}${resourceType === undefined ? '' : ` (${resourceType})`}: ${reason}`;
    }),
  ];
  const unlisted = document.rejectedCount - document.rejected.length;
  return [...lines, ...(unlisted > 0 ? [`  and ${unlisted} more`] : [])].join('\n');
}

function counted(title: string, counts: Record<string, number>): string[] {
  const entries = Object.entries(counts);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  if (entries.length === 0) return [];
  return [title, ...entries.map(([name, times]) => `  ${name.padEnd(width)}  ${times}`)];
}

function addCounts(counts: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [name, times] of more) count(counts, name, times);
}

function sorted(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function compareRejections(a: Rejection, b: Rejection): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.entry ?? 0) - (b.entry ?? 0);
}
