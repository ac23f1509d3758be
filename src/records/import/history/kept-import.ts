/** An import that is kept while it runs and afterwards (docs/adr/0142, docs/adr/0151). */

export const IMPORT_STATES = ['running', 'finished', 'rejected', 'failed'] as const;
export type ImportState = (typeof IMPORT_STATES)[number];

export const IMPORT_WAYS = ['http', 'command'] as const;
export type ImportWay = (typeof IMPORT_WAYS)[number];

/** What stands in the files: a Bundle, a single resource, or a resource or Bundle on each line (NDJSON). */
export const IMPORT_CONTENTS = ['bundle', 'resource', 'lines'] as const;
export type ImportContent = (typeof IMPORT_CONTENTS)[number];

export interface ImportProgress {
  files: number;
  /** Of all files. */
  totalBytes: number;
  /** As far as it has read for good. */
  doneBytes: number;
  /** Taken. */
  resources: number;
  rejected: number;
}

export interface ListedImport {
  id: string;
  state: ImportState;
  startedAt: string;
  finishedAt: string | null;
  startedBy: { kind: 'account'; id: string; email: string | null } | { kind: 'operator' };
  way: ImportWay;
  /** As whoever began it named it; it may hold a name of a patient, so it is in no log. */
  fileName: string | null;
  /** Null: not known yet, nothing of the kind, or several files that differ. */
  content: ImportContent | null;
  progress: ImportProgress;
  failure: string | null;
}
