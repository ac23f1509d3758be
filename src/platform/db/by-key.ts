/**
 * SQL of changes to many rows of a facility, and of look-ups, each by its whole key. Contract: HTTP-33.
 *
 * The planner takes an organisation and a facility that it knows nothing of for one row: in tables without statistics,
 * and for a tenant that came after them. A join with a table that names both as parameters may then read that table from
 * its first row of that tenant to its last, for each statement. Here the id goes with both, so that only the primary key
 * answers. The organisation is a parameter everywhere: a distributed database must know whose rows they are.
 */

/**
 * Whether the row `table` of the facility `$1`, `$2` has one of the ids, an array. Send a statement that changes such rows
 * without a name: it is planned for the ids that it has.
 */
export function hasId(table: string, ids: string): string {
  return `${table}.organisation_id = $1
    and ${table}.facility_id = $2
    and ${table}.id = any(${ids})`;
}

/** A change of one column of such rows: `$3` are the ids, `$4` their values, of this SQL type. */
export function setById(table: string, column: string, type: string): string {
  return `
      update ${table} stored
      set ${column} = incoming.value
      from unnest($3::uuid[], $4::${type}[]) as incoming (id, value)
      where ${hasId('stored', '$3')}
        and stored.id = incoming.id`;
}

type Columns = Readonly<Record<string, string>>;

const equal = (alias: string, columns: Columns): string =>
  Object.entries(columns)
    .map(([column, value]) => `and ${alias}.${column} = ${value}`)
    .join('\n        ');

/**
 * A lateral look-up in the organisation `$1` by a whole key, under `alias`; values are SQL. Several rows may have the key, such
 * as one end of a link. For tables where no other index can be read by a part of the key: it is then the only one that answers.
 */
export function rowByKey(table: string, alias: string, key: Columns, columns = `${alias}.*`): string {
  return `lateral (
      select ${columns}
      from ${table} ${alias}
      where ${alias}.organisation_id = $1
        ${equal(alias, key)}
      offset 0
    )`;
}

/** {@link rowByKey} of one row of the facility `$1`, `$2`. `id` is the SQL of its id. */
export function rowById(table: string, alias: string, id: string, columns: string): string {
  return rowByKey(table, alias, { facility_id: '$2', id }, columns);
}

/**
 * The column is the value: with `order by` this column first, only the index that goes on with it answers
 * ({@link rowsByIndex}).
 */
export function exactly(column: string, value: string): string {
  return `${column} >= ${value} and ${column} <= ${value}`;
}

/**
 * A lateral look-up in the organisation `$1` by the index that begins with the columns of `first` and then has `column`.
 * Another index begins with the same columns: where the planner takes the organisation for one row, it may read that one
 * to its end. Only the one that is meant has the rows in the order of `column`, and no planner knows that a range from a
 * value to that value needs no order.
 */
export function rowsByIndex(
  table: string,
  alias: string,
  { first = {}, column, value }: { first?: Columns; column: string; value: string },
  columns = `${alias}.*`,
): string {
  return `lateral (
      select ${columns}
      from ${table} ${alias}
      where ${alias}.organisation_id = $1
        ${equal(alias, first)}
        and ${exactly(`${alias}.${column}`, value)}
      order by ${alias}.${column}
      offset 0
    )`;
}

/**
 * What is asked for, as rows of `asked` with their `place` from 1 on: the arrays `$first` and those after it, by the name
 * and type of their column. The planner takes an array that a select gives for ten entries, whatever it has, so it keeps the
 * plan. It would plan anew for each number of entries, which takes longer than to read a few rows by key.
 */
export function askedRows(columns: Columns, first = 2): string {
  const arrays = Object.values(columns).map((type, index) => `(select $${first + index}::${type}[])`);
  const names = [...Object.keys(columns), 'place'].join(', ');
  return `unnest(${arrays.join(', ')}) with ordinality as asked (${names})`;
}
