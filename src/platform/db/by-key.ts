/**
 * SQL of changes to many rows of a facility, and of look-ups of them, each by its whole key.
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

/**
 * A lateral look-up of one row of the facility `$1`, `$2`, under `alias`: `offset 0` has only the primary key answer.
 * `id` is the SQL of its id; `columns` name the alias.
 */
export function rowById(table: string, alias: string, id: string, columns: string): string {
  return `lateral (
      select ${columns}
      from ${table} ${alias}
      where ${alias}.organisation_id = $1
        and ${alias}.facility_id = $2
        and ${alias}.id = ${id}
      offset 0
    )`;
}
