/**
 * SQL of the tables that a dry run reads and writes (docs/adr/0125): temporary ones with the names of the real ones. Stored
 * records are copied there before the import looks at them, so that it runs as it is and changes only copies.
 * Contract: IN-24.
 */

import type { RecordTable } from '../../../clinical/description/describe.ts';
import type { ChildTable } from '../../../clinical/description/element.ts';
import { exactly, rowsByIndex } from '../../../platform/db/by-key.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { IdentifierKey, ImportReach, RecordLookup } from '../map/record-lookup.ts';

const PATIENT = 'patient';
/** Comes with its patient. */
const REGISTRATION = 'patient_registration';
/** They come with the record that waits. */
const WAITS = ['waiting_record', 'waiting_link'] as const;
/** What one import notes for itself: nothing stored is copied there. */
const NOTES = 'entry_position';

/** Rows to copy: those of the organisation, or of the facility, of one kind where the table has several. */
interface Copied extends Pick<RecordTable, 'reach'> {
  table: string;
  column: string;
  fixed?: ChildTable['fixed'] | undefined;
}

/** Records of one type. */
export interface RecordKind {
  type: string;
  table: RecordTable;
}

/** The tables of one dry run, on a connection of its own. */
export class DryRun {
  readonly #client: Client;
  readonly #scope: FacilityScope;
  /** Where the real tables are. */
  readonly #schema: string;
  /** Of each table, without generated columns. */
  readonly #columns: ReadonlyMap<string, string>;
  readonly #kinds: readonly RecordKind[];

  private constructor(
    client: Client,
    scope: FacilityScope,
    stored: { schema: string; columns: ReadonlyMap<string, string>; kinds: readonly RecordKind[] },
  ) {
    this.#client = client;
    this.#scope = scope;
    this.#schema = stored.schema;
    this.#columns = stored.columns;
    this.#kinds = stored.kinds;
  }

  /** Make the tables. Afterwards the session can write to nothing but temporary tables. */
  static async prepare(client: Client, scope: FacilityScope, kinds: readonly RecordKind[]): Promise<DryRun> {
    const names = new Set([
      REGISTRATION,
      NOTES,
      ...WAITS,
      ...kinds.flatMap(({ table: { name, children } }) => [name, ...children.map((child) => child.name)]),
    ]);
    const { rows } = await client.query<{ schema: string; table: string; columns: string }>({
      text: `
        select quote_ident(current_schema()) as schema, c.relname as table,
          string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
        from pg_class c
        join pg_attribute a
          on a.attrelid = c.oid
        where c.relnamespace = current_schema()::regnamespace
          and c.relname = any($1)
          and a.attnum > 0
          and not a.attisdropped
          and a.attgenerated = ''
        group by c.relname`,
      values: [[...names]],
    });
    const schema = rows[0]?.schema ?? '';
    const statements = [
      ...rows.map(({ table }) => `create temp table ${table} (like ${schema}.${table} including all)`),
      // A record that waits no more leaves no links behind.
      `alter table pg_temp.waiting_link add foreign key (organisation_id, facility_id, resource_type, id)
        references pg_temp.waiting_record on delete cascade`,
      'set session characteristics as transaction read only',
      // The tables grow while plans are kept.
      'set plan_cache_mode = force_custom_plan',
    ];
    await client.query(statements.join(';\n'));
    const columns = new Map(rows.map((row) => [row.table, row.columns]));
    return new DryRun(client, scope, { schema, columns, kinds });
  }

