/**
 * SQL of terminology maps: the writes. Every write is set-based and leaves its trace in the same statement.
 * Contract: TERM-2.
 */
import { type Client, oneRow, type Queryable } from '../../platform/db/database.ts';
import { LOCK_NOT_AVAILABLE } from '../../platform/db/lock-turns.ts';
import type { Author } from '../../tenancy/administration/author.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { MapEntry } from './map-entry.ts';

/** Whose map is meant: the organisation's (`facilityId` null) or that of one facility. */
export interface MapScope extends OrganisationScope {
  readonly facilityId: string | null;
}

/** Who changes a map, and when. */
export interface MapChange {
  now: Date;
  author: Author;
}

/** Null for an operator's command. */
function accountOf({ author }: MapChange): string | null {
  return author.kind === 'account' ? author.accountId : null;
}

export interface WriteCounts {
  created: number;
  changed: number;
  unchanged: number;
  /** Stands for what was written, where, and in place of which version of which entry. Of any order the same. */
  fingerprint: bigint;
}

/** What an entry is found by. */
export type MapKey = Pick<MapEntry, 'localSystem' | 'localCode' | 'targetSystem'>;

/** Another transaction changes the maps of the organisation. */
export class MapsTaken extends Error {
  override name = 'MapsTaken';
}

/**
 * One writer of an organisation's maps at a time, until the transaction ends: imports never deadlock. Throws
 * {@link MapsTaken} when there still is another one after so many milliseconds; the transaction is over then.
 */
export async function lockMaps(client: Client, scope: OrganisationScope, waitMs: number): Promise<void> {
  const usualMs = await lockTimeoutMs(client);
  await setLockTimeout(client, waitMs);
  try {
    await client.query({
      text: `select pg_advisory_xact_lock(hashtextextended('terminology_map ' || $1::text, 0))`,
      values: [scope.organisationId],
    });
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
    throw new MapsTaken('another transaction changes the maps', { cause: error });
  }
  await setLockTimeout(client, usualMs);
}

/**
 * `now`, or up to an hour later, so that the changes of an organisation's maps stand in their order. One that is further ahead
 * was made while a clock was wrong. Call it behind {@link lockMaps}.
 */
export async function nextChangeTime(
  client: Client,
  { organisationId }: OrganisationScope,
  now: Date,
): Promise<Date> {
  const { time } = await oneRow<{ time: Date }>(client, {
    name: 'terminology-change-time',
    text: `
      select greatest($2::timestamptz, max(changed_at) + interval '1 millisecond') as time
      from terminology_map_change
      where organisation_id = $1
        and changed_at < $2::timestamptz + interval '1 hour'`,
    values: [organisationId, now],
  });
  return time;
}

/** How long a statement waits for a lock here, in milliseconds; 0 for as long as it takes. */
export async function lockTimeoutMs(db: Queryable): Promise<number> {
  const text = `select setting::int as ms from pg_settings where name = 'lock_timeout'`;
  return (await oneRow<{ ms: number }>(db, { text })).ms;
}

/** Until the transaction ends. */
async function setLockTimeout(client: Client, ms: number): Promise<void> {
  await client.query({ text: `select set_config('lock_timeout', $1, true)`, values: [`${ms}ms`] });
}

/** Make these the entries of their keys, each key at most once. Entries that are so already are not touched. */
export async function upsertEntries(
  db: Queryable,
  scope: MapScope,
  { entries, change }: { entries: readonly MapEntry[]; change: MapChange },
): Promise<WriteCounts> {
  const { rows } = await db.query<{ created: number; changed: number; fingerprint: string }>({
    name: 'terminology-upsert',
    text: `
      with written as (
        insert into terminology_map as map (organisation_id, facility_id, id, local_system, local_code, local_display,
          target_system, target_code, target_display, equivalence, comment, created_at, updated_at, updated_by)
        select $1, $2, gen_random_uuid(), given.*, $3, $3, $4
        from unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[])
          as given
        on conflict (organisation_id, local_system, local_code, target_system, facility_id) do update
        set local_display = excluded.local_display,
          target_code = excluded.target_code,
          target_display = excluded.target_display,
          equivalence = excluded.equivalence,
          comment = excluded.comment,
          version = map.version + 1,
          updated_at = excluded.updated_at,
          updated_by = excluded.updated_by
        where (map.local_display, map.target_code, map.target_display, map.equivalence, map.comment)
          is distinct from (excluded.local_display, excluded.target_code, excluded.target_display,
            excluded.equivalence, excluded.comment)
        returning *
      ), traced as (
        insert into terminology_map_change (organisation_id, map_id, version, kind, facility_id, local_system, local_code,
          target_system, target_code, target_display, equivalence, changed_at, changed_by)
        select organisation_id, id, version, case when version = 1 then 'created' else 'changed' end, facility_id,
          local_system, local_code, target_system, target_code, target_display, equivalence, updated_at, updated_by
        from written
      )
      select (count(*) filter (where version = 1))::int as created,
        (count(*) filter (where version > 1))::int as changed,
        coalesce(sum(hashtextextended(
          row(facility_id, case when version > 1 then id end, version, local_system, local_code, local_display,
            target_system, target_code, target_display, equivalence, comment)::text, 0)), 0)::text as fingerprint
      from written`,
    values: [scope.organisationId, scope.facilityId, change.now, accountOf(change), ...columnsOf(entries)],
  });
  const { created = 0, changed = 0, fingerprint = '0' } = rows[0] ?? {};
  const unchanged = entries.length - created - changed;
  return { created, changed, unchanged, fingerprint: BigInt(fingerprint) };
}

/** Entries as the columns that `unnest` makes rows of. */
export function columnsOf(entries: readonly MapEntry[]): (string | null)[][] {
  return [
    entries.map((entry) => entry.localSystem),
    entries.map((entry) => entry.localCode),
    entries.map((entry) => entry.localDisplay),
    entries.map((entry) => entry.targetSystem),
    entries.map((entry) => entry.targetCode),
    entries.map((entry) => entry.targetDisplay),
    entries.map((entry) => entry.equivalence),
    entries.map((entry) => entry.comment),
  ];
}

/** False when there is no such entry. */
export async function deleteEntry(
  db: Queryable,
  scope: MapScope,
  { key, change }: { key: MapKey; change: MapChange },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'terminology-delete',
    text: `
      with removed as (
        delete from terminology_map
        where organisation_id = $1
          and facility_id is not distinct from $2::uuid
          and local_system = $3
          and local_code = $4
          and target_system = $5
        returning *
      )
      insert into terminology_map_change (organisation_id, map_id, version, kind, facility_id, local_system, local_code,
        target_system, target_code, target_display, equivalence, changed_at, changed_by)
      select organisation_id, id, version + 1, 'deleted', facility_id, local_system, local_code,
        target_system, target_code, target_display, equivalence, $6, $7
      from removed`,
    values: [
      scope.organisationId,
      scope.facilityId,
      key.localSystem,
      key.localCode,
      key.targetSystem,
      change.now,
      accountOf(change),
    ],
  });
  return rowCount === 1;
}
