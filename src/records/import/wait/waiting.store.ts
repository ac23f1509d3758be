/** SQL of the records that wait for an optional referenced record (docs/adr/0110). */
import type { RecordTable } from '../../../clinical/description/describe.ts';
import type { ReferencedRecord } from '../../../clinical/description/read-context.ts';
import { rowByKey } from '../../../platform/db/by-key.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';

/** What the Bundle of a record had under references that only it can answer; null for a type that is not taken. */
export type KnownRecords = Readonly<Record<string, ReferencedRecord | null>>;

export interface WaitingRecord {
  /** As it is stored. */
  id: string;
  /** In the organisation: what the source calls it. */
  sourceId: string;
  hasUuid: boolean;
  /** JSON of the resource. */
  content: string;
  known: KnownRecords;
}

export interface NewWait extends WaitingRecord {
  /** Of the record as it is stored; hex. */
  digest: string;
  /** Names of what it waits for (`missingRecords` of `read-reference.ts`). */
  names: readonly string[];
}

/** Where the records of a type are. */
type RecordPlace = Pick<RecordTable, 'name' | 'reach'>;

/** Of records of one type. */
interface Waits {
  type: string;
  runId: string;
  waits: readonly NewWait[];
}

/** Records of `ids` wait no more, but for those in `waits`: these wait for what is said there. */
export async function writeWaits(
  db: Queryable,
  scope: FacilityScope,
  { ids, ...all }: Waits & { ids: readonly string[] },
): Promise<void> {
  if (ids.length > 0) await removeWaits(db, scope, all.type, ids);
  if (all.waits.length === 0) return;
  const written = await insertWaits(db, scope, all);
  const waits = all.waits.filter(({ id }) => written.has(id));
  if (waits.length > 0) await replaceLinks(db, scope, { ...all, waits });
}

/** Returns the ids of those that did not wait already with the same content. */
async function insertWaits(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { type, runId, waits }: Waits,
): Promise<Set<string>> {
  const documents = waits.map(({ names: _, digest, ...wait }) => ({ ...wait, digest: `\\x${digest}` }));
  // What waits already with the same content is locked and left as it is, with its links.
  const { rows } = await db.query<{ id: string }>({
    name: 'import-wait-records',
    text: `
      insert into waiting_record as stored
        (organisation_id, facility_id, resource_type, id, source_id, has_uuid, run_id, content, known, content_digest)
      select $1, $2, $3, id, "sourceId", "hasUuid", $4, content, known, digest
      from json_to_recordset($5::json)
        as waiting (id uuid, "sourceId" uuid, "hasUuid" boolean, content text, known jsonb, digest bytea)
      order by id
      on conflict (organisation_id, facility_id, resource_type, id) do update
      set run_id = excluded.run_id,
        content = excluded.content,
        known = excluded.known,
        content_digest = excluded.content_digest
      where (stored.content_digest, stored.content) <> (excluded.content_digest, excluded.content)
      returning id`,
    values: [organisationId, facilityId, type, runId, JSON.stringify(documents)],
  });
  return new Set(rows.map(({ id }) => id));
}

