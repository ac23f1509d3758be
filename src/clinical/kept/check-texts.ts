/**
 * Compares the kept texts of all records of a type in an organisation with their columns, which are the truth, and renews
 * those that are missing or differ (docs/adr/0120).
 */
import type { Queryable } from '../../platform/db/database.ts';
import { type KeptTable, keepTexts, type RecordPlace, recordsAfter } from './kept-texts.store.ts';

/** A kept text beside what it should be; null for none. */
export interface CheckedText extends RecordPlace {
  version: number;
  text: string | null;
  right: string | null;
}

/** Texts that are made of more than the columns of one row. */
export interface CheckedTexts extends Pick<KeptTable, 'name' | 'reach' | 'mapping'> {
  /** Of records after a place, in the order of their keys. The last page has fewer than `limit`. */
  checkedAfter(
    db: Queryable,
    organisationId: string,
    page: { after: RecordPlace; limit: number },
  ): Promise<CheckedText[]>;
  /** Records that are looked at together. */
  limit: number;
}

/** What a walk over the kept texts of some records found. */
export interface TextCheck {
  records: number;
  /** Records without a text that counts: the next read renders them. */
  missing: number;
  /** Ids of records whose text is not what their columns say. */
  different: string[];
}

const ROWS_LIMIT = 1_000;
const BEFORE_ALL: RecordPlace = {
  facilityId: '00000000-0000-0000-0000-000000000000',
  id: '00000000-0000-0000-0000-000000000000',
};

/** With `renew`, each record has the right text afterwards, but for those that are being changed. */
export async function checkTexts(
  db: Queryable,
  kept: KeptTable | CheckedTexts,
  organisationId: string,
  { renew = false }: { renew?: boolean } = {},
): Promise<TextCheck> {
  const texts = 'checkedAfter' in kept ? kept : textsOfRows(kept);
  const { limit } = texts;
  const found: TextCheck = { records: 0, missing: 0, different: [] };
  for (let after: RecordPlace | undefined = BEFORE_ALL; after !== undefined; ) {
    const checked: CheckedText[] = await texts.checkedAfter(db, organisationId, { after, limit });
    const wrong = checked.filter(({ text, right }) => text !== right);
    const different = wrong.filter(({ text }) => text !== null);
    found.records += checked.length;
    found.missing += wrong.length - different.length;
    found.different.push(...different.map(({ id }) => id));
    if (renew)
      await keepTexts(
        db,
        texts,
        organisationId,
        wrong.map(({ right, ...record }) => ({ ...record, text: right })),
      );
    after = checked.length < limit ? undefined : checked.at(-1);
  }
  return found;
}

function textsOfRows(table: KeptTable): CheckedTexts {
  return {
    ...table,
    limit: ROWS_LIMIT,
    async checkedAfter(db, organisationId, page) {
      const rows = await recordsAfter(db, table, organisationId, page);
      return rows.map(({ columns, ...row }) => ({ ...row, right: table.render(columns, organisationId) }));
    },
  };
}
