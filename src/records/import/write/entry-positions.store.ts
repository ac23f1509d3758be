/**
 * SQL of where an import met its records. Of the entries of one record that name no version, the last in the order of
 * files stands, whichever is written first (docs/adr/0108).
 */
import type { RecordTable } from '../../../clinical/description/describe.ts';
import { rowByKey } from '../../../platform/db/by-key.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { removeOverdue } from '../../../tenancy/organisations/retention.ts';
import type { OrganisationScope } from '../../../tenancy/scope.ts';

export interface Met {
  id: string;
  /** Line or entry, or entry of the Bundle on a line. */
  number: number;
}

/**
 * Note these entries, which stand in `place`: the file, or the file and the line. Returns the ids of those that are the
 * last ones of their record so far. Waits for another transaction that has met the same record.
 */
export async function noteMet(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { runId, type, place, met }: { runId: string; type: string; place: readonly number[]; met: readonly Met[] },
): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: 'import-positions-note',
    text: `
      insert into entry_position as met (organisation_id, run_id, resource_type, id, position)
      select $1, $2, $3, id, $4::integer[] || number
      from unnest($5::uuid[], $6::integer[]) as given (id, number)
      order by id
      on conflict (organisation_id, run_id, resource_type, id) do update
      set position = excluded.position
      where met.position <= excluded.position
      returning id`,
    values: [organisationId, runId, type, place, met.map(({ id }) => id), met.map(({ number }) => number)],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Those of these records of the organisation whose stored content has the digest (hex). */
export async function sameAsStored(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { name: table }: Pick<RecordTable, 'name'>,
  records: readonly { id: string; digest: string }[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: `import-same-${table}`,
    text: `
      select stored.id
      from unnest($2::uuid[], $3::text[]) as given (id, digest)
      cross join ${rowByKey(table, 's', { id: 'given.id' }, 's.id, s.content_digest')} stored
      where stored.content_digest = decode(given.digest, 'hex')`,
    values: [organisationId, records.map(({ id }) => id), records.map(({ digest }) => digest)],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Forget an import that has ended. */
export async function forgetMet(
  db: Queryable,
  { organisationId }: OrganisationScope,
  runId: string,
): Promise<void> {
  await db.query({
    name: 'import-positions-forget',
    text: `
      delete from entry_position
      where organisation_id = $1
        and run_id = $2`,
    values: [organisationId, runId],
  });
}

/** Imports that were killed have left them. */
export const POSITIONS_RETENTION = removeOverdue({
  name: 'places of killed imports',
  days: 7,
  table: 'entry_position',
  key: ['run_id', 'resource_type', 'id'],
  isOver: 't.met_at < $2',
});
