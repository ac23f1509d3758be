/** SQL that tells which records go out after all, because a report or an order brings them along. Contract: IN-40. */
import { rowById } from '../../../platform/db/by-key.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';

/** Each gives the ids of `$3` that a fetch shows. By whole keys: see src/investigations/grouping.store.ts. */
const SHOWN: Readonly<Record<string, string>> = {
  ServiceRequest: `
    select o.id
    from unnest($3::uuid[]) as asked (id)
    cross join ${rowById('investigation_order', 'o', 'asked.id', 'o.id, o.discipline')} o
    where o.discipline <> 'other'`,
  DiagnosticReport: partsShown('investigation_report', 'false'),
  Observation: partsShown('observation', 'part.vital_set_id is not null'),
};

function partsShown(table: string, otherwise: string): string {
  return `
    select part.id
    from unnest($3::uuid[]) as asked (id)
    cross join ${rowById(table, 'part', 'asked.id', `part.id, part.order_id, ${otherwise} as shown`)} part
    left join ${rowById('investigation_order', 'o', 'part.order_id', 'o.discipline')} o on true
    where part.shown
      or o.discipline <> 'other'`;
}

/** Those of these records of a type that a fetch shows. */
export async function shownRecords(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { type, ids }: { type: string; ids: readonly string[] },
): Promise<string[]> {
  const text = SHOWN[type];
  if (text === undefined) return [];
  const { rows } = await db.query<{ id: string }>({
    name: `import-shown-${type}`,
    text,
    values: [organisationId, facilityId, ids],
  });
  return rows.map(({ id }) => id);
}
