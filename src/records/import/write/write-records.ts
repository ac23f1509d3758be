/**
 * Set-based upserts: a chunk of records is compared with what is stored by a digest of its content, and only
 * what differs is written. Importing the same again therefore writes nothing: no row version, no lock. The same content
 * under a newer version of its source changes neither `version` nor `updated_at`. An older version never overwrites a
 * newer one (docs/adr/0108).
 * Contract: IN-15, IN-34.
 */
import { hash } from 'node:crypto';
import { DatabaseError } from 'pg';
import type { RecordRow, RecordTable } from '../../../clinical/description/describe.ts';
import type { Children, ChildTable, Column, Values } from '../../../clinical/description/element.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { MappedRecord, WriteContext, WriteResult } from '../map/resource-importer.ts';

interface DigestedRow {
  row: MappedRecord;
  /** JSON of its values: its digest and what is written are made of it. */
  json: string;
  /** Hex. */
  digest: string;
}

export interface RecordsWritten extends WriteResult {
  /** Whom changed records were about before, by id, where they are about somebody else now. */
  reassigned: ReadonlyMap<string, string>;
  /** Ids of what changed panels had as members, and have no more. */
  formerMembers: readonly string[];
}

/** Looks at rows that differ from what is stored under their ids; nothing is written when it answers false. */
export type BeforeChange = (rows: readonly RecordRow[]) => Promise<boolean>;

/**
 * Another import, or another worker of this one, has just written what this one took for new or unchanged. The same work
 * finds it there when it is repeated (`import-transaction.ts`).
 */
export class WrittenByAnother extends DatabaseError {
  /** A serialization failure (PostgreSQL, appendix A). */
  override code = '40001';

  constructor() {
    super('Another import, or another worker of this one, wrote the same record', 0, 'error');
  }
}

/** How a record is kept as text beside its columns (docs/adr/0120). */
export interface TextRendering {
  /** Version of the mapping that `render` is. */
  mapping: number;
  render: (row: RecordRow, organisationId: string) => string;
}

interface RecordsToWrite {
  table: RecordTable;
  /** With distinct ids. */
  rows: readonly MappedRecord[];
  beforeChange?: BeforeChange;
  rendering?: TextRendering | undefined;
  /** Columns that only the insert of a record fills. */
  places?: readonly Column[] | undefined;
}

/** Write what differs. Of records that are placed already, none is stored. */
export async function writeRecords(
  context: Destination,
  { table, rows, beforeChange, rendering, places = [] }: RecordsToWrite,
): Promise<RecordsWritten> {
  const { placement } = context;
  const digested = rows.map((row) => {
    const json = JSON.stringify(row.values);
    return { row, json, digest: digestOf(json, row.children) };
  });
  // One order of rows for everyone: two imports that meet wait for each other and do not deadlock.
  digested.sort((a, b) => (a.row.id < b.row.id ? -1 : 1));
  const stored =
    placement === undefined ? await storedRecords(context, table, digested) : new Map<string, StoredRecord>();
  const fates = new Map(digested.map(({ row: { id } }) => [id, fateOf(stored.get(id))]));
  const having = (...some: readonly (Fate | undefined)[]) =>
    digested.filter(({ row }) => some.includes(fates.get(row.id)));
  const idsOf = (...some: readonly Fate[]) => having(...some).map(({ row }) => row.id);
  // What is older changes nothing, but what comes with it is taken for the stored record too.
  const meeting = having('updated', 'older').map(({ row }) => row);
  if (beforeChange !== undefined && meeting.length > 0 && !(await beforeChange(meeting))) return NOTHING;
  const isNew = idsOf('created');
  const written = having('created', 'updated', 'renewed');
  const upserted = written.length === 0 ? [] : await upsert(context, { table, rendering, places }, written);
  const returned = new Map(upserted.map((one) => [one.id, one]));
  for (const { row } of written) fates.set(row.id, fateOfWritten(fates.get(row.id), returned.get(row.id)));
  const mustBeNew = beforeChange !== undefined || placement !== undefined;
  if (mustBeNew && isNew.some((id) => fates.get(id) !== 'created')) throw new WrittenByAnother();
  const changed = having('created', 'updated');
  await replaceChildren(context, table, { changed, updated: idsOf('updated') });
  const reassigned = changed.flatMap(({ row: { id, values } }): [string, string][] => {
    const before = stored.get(id)?.patientId ?? null;
    return before === null || before === values.patient_id ? [] : [[id, before]];
  });
  return {
    created: idsOf('created'),
    updated: idsOf('updated'),
    unchanged: idsOf('unchanged', 'overtaken'),
    overtaken: idsOf('overtaken'),
    older: idsOf('older'),
    reassigned: new Map(reassigned),
    formerMembers: changed.flatMap(({ row: { id, values } }) => {
      const members = new Set(values.has_member_ids as string[] | undefined);
      return stored.get(id)?.memberIds?.filter((member) => !members.has(member)) ?? [];
    }),
  };
}