  /** Copy those of the stored records that are not copied yet, before they are looked at. */
  async bring(table: RecordTable, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const { name, reach, children } = table;
    const { organisationId, facilityId } = this.#scope;
    const ofFacility = reach === 'facility';
    const { rows: there } = await this.#client.query<{ id: string }>({
      name: `dry-run-there-${name}`,
      text: `select id
        from ${name}
        where organisation_id = $1
          ${ofFacility ? 'and facility_id = $3' : ''}
          and id = any($2::uuid[])`,
      values: [organisationId, ids, ...(ofFacility ? [facilityId] : [])],
    });
    const missing = new Set(ids).difference(new Set(there.map(({ id }) => id)));
    const copied = await this.#copy({ table: name, reach, column: 'id' }, [...missing]);
    for (const { name: child, parent, fixed } of children)
      await this.#copy({ table: child, reach, column: parent, fixed }, copied);
    for (const { type } of this.#kinds.filter((kind) => kind.table === table))
      for (const waits of WAITS)
        await this.#copy(
          { table: waits, reach: 'facility', column: 'id', fixed: { resource_type: type } },
          copied,
        );
    if (name === PATIENT) await this.#bringBesidePatients(table, copied);
  }

  /** {@link bring} of the stored records that carry one of the identifiers. */
  async bringIdentified(
    { lookup, table }: { lookup: RecordLookup; table: RecordTable },
    keys: readonly IdentifierKey[],
    reach: ImportReach,
  ): Promise<void> {
    if (keys.length === 0) return;
    // The same look-up, among what is stored: temporary tables come last. Nothing else sets the path of the session.
    await this.#client.query(`set local search_path = ${this.#schema}, pg_temp`);
    const matches = await lookup.byIdentifier(this.#client, this.#scope, keys, reach);
    await this.#client.query('set local search_path to default');
    await this.bring(
      table,
      matches.map(({ id }) => id),
    );
  }

  /** Registrations here, and those who replace these patients, whichever of the two says so. */
  async #bringBesidePatients(patients: RecordTable, ids: readonly string[]): Promise<void> {
    await this.#copy({ table: REGISTRATION, reach: 'facility', column: 'patient_id' }, ids);
    const { rows } = await this.#client.query<{ id: string }>({
      name: 'dry-run-replacing',
      text: `select l.survivor_id as id
        from unnest($2::uuid[]) as wanted (replaced)
        cross join ${rowsByIndex(`${this.#schema}.patient_link`, 'l', { column: 'replaced_id', value: 'wanted.replaced' })} l`,
      values: [this.#scope.organisationId, ids],
    });
    await this.bring(
      patients,
      rows.map(({ id }) => id),
    );
  }

  /** {@link bring} of the stored records that wait for what one of these names stands for. */
  async bringWaiting(names: readonly string[]): Promise<void> {
    const links = rowsByIndex(`${this.#schema}.waiting_link`, 'l', {
      first: { facility_id: '$2' },
      column: 'target',
      value: 'wanted.target',
    });
    const { rows } = await this.#client.query<{ type: string; id: string }>({
      name: 'dry-run-waiting',
      text: `select distinct l.resource_type as type, l.id
        from unnest($3::uuid[]) as wanted (target)
        cross join ${links} l`,
      values: [this.#scope.organisationId, this.#scope.facilityId, names],
    });
    for (const { type, table } of this.#kinds)
      await this.bring(
        table,
        rows.flatMap((row) => (row.type === type ? row.id : [])),
      );
  }

  /** {@link bring} of all whom the patients replace, directly or by way of others. */
  async bringReplaced(patients: RecordTable, ids: readonly string[]): Promise<void> {
    const found = new Set(ids);
    for (let before = 0; found.size > before; ) {
      before = found.size;
      // A way may go by stored links and by those of the dry run in turn.
      for (const schema of [this.#schema, 'pg_temp']) {
        const { rows } = await this.#client.query<{ id: string }>({
          name: `dry-run-replaced-${schema}`,
          text: `with recursive replaced (id) as (
              select unnest($2::uuid[])
              union
              select l.replaced_id
              from replaced
              cross join lateral (
                select l.replaced_id
                from ${schema}.patient_link l
                where l.organisation_id = $1
                  and ${exactly('l.survivor_id', 'replaced.id')}
                  and l.replaced_id is not null
                order by l.survivor_id
                offset 0
              ) l
            )
            select id from replaced`,
          values: [this.#scope.organisationId, [...found]],
        });
        for (const { id } of rows) found.add(id);
      }
    }
    await this.bring(patients, [...found]);
  }

  /** Copy the stored rows that have one of the ids in `column`; returns these ids. */
  async #copy({ table, reach, column, fixed = {} }: Copied, ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const { organisationId, facilityId } = this.#scope;
    const values = reach === 'facility' ? [organisationId, facilityId, ids] : [organisationId, ids];
    const kinds = Object.entries(fixed).map(([name, value]) => [name, `'${value}'`]);
    const first = { ...(reach === 'facility' && { facility_id: '$2' }), ...Object.fromEntries(kinds) };
    const stored = rowsByIndex(`${this.#schema}.${table}`, 't', { first, column, value: 'wanted.asked' });
    const { rows } = await this.#client.query<{ id: string }>({
      text: `insert into pg_temp.${table} (${this.#columns.get(table)})
        select ${this.#columns.get(table)}
        from unnest($${values.length}::uuid[]) as wanted (asked)
        cross join ${stored} stored
        on conflict do nothing
        returning ${column} as id`,
      values,
    });
    return rows.map(({ id }) => id);
  }
}
