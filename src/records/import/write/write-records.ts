/**
 * Set-based upserts: a chunk of records is compared with what is stored by a digest of its content, and only
 * what differs is written. Importing the same content again therefore writes nothing: no row version, no
 * lock, no change of `version` or `updated_at`.
 * Contract: IN-15.
 */
import { hash } from 'node:crypto';
import type { RecordRow, RecordTable } from '../../../clinical/description/describe.ts';
import type { ChildTable, Column } from '../../../clinical/description/element.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { WriteContext, WriteResult } from '../map/resource-importer.ts';
import { writtenTable } from './dry-run-tables.store.ts';

interface DigestedRow {
  row: RecordRow;
  /** Hex. */
  digest: string;
}

export interface RecordsWritten extends WriteResult {
  /** Patients whom changed records were about before and are no longer. */
  formerPatients: readonly string[];
}

/** Looks at rows that differ from what is stored under their ids; nothing is written when it answers false. */
export type BeforeChange = (rows: readonly RecordRow[]) => Promise<boolean>;

/**
 * Another import has just added what this one took for new. The same work finds it there when it is repeated
 * (`import-transaction.ts`).
 */
export class AddedByAnotherImport extends Error {
  override name = 'AddedByAnotherImport';
  /** A serialization failure (PostgreSQL, appendix A). */
  readonly code = '40001';

  constructor() {
    super('Another import added the same record');
  }
}

/** Write what differs. `rows` have distinct ids. */
export async function writeRecords(
  context: Destination,
  {
    table,
    rows,
    beforeChange,
  }: { table: RecordTable; rows: readonly RecordRow[]; beforeChange?: BeforeChange },
): Promise<RecordsWritten> {
  const digested = rows.map((row) => ({ row, digest: contentDigest(row) }));
  const { client, scope } = context;
  const stored = await storedDigests(client, scope, table, rows);
  const changed = digested.filter(({ row, digest }) => stored.get(row.id)?.digest !== digest);
  const unchanged = digested
    .filter(({ row, digest }) => stored.get(row.id)?.digest === digest)
    .map(({ row }) => row.id);
  if (changed.length === 0) return { created: [], updated: [], unchanged, formerPatients: [] };
  const replacing = changed.flatMap(({ row }) => (stored.has(row.id) ? [row] : []));
  if (beforeChange !== undefined && replacing.length > 0 && !(await beforeChange(replacing)))
    return { created: [], updated: [], unchanged: [], formerPatients: [] };
  // One order of rows for everyone: two imports that meet wait for each other and do not deadlock.
  changed.sort((a, b) => (a.row.id < b.row.id ? -1 : 1));
  const written = await upsert(context, table, changed);
  // A dry run writes to tables that are empty at first: what is stored elsewhere is not new.
  const isNew = (row: { id: string; created: boolean }) => row.created && !stored.has(row.id);
  const updated = written.filter((row) => !isNew(row)).map(({ id }) => id);
  if (beforeChange !== undefined && updated.some((id) => !stored.has(id))) throw new AddedByAnotherImport();
  const created = written.filter(isNew).map(({ id }) => id);
  await replaceChildren(context, table, { changed, updated });
  const formerPatients = changed.flatMap(({ row }) => {
    const before = stored.get(row.id)?.patientId ?? null;
    return before === null || before === row.values.patient_id ? [] : [before];
  });
  return { created, updated, unchanged, formerPatients };
}

/** SHA-256 of the canonical row, children included. */
function contentDigest({ values, children }: RecordRow): string {
  return hash('sha256', JSON.stringify([values, children]), 'hex');
}

interface StoredRecord {
  id: string;
  digest: string;
  /** Null in tables that are not about patients. */
  patientId: string | null;
}

async function storedDigests(
  client: Client,
  scope: FacilityScope,
  table: RecordTable,
  rows: readonly RecordRow[],
): Promise<Map<string, StoredRecord>> {
  const { keys, values } = key(scope, table);
  const patient = table.columns.some(([name]) => name === 'patient_id') ? 'patient_id' : 'null::uuid';
  const { rows: stored } = await client.query<StoredRecord>({
    name: statementName('digests', table.name),
    text: `select id, encode(content_digest, 'hex') as digest, ${patient} as "patientId"
      from ${table.name}
      where ${keys.map((name, index) => `${name} = $${index + 1}`).join(' and ')}
        and id = any($${keys.length + 1}::uuid[])`,
    values: [...values, rows.map(({ id }) => id)],
  });
  return new Map(stored.map((record) => [record.id, record]));
}