/** SHA-256 of the canonical row, children included. */
export function rowDigest({ values, children }: RecordRow): string {
  return digestOf(JSON.stringify(values), children);
}

function digestOf(valuesJson: string, children: Children): string {
  return hash('sha256', `[${valuesJson},${JSON.stringify(children)}]`, 'hex');
}

interface StoredRecord {
  id: string;
  /** True when its content is the same. */
  same: boolean;
  /** True when what comes is an older version. */
  older: boolean;
  /** True when what comes names a version, and another one is stored or none. */
  renews: boolean;
  /** Null in tables that are not about patients. */
  patientId: string | null;
  /** Null in tables whose records have no members. */
  memberIds: string[] | null;
}

/**
 * What becomes of a row. `renewed`: its content is stored already, under an older version or none. `overtaken`: its content
 * is stored already, under a newer version.
 */
type Fate = 'created' | 'updated' | 'renewed' | 'unchanged' | 'overtaken' | 'older';

const NOTHING: RecordsWritten = {
  created: [],
  updated: [],
  unchanged: [],
  overtaken: [],
  older: [],
  reassigned: new Map(),
  formerMembers: [],
};

function fateOf(stored: StoredRecord | undefined): Fate {
  if (stored === undefined) return 'created';
  if (stored.older) return stored.same ? 'overtaken' : 'older';
  if (!stored.same) return 'updated';
  return stored.renews ? 'renewed' : 'unchanged';
}

/** Another import may have written the record meanwhile: the same content, or a newer version, which is not returned. */
function fateOfWritten(fate: Fate | undefined, returned: UpsertedRecord | undefined): Fate {
  if (returned === undefined) return fate === 'renewed' ? 'overtaken' : 'older';
  if (!returned.changed) return 'unchanged';
  return returned.created ? 'created' : 'updated';
}

interface UpsertedRecord {
  id: string;
  created: boolean;
  changed: boolean;
}

/**
 * SQL that is true when the version `coming` is older than `stored`: by the numbers of the versions, unless two systems
 * gave them, else by the times of the last change. What names no version is never older: the order of entry decides.
 */
function isOlder(coming: string, stored: string): string {
  return `coalesce(
        case when ${coming}.source_version <> ${stored}.source_version
            and (${coming}.source_system <> ${stored}.source_system) is not true
          then ${coming}.source_version < ${stored}.source_version
          else ${coming}.source_updated_at < ${stored}.source_updated_at
        end, false)`;
}

const SOURCE_COLUMNS: readonly Column[] = [
  ['source_version', 'bigint'],
  ['source_updated_at', 'timestamptz'],
  ['source_system', 'text'],
];

/** Beside the columns of a table whose records are kept as text too. */
const RENDERED_COLUMNS: readonly Column[] = [
  ['rendered', 'text'],
  ['rendered_version', 'bigint'],
  ['rendered_mapping', 'integer'],
];

