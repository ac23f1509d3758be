/**
 * Set-based upserts: a chunk of records is compared with what is stored by a digest of its content, and only
 * what differs is written. Importing the same content again therefore writes nothing: no row version, no
 * lock, no change of `version` or `updated_at`.
 */
import { hash } from 'node:crypto';
import type { Client } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { MetAnotherImport } from './import-transaction.ts';
import type { MappedRecord, WriteResult } from './resource-importer.ts';

/** Column name and SQL type; the names of the row's values are the column names. */
export type Column = readonly [name: string, type: string];

export interface ChildTable {
  name: string;
  /** Column that holds the id of the record. */
  parent: string;
  columns: readonly Column[];
  /** Columns with one fixed value, for a table that several kinds of records share. */
  fixed?: Readonly<Record<string, string>>;
}

/** A table with the columns organisation_id, [facility_id,] id, version, content_digest, updated_at. */
export interface RecordTable {
  name: string;
  /** What the primary key names beside the organisation: the record alone, or its facility too. */
  reach: 'organisation' | 'facility';
  columns: readonly Column[];
  children: readonly ChildTable[];
}

export interface RecordRow extends MappedRecord {
  /** By column name; absent or undefined is null. Must be built in one fixed order: the digest depends on it. */
  values: Readonly<Record<string, unknown>>;
  /** Rows of child tables in their order, by table name. */
  children: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
}

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

/** Write what differs. `rows` have distinct ids. */
export async function writeRecords(
  client: Client,
  scope: FacilityScope,
  {
    table,
    rows,
    beforeChange,
  }: { table: RecordTable; rows: readonly RecordRow[]; beforeChange?: BeforeChange },
): Promise<RecordsWritten> {
  const digested = rows.map((row) => ({ row, digest: contentDigest(row) }));
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
  const written = await upsert(client, scope, table, changed);
  const updated = written.filter(({ created }) => !created).map(({ id }) => id);
  if (beforeChange !== undefined && updated.some((id) => !stored.has(id))) throw new MetAnotherImport();
  const created = written.filter((row) => row.created).map(({ id }) => id);
  await replaceChildren(client, scope, table, { changed, updated });
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

async function upsert(
  client: Client,
  scope: FacilityScope,
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
    text: `insert into ${table.name} as stored (${[...keys, 'id', ...names].join(', ')})
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
  client: Client,
  scope: FacilityScope,
  table: RecordTable,
  { changed, updated }: { changed: readonly DigestedRow[]; updated: readonly string[] },
): Promise<void> {
  for (const child of table.children) {
    if (updated.length > 0) await deleteChildren(client, scope, table, child, updated);
    const documents = changed.flatMap(({ row }) =>
      (row.children[child.name] ?? []).map((values) => ({ ...values, [child.parent]: row.id })),
    );
    if (documents.length > 0) await insertChildren(client, scope, table, child, documents);
  }
}

async function deleteChildren(
  client: Client,
  scope: FacilityScope,
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
    text: `delete from ${child.name}
      where ${conditions.join(' and ')}
        and ${child.parent} = any($${conditions.length + 1}::uuid[])`,
    values: [...values, ...fixed.map(([, value]) => value), parents],
  });
}

async function insertChildren(
  client: Client,
  scope: FacilityScope,
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
    text: `insert into ${child.name} (${[...keys, ...fixed.map(([name]) => name), child.parent, ...names].join(', ')})
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
