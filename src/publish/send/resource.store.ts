/**
 * SQL of what a FHIR server holds of ours: recorded ids, versions, and creates that were begun. One row for an
 * organisation, whatever facility published it (docs/adr/0056).
 * Contract: PUB-20, PUB-34, PUB-55.
 */
import { exactly } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { type ResourceKey, splitKey } from '../plan/content.fhir.ts';
import type { FhirServer } from '../servers/fhir-server.ts';

/** A server, and which of the ids that are on record are valid there. */
export type RecordedAt = Pick<FhirServer, 'id' | 'idsGeneration'>;

export interface StoredResource {
  key: ResourceKey;
  serverId: string;
  versionId: string | null;
  /** In hex. */
  contentHash: string;
  method: 'PUT' | 'POST';
  status: number;
  publishedAt: Date;
  chainId: string;
}

/** A create was begun, and whether it was done is not known. */
export const CREATE_BEGUN = { serverId: null, versionId: null, contentHash: null, chainId: null };

export type RecordedResource = StoredResource | ({ key: ResourceKey } & typeof CREATE_BEGUN);

/** The same in SQL. */
const SET_CREATE_BEGUN = 'set server_id = null, version_id = null, content_hash = null, chain_id = null';

export async function findRecorded(
  db: Queryable,
  scope: OrganisationScope,
  { server, keys }: { server: RecordedAt; keys: readonly ResourceKey[] },
): Promise<RecordedResource[]> {
  const { rows } = await db.query<RecordedResource & { isValid: boolean }>({
    name: 'publish-resource-find',
    text: `
      select asked.resource_type || '/' || asked.local_id as key, r.server_id as "serverId",
        r.version_id as "versionId", encode(r.content_hash, 'hex') as "contentHash", r.method, r.status,
        r.published_at as "publishedAt", r.chain_id as "chainId", r.ids_generation = $5 as "isValid"
      from unnest($3::text[], $4::uuid[]) as asked (resource_type, local_id)
      -- limit: one look-up by key for each, whatever the planner takes the size of the table for.
      cross join lateral (
        select p.server_id, p.version_id, p.content_hash, p.method, p.status, p.published_at, p.chain_id,
          p.ids_generation
        from publish_resource p
        where p.organisation_id = $1
          and p.target_id = $2
          and p.resource_type = asked.resource_type
          and p.local_id = asked.local_id
        limit 1
      ) r`,
    values: [scope.organisationId, server.id, ...keyColumns(keys), server.idsGeneration],
  });
  return rows.map(({ isValid, ...recorded }) =>
    isValid ? recorded : { key: recorded.key, ...CREATE_BEGUN },
  );
}

/** Note, before the first create of each, that it is about to be sent; also forgets an id that was lost. */
export async function noteCreates(
  db: Queryable,
  scope: OrganisationScope,
  { server, keys }: { server: RecordedAt; keys: readonly ResourceKey[] },
): Promise<void> {
  const statement = {
    name: 'publish-resource-note-creates',
    text: `
      insert into publish_resource (organisation_id, target_id, resource_type, local_id, ids_generation)
      select $1, $2, asked.resource_type, asked.local_id, $5::integer
      from unnest($3::text[], $4::uuid[]) as asked (resource_type, local_id)
      on conflict (organisation_id, target_id, resource_type, local_id) do update
      ${SET_CREATE_BEGUN}, ids_generation = excluded.ids_generation
      where publish_resource.ids_generation <= excluded.ids_generation`,
    values: [scope.organisationId, server.id, ...keyColumns([...keys].sort()), server.idsGeneration],
  };
  await againAfterDeadlock(() => db.query(statement));
}

/**
 * Record what was stored. An id that the server has given anew is taken from whoever had it before: a FHIR server that
 * was reset (docs/adr/0050). What is of another generation stays: there, it may be the id of another record.
 */