/** A time more than a day past the clock of the database is not believed: it would keep out all that comes until then. */
const BELIEVED = "case when source_updated_at <= now() + interval '1 day' then source_updated_at end";

/** SQL of what is known of a version afterwards: what `coming` says, else what `stored` does of the same system. */
function keptSource(name: string, coming: string, stored: string): string {
  const either = `coalesce(${coming}.${name}, ${stored}.${name})`;
  if (name !== 'source_version') return either;
  return `case when ${coming}.source_system <> ${stored}.source_system then ${coming}.${name} else ${either} end`;
}

/** The values that every table of records has columns for. */
function ownValues({ row, digest }: DigestedRow): Record<string, unknown> {
  return {
    id: row.id,
    content_digest: `\\x${digest}`,
    source_version: row.source?.version,
    source_updated_at: row.source?.updatedAt,
    source_system: row.source?.system,
  };
}

async function storedRecords(
  { client, scope, dryRun }: Destination,
  table: RecordTable,
  rows: readonly DigestedRow[],
): Promise<Map<string, StoredRecord>> {
  const ids = rows.map(({ row }) => row.id);
  await dryRun?.bring(table, ids);
  const { keys, values } = key(scope, table);
  const columns: readonly Column[] = [['id', 'uuid'], ['content_digest', 'bytea'], ...SOURCE_COLUMNS];
  const sources = SOURCE_COLUMNS.map(([name]) => name);
  const ofStored = (column: string, type: string) =>
    table.columns.some(([name]) => name === column) ? `stored.${column}` : `null::${type}`;
  const { rows: stored } = await client.query<StoredRecord>({
    name: statementName('stored', table.name),
    text: `select stored.id, stored.content_digest = coming.content_digest as same,
        ${ofStored('patient_id', 'uuid')} as "patientId", ${ofStored('has_member_ids', 'uuid[]')} as "memberIds",
        ${isOlder('coming', 'stored')} as older,
        (${sources.map((name) => keptSource(name, 'coming', 'stored')).join(', ')})
          is distinct from (${sources.map((name) => `stored.${name}`).join(', ')}) as renews
      from ${table.name} stored
      join (
        select id, content_digest, source_version, ${BELIEVED} as source_updated_at, source_system
        from json_to_recordset($${keys.length + 2}::json) as given (${columnList(columns)})
      ) coming
        on coming.id = stored.id
      where ${keys.map((name, index) => `stored.${name} = $${index + 1}`).join(' and ')}
        and stored.id = any($${keys.length + 1}::uuid[])`,
    values: [...values, ids, JSON.stringify(rows.map(ownValues))],
  });
  return new Map(stored.map((record) => [record.id, record]));
}

type Destination = Pick<WriteContext, 'client' | 'scope' | 'dryRun' | 'placement'>;

