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
  /** What its primary key names beside the organisation and the id. */
  reach: 'organisation' | 'facility';
  /** Version of the mapping that `render` is. */
  mapping: number;
  /** The columns that a text is made of. */
  fields: readonly Field[];
  /** The text as these columns say it; `columns` is what {@link columnsSql} gave. */
  render: (columns: string, organisationId: string) => string;
}

export interface RecordPlace {
  /** Of a record that its facility alone has. */
  facilityId?: string;
  id: string;
}

/** Columns of the primary key beside the organisation, and where a place has their values. */
const KEYS = {
  organisation: [['id', 'id']],
  facility: [
    ['facility_id', 'facilityId'],
    ['id', 'id'],
  ],
} as const satisfies Record<KeptTable['reach'], readonly (readonly [string, keyof RecordPlace])[]>;

/** What {@link keepTexts} has of each key. */
const ARRAYS = { facility_id: '$2', id: '$3' } as const;

export interface FreshText extends RecordPlace {
  version: number;
  /** Null for a record that is kept without one. */
  text: string | null;
}

/** SQL that is true while the text of a row counts. */
export function countsSql({ alias, mapping }: Pick<KeptTable, 'alias' | 'mapping'>): string {
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
  table: Pick<KeptTable, 'name' | 'reach' | 'mapping'>,
  organisationId: string,
  texts: readonly FreshText[],
): Promise<void> {
  for (let from = 0; from < texts.length; from += KEPT_TOGETHER)
    await keepSome(db, table, organisationId, texts.slice(from, from + KEPT_TOGETHER));
}

/** Texts in one statement: PostgreSQL may look at all of the keys for each of them. */
const KEPT_TOGETHER = 200;

async function keepSome(
  db: Queryable,
  { name, reach, mapping }: Pick<KeptTable, 'name' | 'reach' | 'mapping'>,
  organisationId: string,
  texts: readonly FreshText[],
): Promise<void> {
  const keys = KEYS[reach].map(([column]) => column);
  const named = (row: string, other: string) =>
    keys
      .map((key) => `and ${row}.${key} = any(${ARRAYS[key]}) and ${row}.${key} = ${other}.${key}`)
      .join('\n          ');
  // Without a name: it is planned for the ids that it has (by-key.ts).
  await db.query({
    text: `
      update ${name} kept
      set rendered = fresh.text, rendered_version = fresh.version, rendered_mapping = ${mapping}
      from (
        select ${keys.map((column) => `stored.${column}`).join(', ')}, stored.version, given.text
        from unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::text[]) as given (facility_id, id, version, text)
        join ${name} stored
          on stored.organisation_id = $1
          ${named('stored', 'given')}
          and stored.version = given.version
        where (stored.rendered_version = stored.version and stored.rendered_mapping > ${mapping}) is not true
        for no key update of stored skip locked
      ) fresh
      where kept.organisation_id = $1
          ${named('kept', 'fresh')}`,
    values: [
      organisationId,
      texts.map(({ facilityId }) => facilityId ?? null),
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
  organisationId: string,
  { after, limit }: { after: RecordPlace; limit: number },
): Promise<KeptRecord[]> {
  const { name, alias, reach } = table;
  const keys = KEYS[reach];
  const columns = keys.map(([column]) => `${alias}.${column}`).join(', ');
  const { rows } = await db.query<KeptRecord>({
    name: `${name}-texts-after`,
    text: `
      select ${keys.map(([column, member]) => `${alias}.${column} as "${member}"`).join(', ')}, ${alias}.version,
        case when ${countsSql(table)} then ${alias}.rendered end as text, ${columnsSql(table)} as columns
      from ${name} ${alias}
      where ${alias}.organisation_id = $1
        and (${columns}) > (${keys.map((_, index) => `$${index + 3}`).join(', ')})
      order by ${columns}
      limit $2`,
    values: [organisationId, limit, ...keys.map(([, member]) => after[member])],
  });
  return rows;
}
