/**
 * Compares the kept texts of all records of a type in an organisation with their columns, which are the truth, and renews
 * those that are missing or differ (docs/adr/0120).
 */
import type { Queryable } from '../../platform/db/database.ts';
import { type KeptTable, keepTexts, type RecordPlace, recordsAfter } from './kept-texts.store.ts';

/** What a walk over the kept texts of some records found. */
export interface TextCheck {
  records: number;
  /** Records without a text that counts: the next read renders them. */
  missing: number;
  /** Ids of records whose text is not what their columns say. */
  different: string[];
}

const LIMIT = 1_000;
const BEFORE_ALL: RecordPlace = {
  facilityId: '00000000-0000-0000-0000-000000000000',
  id: '00000000-0000-0000-0000-000000000000',
};

/** With `renew`, each record has the right text afterwards, but for those that are being changed. */
export async function checkTexts(
  db: Queryable,
  table: KeptTable,
  organisationId: string,
  { renew = false }: { renew?: boolean } = {},
): Promise<TextCheck> {
  const found: TextCheck = { records: 0, missing: 0, different: [] };
  for (let after: RecordPlace | undefined = BEFORE_ALL; after !== undefined; ) {
    const rows = await recordsAfter(db, table, organisationId, { after, limit: LIMIT });
    const wrong = rows.flatMap(({ columns, ...row }) => {
      const right = table.render(columns, organisationId);
      return row.text === right ? [] : [{ ...row, had: row.text, text: right }];
    });
    const different = wrong.filter(({ had }) => had !== null);
    found.records += rows.length;
    found.missing += wrong.length - different.length;
    found.different.push(...different.map(({ id }) => id));
    if (renew) await keepTexts(db, table, organisationId, wrong);
    after = rows.length < LIMIT ? undefined : rows.at(-1);
  }
  return found;
}