async function upsert(
  { client, scope, placement }: Destination,
  { table, rendering, places = [] }: Pick<RecordsToWrite, 'table' | 'rendering' | 'places'>,
  changed: readonly DigestedRow[],
): Promise<UpsertedRecord[]> {
  const { keys, values } = key(scope, table);
  const columns: readonly Column[] = [
    ...table.columns,
    ['content_digest', 'bytea'],
    ...SOURCE_COLUMNS,
    ...(rendering === undefined ? [] : RENDERED_COLUMNS),
  ];
  const names = columns.map(([name]) => name);
  const sources = new Set(SOURCE_COLUMNS.map(([name]) => name));
  const inserted = [...columns, ...places];
  const documents = changed.map((row) =>
    withMembers(row.json, {
      ...ownValues(row),
      ...placement?.columns.get(row.row.id),
      ...(rendering && {
        rendered: rendering.render(row.row, scope.organisationId),
        rendered_version: 1,
        rendered_mapping: rendering.mapping,
      }),
    }),
  );
  const nextVersion = 'stored.version + (stored.content_digest <> excluded.content_digest)::int';
  const ownNames = new Set(table.columns.map(([name]) => name));
  const next = (name: string) => {
    if (name === 'rendered_version') return nextVersion;
    if (sources.has(name)) return keptSource(name, 'excluded', 'stored');
    // Where the content is the same, a column may have been decided since by what was put under the record.
    return ownNames.has(name)
      ? `case when stored.content_digest = excluded.content_digest then stored.${name} else excluded.${name} end`
      : `excluded.${name}`;
  };
  const { rows } = await client.query<UpsertedRecord>({
    name: statementName('upsert', table.name),
    // A distributed table takes no now() but in a select.
    text: `with written as (
        insert into ${table.name} as stored (${[...keys, 'id', ...inserted.map(([name]) => name), 'updated_at'].join(', ')})
        select ${[...keys.map((_, index) => `$${index + 1}::uuid`), 'id', ...inserted.map(([name]) => (name === 'source_updated_at' ? BELIEVED : name)), 'now()'].join(', ')}
        from json_to_recordset($${keys.length + 1}::json) as incoming (id uuid, ${columnList(inserted)})
        order by id
        on conflict (${[...keys, 'id'].join(', ')}) do update
        set ${names.map((name) => `${name} = ${next(name)}`).join(', ')},
          version = ${nextVersion},
          updated_at = case
            when stored.content_digest = excluded.content_digest then stored.updated_at
            else excluded.updated_at
          end
        where not ${isOlder('excluded', 'stored')}
        returning id, version, updated_at
      )
      select id, version = 1 and updated_at = now() as created, updated_at = now() as changed
      from written`,
    values: [...values, `[${documents.join(',')}]`],
  });
  return rows;
}

/** A JSON object with more members, of which there is one at least. */
function withMembers(json: string, members: object): string {
  return `${json.slice(0, -1)}${json === '{}' ? '' : ','}${JSON.stringify(members).slice(1)}`;
}

async function replaceChildren(
  destination: Destination,
  table: RecordTable,
  { changed, updated }: { changed: readonly DigestedRow[]; updated: readonly string[] },
): Promise<void> {
  for (const child of table.children) {
    if (updated.length > 0) await deleteChildren(destination, table, child, updated);
    const documents = changed.flatMap(({ row }) => {
      const repeated = Object.fromEntries((child.repeats ?? []).map(([name]) => [name, row.values[name]]));
      return childRows(row, child).map((values) => ({ ...values, ...repeated, [child.parent]: row.id }));
    });
    if (documents.length > 0) await insertChildren(destination, table, child, documents);
  }
}

function childRows(row: RecordRow, { name, columns, idsOf }: ChildTable): readonly Values[] {
  if (idsOf === undefined) return row.children[name] ?? [];
  const ids = new Set((row.values[idsOf] ?? []) as string[]);
  return columns.flatMap(([column]) => Array.from(ids, (id) => ({ [column]: id })));
}

async function deleteChildren(
  { client, scope }: Destination,
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
  { client, scope }: Destination,
  table: RecordTable,
  child: ChildTable,
  documents: readonly object[],
): Promise<void> {
  const { keys, values } = key(scope, table);
  const fixed = Object.entries(child.fixed ?? {});
  const columns = [...child.columns, ...(child.repeats ?? [])];
  const names = columns.map(([name]) => name);
  const parameters = [
    ...keys.map((_, index) => `$${index + 1}::uuid`),
    ...fixed.map((_, index) => `$${keys.length + index + 1}::text`),
  ];
  await client.query({
    name: statementName('insert', table.name, child.name),
    text: `insert into ${child.name} (${[...keys, ...fixed.map(([name]) => name), child.parent, ...names].join(', ')})
      select ${[...parameters, child.parent, ...names].join(', ')}
      from json_to_recordset($${parameters.length + 1}::json) as incoming (${child.parent} uuid, ${columnList(columns)})
      ${child.idsOf === undefined ? '' : 'on conflict do nothing'}`,
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
