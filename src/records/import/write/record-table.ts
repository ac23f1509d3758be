/** How the tables of records that an import writes are described. */

/** Column name and SQL type; the names of the row's values are the column names. */
export type Column = readonly [name: string, type: string];

export interface ChildTable {
  name: string;
  /** Column that holds the id of the record. */
  parent: string;
  columns: readonly Column[];
  /** Columns with one fixed value, for a table that several kinds of records share. */
  fixed?: Readonly<Record<string, string>>;
}

/** A table with the columns organisation_id, [facility_id,] id, version, content_digest, updated_at. */
export interface RecordTable {
  name: string;
  /** What the primary key names beside the organisation: the record alone, or its facility too. */
  reach: 'organisation' | 'facility';
  columns: readonly Column[];
  children: readonly ChildTable[];
}
