/**
 * SQL of Citus: its nodes, where tables lie, and the functions that place them. Their names and arguments are those of
 * the Citus documentation, "Citus Utility Functions" and "Citus Tables and Views".
 */
import { hasTable, oneRow, type Queryable } from '../../platform/db/database.ts';
import { CO_LOCATED_WITH, DISTRIBUTION_COLUMN } from './placement.ts';

/** Version of the extension, such as `13.2-1`; undefined where the database has none. */
export async function readExtensionVersion(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ version: string }>({
    text: `select extversion as version from pg_extension where extname = 'citus'`,
  });
  return rows[0]?.version;
}

/** Whether this node is the coordinator. */
export async function isCoordinator(db: Queryable): Promise<boolean> {
  const text = 'select groupid as "group" from pg_dist_local_group';
  return (await oneRow<{ group: number }>(db, { text })).group === 0;
}

export interface Node {
  host: string;
  port: number;
  /** It takes rows; a coordinator usually does not. */
  holdsRows: boolean;
  coordinator: boolean;
  active: boolean;
}

export async function listNodes(db: Queryable): Promise<Node[]> {
  const { rows } = await db.query<Node>({
    text: `
      select nodename as host, nodeport as port, shouldhaveshards as "holdsRows", groupid = 0 as coordinator,
        isactive as active
      from pg_dist_node
      where noderole = 'primary'
      order by groupid`,
  });
  return rows;
}

/** Whether the coordinator, as the current user, can sign in on the node. Waits for `citus.node_connection_timeout`. */
export async function canReach(db: Queryable, { host, port }: Node): Promise<boolean> {
  const text = 'select citus_check_connection_to_node($1, $2) as reached';
  return (await oneRow<{ reached: boolean | null }>(db, { text, values: [host, port] })).reached === true;
}

/** Where Citus has a table. `managed`: on the coordinator, but known to Citus. */
export interface Placed {
  kind: 'distributed' | 'reference' | 'managed';
  /** The column that distributes it. */
  column: string | null;
  coLocation: number;
}

/** By table; none where there is no Citus. */
export async function readPlaced(db: Queryable): Promise<Map<string, Placed>> {
  if (!(await hasTable(db, 'pg_dist_partition'))) return new Map();
  const { rows } = await db.query<Placed & { table: string }>({
    text: `
      select t.relname::text as table,
        case
          when p.partmethod = 'h' then 'distributed'
          when p.partmethod = 'n' and p.repmodel = 't' then 'reference'
          else 'managed'
        end as kind,
        case when p.partmethod = 'h' then column_to_column_name(p.logicalrelid, p.partkey) end as column,
        p.colocationid as "coLocation"
      from pg_dist_partition p
      join pg_class t
        on t.oid = p.logicalrelid
      where t.relnamespace = 'public'::regnamespace
        and not t.relispartition`,
  });
  return new Map(rows.map(({ table, ...placed }) => [table, placed]));
}

/** Whether Citus has tables of the service. */
export async function isDistributed(db: Queryable): Promise<boolean> {
  return (await readPlaced(db)).size > 0;
}

export interface StoredTable {
  table: string;
  /** With its partitions and indexes, on this node. */
  sizeBytes: number;
  /** Rows alone. Of a table that was placed: what is left of it here. */
  localBytes: number;
  /** The current user may do what its owner may. */
  owned: boolean;
}

/** Tables beside those that belong to an extension. A partition counts as a part of its table. */
export async function listTables(db: Queryable): Promise<StoredTable[]> {
  const { rows } = await db.query<StoredTable>({
    text: `
      select t.relname::text as table,
        sum(pg_total_relation_size(part.relid))::float8 as "sizeBytes",
        sum(pg_relation_size(part.relid))::float8 as "localBytes",
        pg_has_role(t.relowner, 'usage') as owned
      from pg_class t
      cross join lateral (
        select t.oid as relid
        union
        select relid from pg_partition_tree(t.oid)
      ) part
      where t.relnamespace = 'public'::regnamespace
        and t.relkind in ('r', 'p')
        and not t.relispartition
        and not exists (
          select from pg_depend
          where classid = 'pg_class'::regclass and objid = t.oid and deptype = 'e'
        )
      group by t.oid, t.relname, t.relowner
      order by t.relname`,
  });
  return rows;
}

export async function countRows(db: Queryable, table: string): Promise<number> {
  const text = `select count(*)::float8 as count from ${table}`;
  return (await oneRow<{ count: number }>(db, { text })).count;
}

/**
 * What the session needs before it places tables. Foreign keys into a reference table would otherwise put the local
 * tables that have them under the care of Citus, and reference tables are written to while others are placed. Citus
 * locks no rows of a table that has copies.
 */
export async function prepareSession(db: Queryable): Promise<void> {
  await db.query({
    text: `select set_config('citus.enable_local_reference_table_foreign_keys', 'off', false),
             set_config('citus.multi_shard_modify_mode', 'sequential', false),
             set_config('citus.shard_replication_factor', '1', false)`,
  });
}

/** Make it a reference table: its rows are copied to every node. */
export async function placeAsReference(db: Queryable, table: string): Promise<void> {
  await db.query({ text: 'select create_reference_table($1::regclass)', values: [table] });
}

/** Distribute it: its rows move to the nodes, those of one organisation together. */
export async function distribute(db: Queryable, table: string): Promise<void> {
  await db.query({
    text: 'select create_distributed_table($1::regclass, $2, colocate_with => $3)',
    values: [table, DISTRIBUTION_COLUMN, table === CO_LOCATED_WITH ? 'none' : CO_LOCATED_WITH],
  });
}

/** Remove what is left on the coordinator of a table whose rows were moved. It reaches the tables that refer to it. */
export async function removeLocalRows(db: Queryable, table: string): Promise<void> {
  await db.query({
    text: 'select truncate_local_data_after_distributing_table($1::regclass)',
    values: [table],
  });
}

/** Processes and commands of the service that are connected, by the name that they give; not those that wait for us. */
export async function listServiceSessions(db: Queryable): Promise<{ name: string; sessions: number }[]> {
  const { rows } = await db.query<{ name: string; sessions: number }>({
    text: `
      select application_name as name, count(*)::integer as sessions
      from pg_stat_activity
      where datname = current_database()
        and pid <> pg_backend_pid()
        and application_name ~ '^interchange( |$)'
        and application_name not in ('interchange scale-out', 'interchange migrate')
      group by application_name
      order by application_name`,
  });
  return rows;
}