export async function recordStored(
  db: Queryable,
  scope: OrganisationScope,
  { server, stored: given }: { server: RecordedAt; stored: readonly StoredResource[] },
): Promise<void> {
  // In one order for all, so that publishes that share records do not wait for each other in a circle.
  const stored = given.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const statement = {
    name: 'publish-resource-record',
    text: `
      with others as materialized (
        select other.ctid, other.resource_type, other.local_id
        from unnest($3::text[], $4::uuid[], $5::text[]) as s (resource_type, local_id, server_id)
        -- limit: one look-up by key for each, as above.
        cross join lateral (
          select p.ctid, p.resource_type, p.local_id
          from publish_resource p
          where p.organisation_id = $1
            and p.target_id = $2
            and p.ids_generation = $12
            and p.resource_type = s.resource_type
            and ${exactly('p.server_id', 's.server_id')}
            and p.server_id <> p.local_id::text
            and p.local_id <> s.local_id
          order by p.server_id
          limit 1
        ) other
        where s.server_id <> s.local_id::text
      ),
      taken_over as (
        update publish_resource
        ${SET_CREATE_BEGUN}
        where organisation_id = $1
          -- The whole key: for fewer rows than there are of the organisation.
          and target_id = $2
          and resource_type = any (array(select resource_type from others))
          and local_id = any (array(select local_id from others))
          and ctid = any (array(select ctid from others))
        returning 1
      )
      insert into publish_resource (organisation_id, target_id, resource_type, local_id, server_id,
        version_id, content_hash, method, status, published_at, chain_id, ids_generation)
      select $1, $2, s.resource_type, s.local_id, s.server_id, s.version_id, decode(s.content_hash, 'hex'), s.method,
        s.status, s.published_at, s.chain_id, $12::integer
      from unnest($3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::smallint[],
          $10::timestamptz[], $11::uuid[])
        as s (resource_type, local_id, server_id, version_id, content_hash, method, status, published_at, chain_id)
      -- The ids are given up first.
      where (select count(*) from taken_over) >= 0
      on conflict (organisation_id, target_id, resource_type, local_id) do update
      set server_id = excluded.server_id,
          version_id = excluded.version_id,
          content_hash = excluded.content_hash,
          method = excluded.method,
          status = excluded.status,
          published_at = excluded.published_at,
          chain_id = excluded.chain_id,
          ids_generation = excluded.ids_generation
      where publish_resource.ids_generation <= excluded.ids_generation`,
    values: [
      scope.organisationId,
      server.id,
      ...keyColumns(stored.map(({ key }) => key)),
      stored.map(({ serverId }) => serverId),
      stored.map(({ versionId }) => versionId),
      stored.map(({ contentHash }) => contentHash),
      stored.map(({ method }) => method),
      stored.map(({ status }) => status),
      stored.map(({ publishedAt }) => publishedAt),
      stored.map(({ chainId }) => chainId),
      server.idsGeneration,
    ],
  };
  await againAfterDeadlock(() => db.query(statement));
}

/** Whether ids of one organisation are on record that are valid at the server. */
export async function hasRecordedIds(
  db: Queryable,
  { organisationId }: OrganisationScope,
  server: RecordedAt,
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `
      select 1
      from publish_resource
      where organisation_id = $1
        and target_id = $2
        and server_id is not null
        and ids_generation = $3
      limit 1`,
    values: [organisationId, server.id, server.idsGeneration],
  });
  return rowCount === 1;
}

export function keyColumns(keys: readonly ResourceKey[]): [string[], string[]] {
  const parts = keys.map(splitKey);
  return [parts.map(({ type }) => type), parts.map(({ id }) => id)];
}

/** Serialization failure; deadlock; an id at a FHIR server that two publishes record at once. */
const REPEATABLE: ReadonlySet<unknown> = new Set(['40001', '40P01', '23505']);
const MAX_TRIES = 4;

/** Run a statement that is a transaction of its own, and again when PostgreSQL gave it up for the sake of another. */
export async function againAfterDeadlock<T>(statement: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await statement();
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (tries === MAX_TRIES || !REPEATABLE.has(code)) throw error;
    }
  }
}
