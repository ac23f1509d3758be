/** Statements that break a rule of `statement-rules.ts` on purpose. */
export interface Exception {
  /** Name of the prepared statement, or the file that submits it where it has none. */
  statement: string;
  rules: readonly (1 | 2 | 3 | 4 | 5)[];
  reason: string;
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    statement: 'src/privacy/verification/log-organisations.store.ts',
    rules: [1],
    reason:
      'Verification asks which organisations have entries, also one that never was. When a node is down, the table of the organisations is enough.',
  },
  {
    statement: 'src/app/scale-out/citus.store.ts',
    rules: [1],
    reason: 'The command that distributes the tables counts all rows of each.',
  },
  {
    statement: 'src/app/doctor/check-upkeep.ts',
    rules: [1],
    reason: 'The check of the months asks whether any entry of any organisation is misplaced.',
  },
];
