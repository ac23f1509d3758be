/**
 * Reading kept texts. A statement gives all texts of one key as one value. Before each text stand some parts of its row
 * (docs/adr/0148).
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { columnsSql, countsSql, type FreshText, type KeptTable, keepTexts } from './kept-texts.store.ts';

/**
 * Between the texts of one value, and between the parts of each: JSON text has neither. chr(29) is not free: it stands between
 * the sections of a patient's text.
 */
export const TEXT_END = { sql: 'chr(30)', text: '\x1e' };
const PART_END = { sql: 'chr(31)', text: '\x1f' };

/** What is selected in place of a text that does not count. */
export type InPlaceOfText = 'columns' | 'nothing';

export type PackedText<Part extends string> = Record<Part | 'id', string> & { text: string };

interface UnpackedTexts<Text> {
  texts: Text[];
  /** Those that were rendered just now, to be kept. */
  fresh: FreshText[];
}

export interface Packing<Text> {
  table: KeptTable;
  /** Of one row. `also`: SQL of one more condition for its text to be given. */
  sql: (otherwise: InPlaceOfText, also?: string) => string;
  /** Undefined where nothing stands in place of a text that does not count. */
  read: (
    packed: string | null,
    owner: { organisationId: string; facilityId?: string },
  ) => UnpackedTexts<Text> | undefined;
}

/**
 * `parts`: SQL of what stands before the text, by name; never null, for concat_ws leaves that out. `kept`: SQL of the text,
 * or of the part of it that is wanted. A text that was rendered just now is given whole.
 */
export function packing<const Part extends string>(
  table: KeptTable,
  parts: Readonly<Record<Part | 'id', string>>,
  kept = `${table.alias}.rendered`,
): Packing<PackedText<Part>> {
  const names = Object.keys(parts) as (Part | 'id')[];
  // One call for all of them: each || would copy what stands before it. A row that is not there stays null by its text.
  const head = `concat_ws(${[PART_END.sql, ...names.map((name) => parts[name]), "''"].join(', ')})`;
  return {
    table,
    sql: (otherwise, also = 'true') => `${head} || case when ${countsSql(table)} and ${also} then ${kept}
        else ${table.alias}.version || ${PART_END.sql} || ${otherwise === 'columns' ? columnsSql(table) : `''`} end`,
    read(packed, { organisationId, ...place }) {
      const texts: PackedText<Part>[] = [];
      const fresh: FreshText[] = [];
      for (const one of packed?.split(TEXT_END.text) ?? []) {
        const values = one.split(PART_END.text);
        const given = values[names.length] ?? '';
        const columns = values[names.length + 1];
        if (columns === '') return undefined;
        const text = columns === undefined ? given : table.render(columns, organisationId);
        const found: Record<string, string | undefined> = { text };
        for (let index = 0; index < names.length; index += 1) found[names[index] as string] = values[index];
        texts.push(found as PackedText<Part>);
        if (columns !== undefined) fresh.push({ ...place, id: found.id ?? '', version: Number(given), text });
      }
      return { texts, fresh };
    },
  };
}

/** A statement that selects texts, by what it selects in place of one that does not count. */
export type TextStatements = Readonly<Record<InPlaceOfText, { name: string; text: string }>>;

export function textStatements(name: string, sql: (otherwise: InPlaceOfText) => string): TextStatements {
  return {
    nothing: { name, text: sql('nothing') },
    columns: { name: `${name}-columns`, text: sql('columns') },
  };
}

/** `values` are those of the statement; the first one is the organisation. */
interface TextSelection<Text> {
  packing: Packing<Text>;
  statements: TextStatements;
  values: readonly [organisationId: string, ...more: unknown[]];
  /** What each `place` of a row, from 1 on, was asked for. */
  keys: readonly { scope: Pick<FacilityScope, 'facilityId'> }[];
}

interface SelectedRow {
  place: number;
  /** Null for none. */
  packed: string | null;
}

/**
 * Gives `take` each row as it comes. Nearly every text counts, and to be ready for columns costs a statement a fifth of its
 * time. So they are asked for only where the first statement came upon a text that does not count, or left out a large one;
 * then all of that place is selected anew, so that it fits together. What was rendered from columns is kept before its row is
 * given.
 */
export async function selectTexts<Row extends SelectedRow, Text>(
  db: Queryable,
  { packing, statements, values, keys }: TextSelection<Text>,
  take: (row: Row, texts: Text[]) => void,
): Promise<void> {
  const [organisationId] = values;
  const read = (row: Row) => {
    const { facilityId } = (keys[row.place - 1] as (typeof keys)[number]).scope;
    return packing.read(row.packed, { organisationId, facilityId });
  };
  const again = new Set<number>();
  await db.query<Row>({
    ...statements.nothing,
    values: [...values],
    onRow(row) {
      const unpacked = read(row);
      if (unpacked === undefined) again.add(row.place);
      else take(row, unpacked.texts);
    },
  });
  if (again.size === 0) return;
  const fresh: FreshText[] = [];
  const withFresh: [Row, Text[]][] = [];
  await db.query<Row>({
    ...statements.columns,
    values: [...values],
    onRow(row) {
      if (!again.has(row.place)) return;
      const unpacked = read(row);
      if (unpacked === undefined || unpacked.fresh.length === 0) return take(row, unpacked?.texts ?? []);
      fresh.push(...unpacked.fresh);
      withFresh.push([row, unpacked.texts]);
    },
  });
  await keepTexts(db, packing.table, organisationId, fresh);
  for (const [row, texts] of withFresh) take(row, texts);
}
