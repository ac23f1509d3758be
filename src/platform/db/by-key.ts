/**
 * SQL of changes to many rows of a facility, and of look-ups of them, each by its whole key.
 *
 * The planner takes an organisation and a facility that it knows nothing of for one row: in tables without statistics,
 * and for a tenant that came after them. A table that names both as parameters is then read from its first row of that
 * tenant to its last, for each statement. Here they come with the ids, so that only the primary key answers.
 * Send such a statement without a name: it is planned for the size that the table has at that moment.
 */

/** Rows with the key of the facility `$1`, `$2`, and the columns of `source`, which has an `id`. */
export function byKey(source: string): string {
  return `(
    select $1::uuid as organisation_id, $2::uuid as facility_id, *
    from ${source}
    offset 0
  )`;
}

/** Whether the row `table` has the key of the row `keys`, which {@link byKey} made. */
export function sameKey(table: string, keys: string): string {
  return `${table}.organisation_id = ${keys}.organisation_id
    and ${table}.facility_id = ${keys}.facility_id
    and ${table}.id = ${keys}.id`;
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
