/** Statements that break a rule of `statement-rules.ts` on purpose. */
export interface Exception {
  /** Name of the prepared statement, or the file that submits it where it has none. */
  statement: string;
  rules: readonly (1 | 2 | 3 | 4 | 5)[];
  reason: string;
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    statement: 'src/records/import/write/dry-run-tables.store.ts',
    rules: [3],
    reason: 'a dry run shows temporary tables beside the real ones, which Citus refuses (docs/scaling.md)',
  },
];

/** Rooms, and beginnings of names, whose statements are not checked yet. */
export const LATER: readonly string[] = [
  'src/sign-in/sessions/sweep',
  'src/publish/history/sweep',
  'src/privacy/',
  'src/app/',
  'access-log-',
];
