/**
 * SQL of the text that a record is kept as beside its columns: where it counts, and keeping it anew (docs/adr/0120). A
 * table of such records has the columns rendered, rendered_version and rendered_mapping.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { type Field, rowSql } from '../content/document.ts';

/** Records of one type that are kept as text. */
export interface KeptTable {
  name: string;
  /** Of the table in the select list. */
  alias: string;
  /** The columns that a text is made of. */
  fields: readonly Field[];
  /** The text as these columns say it; `columns` is what {@link columnsSql} gave. */
  render: (columns: string, organisationId: string) => string;
}

/** Whose records are rendered, and by which version of the mapping. */
export interface Rendering {
  organisationId: string;
  mapping: number;
}

export interface RecordPlace {
  facilityId: string;
  id: string;
}

export interface FreshText extends RecordPlace {
  version: number;
  text: string;
}

/** SQL that is true while the text of a row counts; `mapping` is SQL of the version of the mapping. */
export function countsSql({ alias }: Pick<KeptTable, 'alias'>, mapping: string): string {
  return `(${alias}.rendered is not null and ${alias}.rendered_version = ${alias}.version and ${alias}.rendered_mapping = ${mapping})`;
}

/** SQL of the columns of a row, as one text. */
export function columnsSql({ fields }: Pick<KeptTable, 'fields'>): string {
  return `${rowSql(fields)}::text`;
}

/**
 * Keep texts of rows that are still the same. A row that another transaction is changing is passed over: its text would
 * not count for long. The text of a newer mapping stays: while two versions of the program run, only one writes.
 */
export async function keepTexts(
  db: Queryable,
  { name }: Pick<KeptTable, 'name'>,
  { organisationId, mapping }: Rendering,
  texts: readonly FreshText[],
): Promise<void> {
  if (texts.length === 0) return;
  await db.query({
    name: `${name}-keep-texts`,
    text: `
      update ${name} kept
      set rendered = fresh.text, rendered_version = fresh.version, rendered_mapping = $2
      from (
        select stored.facility_id, stored.id, stored.version, given.text
        from unnest($3::uuid[], $4::uuid[], $5::bigint[], $6::text[]) as given (facility_id, id, version, text)
        join ${name} stored
          on stored.organisation_id = $1
          and stored.facility_id = given.facility_id
          and stored.id = given.id
          and stored.version = given.version
        where (stored.rendered_version = stored.version and stored.rendered_mapping > $2) is not true
        for no key update of stored skip locked
      ) fresh
      where kept.organisation_id = $1
        and kept.facility_id = fresh.facility_id
        and kept.id = fresh.id`,
    values: [
      organisationId,
      mapping,
      texts.map(({ facilityId }) => facilityId),
      texts.map(({ id }) => id),
      texts.map(({ version }) => version),
      texts.map(({ text }) => text),
    ],
  });
}

export interface KeptRecord extends RecordPlace {
  version: number;
  /** Null where no text counts. */
  text: string | null;
  columns: string;
}

/** Records after a place, in the order of their keys. */
export async function recordsAfter(
  db: Queryable,
  table: KeptTable,
  { organisationId, mapping }: Rendering,
  { after, limit }: { after: RecordPlace; limit: number },
): Promise<KeptRecord[]> {
  const { name, alias } = table;
  const { rows } = await db.query<KeptRecord>({
    name: `${name}-texts-after`,
    text: `
      select ${alias}.facility_id as "facilityId", ${alias}.id, ${alias}.version,
        case when ${countsSql(table, '$2')} then ${alias}.rendered end as text, ${columnsSql(table)} as columns
      from ${name} ${alias}
      where ${alias}.organisation_id = $1
        and (${alias}.facility_id, ${alias}.id) > ($3, $4)
      order by ${alias}.facility_id, ${alias}.id
      limit $5`,
    values: [organisationId, mapping, after.facilityId, after.id, limit],
  });
  return rows;
}
