/** How references find clinical records of the facility: by id, or by a business identifier. */

import type { Queryable } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { IdentifierKey, IdentifierMatch, RecordLookup } from '../map/record-lookup.ts';

/** Looks in one table. Clinical records belong to a facility: neither kind of look-up leaves it, whatever the reach. */
export function facilityLookup(table: string): RecordLookup {
  return {
    existing: (db, scope, ids) => existingIds(db, scope, table, ids),
    byIdentifier: (db, scope, keys) => identified(db, scope, table, keys),
  };
}

async function existingIds(
  db: Queryable,
  scope: FacilityScope,
  table: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: `import-${table}-existing`,
    text: `
      select id
      from ${table}
      where organisation_id = $1
        and facility_id = $2
        and id = any($3::uuid[])`,
    values: [scope.organisationId, scope.facilityId, ids],
  });
  return rows.map(({ id }) => id);
}

async function identified(
  db: Queryable,
  scope: FacilityScope,
  table: string,
  keys: readonly IdentifierKey[],
): Promise<IdentifierMatch[]> {
  const { rows } = await db.query<IdentifierMatch>({
    name: `import-${table}-identified`,
    text: `
      select r.id, k.system, k.value
      from unnest($3::text[], $4::text[]) as k (system, value)
      join ${table} r
        on r.organisation_id = $1
        and r.facility_id = $2
        and r.identifier @> jsonb_build_array(jsonb_build_object('system', k.system, 'value', k.value))`,
    values: [
      scope.organisationId,
      scope.facilityId,
      keys.map(({ system }) => system),
      keys.map(({ value }) => value),
    ],
  });
  return rows;
}