async function replaceLinks(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { type, runId, waits }: Waits,
): Promise<void> {
  await db.query({
    name: 'import-wait-links-end',
    text: `
      delete from waiting_link
      where organisation_id = $1
        and facility_id = $2
        and resource_type = $3
        and id = any($4::uuid[])`,
    values: [organisationId, facilityId, type, waits.map(({ id }) => id)],
  });
  const links = waits.flatMap(({ id, names }) => names.map((name) => ({ id, name })));
  await db.query({
    name: 'import-wait-links',
    text: `
      insert into waiting_link (organisation_id, facility_id, target, run_id, resource_type, id)
      select $1, $2, target, $6, $3, id
      from unnest($4::uuid[], $5::uuid[]) as link (id, target)
      order by target, id
      on conflict do nothing`,
    values: [
      organisationId,
      facilityId,
      type,
      links.map(({ id }) => id),
      links.map(({ name }) => name),
      runId,
    ],
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

/** {@link removeWaits} of these records, but for what waits with another content than that of the digest (hex). */
export async function removeWaitsOf(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  type: string,
  records: readonly Digested[],
): Promise<void> {
  await db.query({
    name: 'import-wait-end-unchanged',
    text: `
      delete from waiting_record w
      using unnest($4::uuid[], $5::text[]) as given (id, digest)
      where w.organisation_id = $1
        and w.facility_id = $2
        and w.resource_type = $3
        and w.id = any($4::uuid[])
        and w.id = given.id
        and w.content_digest = decode(given.digest, 'hex')`,
    values: [
      organisationId,
      facilityId,
      type,
      records.map(({ id }) => id),
      records.map(({ digest }) => digest),
    ],
  });
}

interface Digested {
  id: string;
  /** Of its content; hex. */
  digest: string;
}

/** Those of these records whose content is still that of the digest. They stay so until the transaction ends. */
export async function lockUnchanged(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { table: { name, reach } }: { table: RecordPlace },
  records: readonly Digested[],
): Promise<Set<string>> {
  if (records.length === 0) return new Set();
  const ofFacility = reach === 'facility';
  const { rows } = await db.query<{ id: string }>({
    name: `import-wait-unchanged-${name}`,
    text: `
      select stored.id
      from ${name} stored
      join unnest($2::uuid[], $3::text[]) as given (id, digest)
        on given.id = stored.id
        and decode(given.digest, 'hex') = stored.content_digest
      where stored.organisation_id = $1
        and stored.id = any($2::uuid[])
        ${ofFacility ? 'and stored.facility_id = $4' : ''}
      order by stored.id
      for no key update of stored`,
    values: [
      organisationId,
      records.map(({ id }) => id),
      records.map(({ digest }) => digest),
      ...(ofFacility ? [facilityId] : []),
    ],
  });
  return new Set(rows.map(({ id }) => id));
}

export interface Waiter {
  type: string;
  id: string;
  /** One of those that it waits for. */
  name: string;
  /** The import that took it. */
  runId: string;
}

/** Waiters that are asked for at once; none of them begins after so many characters of JSON. */
const WAITERS = 500;
const LENGTH = 8 * 1_048_576;

/**
 * Records that wait for what one of these names stands for, without those that the import `except` took: the first of them
 * after `after`, by import, type and id. However many wait, a few hundred links are read for each name.
 */
export async function waitersFor(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  {
    names,
    except = NIL,
    after,
  }: { names: readonly string[]; except?: string | undefined; after?: Waiter | undefined },
): Promise<Waiter[]> {
  // Two ranges leave out what the import `except` took.
  const linksOf = (others: '<' | '>') => `(
          select l.run_id, l.resource_type, l.id
          from waiting_link l
          where l.organisation_id = $1
            and l.facility_id = $2
            and l.target = asked.target
            and l.run_id ${others} $4
            and (l.run_id, l.resource_type, l.id) > ($5, $6, $7)
          order by l.run_id, l.resource_type, l.id
          limit ${WAITERS}
        )`;
  const { rows } = await db.query<Waiter>({
    name: 'import-wait-for',
    text: `
      with link as (
        select distinct on (link.run_id, link.resource_type, link.id) asked.target, link.*
        from unnest($3::uuid[]) as asked (target)
        cross join lateral (
          ${linksOf('<')}
          union all
          ${linksOf('>')}
        ) link
        order by link.run_id, link.resource_type, link.id, asked.target
        limit ${WAITERS}
      )
      select type, id, target as name, "runId"
      from (
        select link.resource_type as type, link.id, link.target, link.run_id as "runId",
          sum(waiting.length) over (order by link.run_id, link.resource_type, link.id) - waiting.length as before
        from link
        -- By whole keys: see src/investigations/grouping.store.ts.
        cross join ${rowByKey('waiting_record', 'w', { facility_id: '$2', resource_type: 'link.resource_type', id: 'link.id' }, 'length(w.content) as length')} waiting
      ) waiter
      where before < ${LENGTH}
      order by "runId", type, id`,
    values: [
      organisationId,
      facilityId,
      names,
      except,
      after?.runId ?? NIL,
      after?.type ?? '',
      after?.id ?? NIL,
    ],
  });
  return rows;
}

/** Before every other (RFC 9562, section 5.9). */
const NIL = '00000000-0000-0000-0000-000000000000';

export interface LockedWait extends WaitingRecord {
  /** The import that took it. */
  runId: string;
  /** False when another facility or an earlier release has changed the record since: the wait is of no use. */
  current: boolean;
}

/**
 * Those of these records that still wait. The records are locked first: whoever writes one of them also writes whether
 * it waits, and is done with both or will wait for this transaction.
 */
export async function lockWaiting(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { type, table, ids }: { type: string; table: RecordPlace; ids: readonly string[] },
): Promise<LockedWait[]> {
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
  const { rows } = await db.query<LockedWait>({
    name: `import-wait-records-of-${table.name}`,
    text: `
      select w.id, w.source_id as "sourceId", w.has_uuid as "hasUuid", w.run_id as "runId", w.content, w.known,
          stored.content_digest = w.content_digest as current
      from unnest($4::uuid[]) as asked (id)
      cross join ${rowByKey('waiting_record', 'w', { facility_id: '$2', resource_type: '$3', id: 'asked.id' })} w
      cross join ${rowByKey(table.name, 'stored', { ...(ofFacility && { facility_id: '$2' }), id: 'asked.id' }, 'stored.content_digest')} stored
      order by w.id`,
    values: [organisationId, facilityId, type, ids],
  });
  return rows;
}
