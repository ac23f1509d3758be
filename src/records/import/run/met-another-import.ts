/** The failure of a unit that only has to be repeated. */

/**
 * Another import has just added what this one held for new. The same work meets it when repeated
 * (`import-transaction.ts`).
 */
export class MetAnotherImport extends Error {
  override name = 'MetAnotherImport';
  readonly code = '40001';

  constructor() {
    super('Another import added the same record');
  }
}
