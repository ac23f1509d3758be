/** SQL of the records that wait for an optional target (docs/adr/0110). */
import type { Target } from '../../../clinical/description/read-context.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';

/** What the Bundle of a record had under references that only it can answer; null for a type that is not taken. */
export type KnownTargets = Readonly<Record<string, Target | null>>;

export interface WaitingRecord {
  /** As it is stored. */
  id: string;
  /** In the organisation: what the source calls it. */
  sourceId: string;
  hasUuid: boolean;
  /** JSON of the resource. */
  content: string;
  known: KnownTargets;
}

export interface NewWait extends WaitingRecord {
  /** Names of what it waits for (`target-names.ts`). */
  targets: readonly string[];
}

/** Replace what is known of records of a type: those of `ids` wait no more, but for those among `waits`. */
export async function writeWaits(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  {
    type,
    runId,
    ids,
    waits,
  }: { type: string; runId: string; ids: readonly string[]; waits: readonly NewWait[] },
): Promise<void> {
  if (ids.length > 0) await removeWaits(db, { organisationId, facilityId }, type, ids);
  if (waits.length === 0) return;
  await db.query({
    name: 'import-wait-records',
    text: `
      insert into waiting_record
        (organisation_id, facility_id, resource_type, id, source_id, has_uuid, run_id, content, known)
      select $1, $2, $3, id, "sourceId", "hasUuid", $4, content, known
      from json_to_recordset($5::json) as waiting (id uuid, "sourceId" uuid, "hasUuid" boolean, content text, known jsonb)
      order by id
      on conflict do nothing`,
    values: [organisationId, facilityId, type, runId, JSON.stringify(waits)],
  });
  const links = waits.flatMap(({ id, targets }) => targets.map((target) => ({ id, target })));
  await db.query({
    name: 'import-wait-links',
    text: `
      insert into waiting_link (organisation_id, facility_id, target, resource_type, id)
      select $1, $2, target, $3, id
      from unnest($4::uuid[], $5::uuid[]) as link (id, target)
      order by target, id
      on conflict do nothing`,
    values: [organisationId, facilityId, type, links.map(({ id }) => id), links.map(({ target }) => target)],
  });
}

export async function removeWaits(
  db: Queryable,
  { organisationId, facilityId }: Pick<FacilityScope, 'organisationId' | 'facilityId'>,
  type: string,
  ids: readonly string[],
): Promise<void> {
  await db.query({
    name: 'import-wait-end',
    text: `
      delete from waiting_record
      where organisation_id = $1
        and facility_id = $2
        and resource_type = $3
        and id = any($4::uuid[])`,
    values: [organisationId, facilityId, type, ids],
  });
}

export interface Waiter {
  type: string;
  id: string;
  /** Characters of its content. */
  length: number;
}

/** True when a record of the facility waits that another import took than `runId`. */
export async function anyWaits(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  runId: string,
): Promise<boolean> {
  const { rows } = await db.query({
    name: 'import-wait-any',
    text: `
      select
      from waiting_record
      where organisation_id = $1
        and facility_id = $2
        and run_id <> $3
      limit 1`,
    values: [organisationId, facilityId, runId],
  });
  return rows.length > 0;
}

/** Records that wait for one of these targets, and that another import took than `runId`. */
export async function waitersFor(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { targets, runId }: { targets: readonly string[]; runId: string },
): Promise<Waiter[]> {
  const { rows } = await db.query<Waiter>({
    name: 'import-wait-for',
    text: `
      select distinct waiting.resource_type as type, waiting.id, waiting.length
      from unnest($3::uuid[]) as asked (target)
      -- By whole keys: see src/investigations/grouping.store.ts.
      cross join lateral (
        select l.resource_type, l.id
        from waiting_link l
        where l.organisation_id = $1
          and l.facility_id = $2
          and l.target = asked.target
        offset 0
      ) link
      cross join lateral (
        select w.resource_type, w.id, w.run_id, length(w.content) as length
        from waiting_record w
        where w.organisation_id = $1
          and w.facility_id = $2
          and w.resource_type = link.resource_type
          and w.id = link.id
        offset 0
      ) waiting
      where waiting.run_id <> $4
      order by type, id`,
    values: [organisationId, facilityId, targets, runId],
  });
  return rows;
}

/**
 * Those of these records that still wait. The records are locked first: whoever writes one of them also writes whether
 * it waits, and is done with both or will wait for this transaction.
 */
export async function lockWaiting(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { type, table, ids }: { type: string; table: { name: string; reach: string }; ids: readonly string[] },
): Promise<(WaitingRecord & { runId: string })[]> {
  const ofFacility = table.reach === 'facility';
  await db.query({
    name: `import-wait-lock-${table.name}`,
    text: `
      select
      from ${table.name}
      where organisation_id = $1
        and id = any($2::uuid[])
        ${ofFacility ? 'and facility_id = $3' : ''}
      order by id
      for no key update`,
    values: [organisationId, ids, ...(ofFacility ? [facilityId] : [])],
  });
  const { rows } = await db.query<WaitingRecord & { runId: string }>({
    name: 'import-wait-records-of',
    text: `
      select id, source_id as "sourceId", has_uuid as "hasUuid", run_id as "runId", content, known
      from waiting_record
      where organisation_id = $1
        and facility_id = $2
        and resource_type = $3
        and id = any($4::uuid[])
      order by id`,
    values: [organisationId, facilityId, type, ids],
  });
  return rows;
}
