/** SQL that puts reports, studies and results under the orders that they belong to (docs/fhir-mapping.md, "Grouping"). */

import type { Discipline } from '../clinical/resources/discipline.ts';
import type { CodeableConcept } from '../fhir/coded.ts';
import { hasId, rowById, setById } from '../platform/db/by-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import { RANDOM_VERSION } from '../platform/db/random-version.ts';
import type { FacilityScope } from '../tenancy/scope.ts';

/** An order that stands for a report, a study or a result whose source had none. */
export interface MadeUpOrder {
  id: string;
  discipline: Discipline;
  patientId: string;
  encounterId: string | null;
  status: string;
  code: CodeableConcept | null;
  /** Hex. */
  digest: string;
  /** When the oldest of its parts was made, where that is known before they are stored; else `touchOrders` finds it. */
  sortAt?: string | undefined;
}

/**
 * An order that was removed may come again under the same id. Its versions then start anew at random: a version
 * that somebody still holds an answer of must never mean something else.
 */
export async function writeMadeUpOrders(
  db: Queryable,
  scope: FacilityScope,
  orders: readonly MadeUpOrder[],
): Promise<void> {
  await db.query({
    name: 'grouping-made-up',
    text: `
      insert into investigation_order as stored
        (organisation_id, facility_id, id, discipline, made_up, patient_id, encounter_id, status, intent, code,
         content_digest, sort_at, version)
      select $1, $2, id, discipline, true, "patientId", "encounterId", status, 'order', code, digest,
        coalesce("sortAt", '-infinity'), ${RANDOM_VERSION}
      from json_to_recordset($3::json) as incoming (
        id uuid, discipline text, "patientId" uuid, "encounterId" uuid, status text, code jsonb, digest bytea,
        "sortAt" timestamptz
      )
      order by id
      on conflict (organisation_id, facility_id, id) do update
      set discipline = excluded.discipline,
        patient_id = excluded.patient_id,
        encounter_id = excluded.encounter_id,
        status = excluded.status,
        code = excluded.code,
        content_digest = excluded.content_digest
      where stored.content_digest <> excluded.content_digest`,
    values: [
      scope.organisationId,
      scope.facilityId,
      JSON.stringify(orders.map(({ digest, ...order }) => ({ ...order, digest: `\\x${digest}` }))),
    ],
  });
}

/** An order that names no discipline takes that of what it led to. */
export async function setDisciplines(
  db: Queryable,
  scope: FacilityScope,
  orders: ReadonlyMap<string, Discipline>,
): Promise<void> {
  await db.query({
    text: setById('investigation_order', 'discipline', 'text'),
    values: [scope.organisationId, scope.facilityId, [...orders.keys()], [...orders.values()]],
  });
}

export const PART_TABLES = ['investigation_report', 'imaging_study', 'observation'] as const;
export type PartTable = (typeof PART_TABLES)[number];

/** Put parts under orders, by id. A vital sign that is a result is shown otherwise, so its set gets a new version. */
export async function moveParts(
  db: Queryable,
  scope: FacilityScope,
  table: PartTable,
  moves: ReadonlyMap<string, string | null>,
): Promise<void> {
  await db.query({
    text: setById(table, 'order_id', 'uuid'),
    values: [scope.organisationId, scope.facilityId, [...moves.keys()], [...moves.values()]],
  });
  if (table !== 'observation') return;
  const values = [scope.organisationId, scope.facilityId, [...moves.keys()]];
  await db.query({ text: TOUCH_VITAL_SETS, values });
}

const TOUCH_VITAL_SETS = `
  update vital_set v
  set version = version + 1,
    updated_at = now()
  where ${hasId(
    'v',
    `array(
      select distinct o.vital_set_id
      from unnest($3::uuid[]) as asked (id)
      cross join ${rowById('observation', 'o', 'asked.id', 'o.vital_set_id')} o
      where o.vital_set_id is not null
    )`,
  )}`;

/**
 * A new version of orders whose parts changed. One that names no time of its own is listed by the time of its
 * oldest part. Made-up orders that nothing is left of are removed: these are returned.
 */
export async function touchOrders(
  db: Queryable,
  scope: FacilityScope,
  ids: readonly string[],
): Promise<Set<string>> {
  const removed = new Set<string>();
  for (let start = 0; start < ids.length; start += ORDERS_AT_ONCE) {
    const values = [scope.organisationId, scope.facilityId, ids.slice(start, start + ORDERS_AT_ONCE)];
    const { rows } = await db.query<{ id: string }>({ text: REMOVE_EMPTY, values });
    for (const { id } of rows) removed.add(id);
    await db.query({ text: TOUCH, values });
  }
  return removed;
}

const ORDERS_AT_ONCE = 500;
const TIME_OF: Readonly<Record<PartTable, string>> = {
  investigation_report: 'coalesce(part.effective_at, part.issued_at)',
  imaging_study: 'part.started_at',
  observation: 'coalesce(part.effective_at, part.issued_at)',
};
const partOf = (orderId: string) => `part.organisation_id = $1
                and part.facility_id = $2
                and part.order_id = ${orderId}`;

/** Not `not exists`: the planner may answer that by reading the parts of all orders. */
const REMOVE_EMPTY = `
  delete from investigation_order o
  where ${hasId('o', '$3::uuid[]')}
    and o.made_up
    and ${PART_TABLES.map(
      (table) => `(
      select count(*)
      from (
        select 1
        from ${table} part
        where ${partOf('o.id')}
        limit 1
      ) found
    ) = 0`,
    ).join('\n    and ')}
  returning o.id`;

const TOUCH = `
  update investigation_order o
  set version = o.version + 1,
    updated_at = now(),
    sort_at = case
      when o.authored_at is null and coalesce(o.occurrence_start, o.occurrence_end) is null then coalesce((
        select min(part.at)
        from (
          ${PART_TABLES.map((table) => `select ${TIME_OF[table]} as at from ${table} part where ${partOf('o.id')}`).join('\n          union all ')}
        ) part
      ), '-infinity')
      else o.sort_at
    end
  where ${hasId('o', '$3::uuid[]')}`;
