/** An import that is kept while it runs and afterwards (docs/adr/0142). */

export const IMPORT_STATES = ['running', 'finished', 'rejected', 'failed'] as const;
export type ImportState = (typeof IMPORT_STATES)[number];

export const IMPORT_WAYS = ['http', 'command'] as const;
export type ImportWay = (typeof IMPORT_WAYS)[number];

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
  progress: ImportProgress;
  failure: string | null;
}