type Destination = Pick<WriteContext, 'client' | 'scope' | 'dryRun'>;

async function upsert(
  { client, scope, dryRun }: Destination,
  table: RecordTable,
  changed: readonly DigestedRow[],
): Promise<{ id: string; created: boolean }[]> {
  const { keys, values } = key(scope, table);
  const columns: readonly Column[] = [...table.columns, ['content_digest', 'bytea']];
  const names = columns.map(([name]) => name);
  const documents = changed.map(({ row, digest }) => ({
    ...row.values,
    id: row.id,
    content_digest: `\\x${digest}`,
  }));
  const { rows } = await client.query<{ id: string; created: boolean }>({
    name: statementName('upsert', table.name),
    text: `insert into ${writtenTable(table.name, dryRun)} as stored (${[...keys, 'id', ...names].join(', ')})
      select ${[...keys.map((_, index) => `$${index + 1}::uuid`), 'id', ...names].join(', ')}
      from json_to_recordset($${keys.length + 1}::json) as incoming (id uuid, ${columnList(columns)})
      order by id
      on conflict (${[...keys, 'id'].join(', ')}) do update
      set ${names.map((name) => `${name} = excluded.${name}`).join(', ')},
        version = stored.version + 1,
        updated_at = now()
      returning id, version = 1 as created`,
    values: [...values, JSON.stringify(documents)],
  });
  return rows;
}

async function replaceChildren(
  destination: Destination,
  table: RecordTable,
  { changed, updated }: { changed: readonly DigestedRow[]; updated: readonly string[] },
): Promise<void> {
  for (const child of table.children) {
    if (updated.length > 0) await deleteChildren(destination, table, child, updated);
    const documents = changed.flatMap(({ row }) =>
      (row.children[child.name] ?? []).map((values) => ({ ...values, [child.parent]: row.id })),
    );
    if (documents.length > 0) await insertChildren(destination, table, child, documents);
  }
}

async function deleteChildren(
  { client, scope, dryRun }: Destination,
  table: RecordTable,
  child: ChildTable,
  parents: readonly string[],
): Promise<void> {
  const { keys, values } = key(scope, table);
  const fixed = Object.entries(child.fixed ?? {});
  const conditions = [...keys, ...fixed.map(([name]) => name)].map(
    (name, index) => `${name} = $${index + 1}`,
  );
  await client.query({
    name: statementName('delete', table.name, child.name),
    text: `delete from ${writtenTable(child.name, dryRun)}
      where ${conditions.join(' and ')}
        and ${child.parent} = any($${conditions.length + 1}::uuid[])`,
    values: [...values, ...fixed.map(([, value]) => value), parents],
  });
}

async function insertChildren(
  { client, scope, dryRun }: Destination,
  table: RecordTable,
  child: ChildTable,
  documents: readonly object[],
): Promise<void> {
  const { keys, values } = key(scope, table);
  const fixed = Object.entries(child.fixed ?? {});
  const names = child.columns.map(([name]) => name);
  const parameters = [
    ...keys.map((_, index) => `$${index + 1}::uuid`),
    ...fixed.map((_, index) => `$${keys.length + index + 1}::text`),
  ];
  await client.query({
    name: statementName('insert', table.name, child.name),
    text: `insert into ${writtenTable(child.name, dryRun)} (${[...keys, ...fixed.map(([name]) => name), child.parent, ...names].join(', ')})
      select ${[...parameters, child.parent, ...names].join(', ')}
      from json_to_recordset($${parameters.length + 1}::json) as incoming (${child.parent} uuid, ${columnList(child.columns)})`,
    values: [...values, ...fixed.map(([, value]) => value), JSON.stringify(documents)],
  });
}

function key(scope: FacilityScope, table: RecordTable): { keys: string[]; values: string[] } {
  return table.reach === 'organisation'
    ? { keys: ['organisation_id'], values: [scope.organisationId] }
    : { keys: ['organisation_id', 'facility_id'], values: [scope.organisationId, scope.facilityId] };
}

/** Names of prepared statements have 63 characters at most. */
function statementName(...parts: string[]): string {
  const name = `import-${parts.join('-')}`;
  return name.length <= 63 ? name : `import-${hash('sha1', name, 'hex')}`;
}

function columnList(columns: readonly Column[]): string {
  return columns.map(([name, type]) => `${name} ${type}`).join(', ');
}
