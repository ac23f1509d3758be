/**
 * Databases on a Citus cluster that exists, for TEST_CITUS_URL: the URL of a superuser in a database of the coordinator
 * that has the extension and knows its workers. A database for tests is one of the same name on every node. Nodes keep
 * no name of a database in what they know of each other, so a copy of each node's part is a cluster of its own.
 */
import pg from 'pg';
import { planScaleOut, runPlan } from '../../src/app/scale-out/scale-out.ts';
import { createPool, type Queryable } from '../../src/platform/db/database.ts';
import { migrate, SERVICE_ROLE, withClient } from '../../src/platform/db/migrate.ts';
import { type LockWait, waitUntil } from '../wait-until.ts';

/** Parts of each table: few, so that a copy is quick, and some on each of two workers. */
const SHARDS = 4;

interface ClusterNode {
  host: string;
  port: number;
  coordinator: boolean;
}

/** Make the migrated, distributed database that tests copy. */
export async function createDistributedTemplate(clusterUrl: string, name: string): Promise<void> {
  await onCluster(clusterUrl, async (cluster) => {
    await cluster.everywhere(makeRole);
    await cluster.everywhere(`create database ${name}`);
    await cluster.client.query(`alter database ${name} set citus.shard_count = ${SHARDS}`);
    const url = databaseUrl(clusterUrl, name);
    await joinNodes(url, cluster.nodes);
    await migrate(url);
    await place(url);
    await seal(cluster, name);
  });
}

/** Copy the template on every node. */
export async function cloneDistributed(clusterUrl: string, name: string, template: string): Promise<void> {
  await onCluster(clusterUrl, ({ everywhere }) =>
    everywhere(`create database ${name} template ${template} strategy file_copy`),
  );
}

/**
 * Remove the database on every node. `drop database` ends the daemon of Citus that is connected to it. A transaction
 * that was prepared on a worker when its process was killed would keep the database there, so it is ended before.
 */
export async function dropDistributed(clusterUrl: string, name: string): Promise<void> {
  await withClient(databaseUrl(clusterUrl, name), (client) =>
    client.query('select recover_prepared_transactions()'),
  ).catch(() => undefined);
  await onCluster(clusterUrl, ({ everywhere }) => everywhere(`drop database if exists ${name} with (force)`));
}

/** Watches who waits for a lock on any node of the cluster, in the database that `db` is connected to. */
export async function watchNodes(
  clusterUrl: string,
  db: Queryable,
): Promise<{ waits(wanted: LockWait): Promise<boolean>; close(): Promise<void> }> {
  const { rows } = await db.query<{ name: string }>({ text: 'select current_database() as name' });
  const client = new pg.Client({ connectionString: databaseUrl(clusterUrl, rows[0]?.name ?? '') });
  client.on('error', () => undefined);
  await client.connect();
  return {
    async waits({ application, blockedBy }) {
      // A number of Citus for a connection is that of its node, times 10^10, plus its process id.
      const found = await client.query(
        `select from citus_lock_waits w
         join pg_stat_activity a on a.pid = w.waiting_gpid % 10000000000
         where a.datname = current_database()
           and ($1::text is null or a.application_name like $1)
           and ($2::integer is null or w.blocking_gpid % 10000000000 = $2)`,
        [application, blockedBy],
      );
      return found.rows.length > 0;
    },
    close: () => client.end(),
  };
}

interface Cluster {
  client: pg.Client;
  nodes: ClusterNode[];
  /** On the coordinator first; again until no other session is in the way. */
  everywhere(statement: string): Promise<void>;
}

async function onCluster(url: string, work: (cluster: Cluster) => Promise<void>): Promise<void> {
  await withClient(url, async (client) => {
    // Only of this session: a database is made and dropped here node by node.
    await client.query('set citus.enable_create_database_propagation = off');
    const nodes = await nodesOf(client);
    const workers = nodes.filter(({ coordinator }) => !coordinator);
    if (workers.length === 0)
      throw new Error('The database of TEST_CITUS_URL knows no active worker. Add them with citus_add_node.');
    await work({
      client,
      nodes,
      async everywhere(statement) {
        await again(statement, async () => {
          await client.query(statement);
        });
        for (const worker of workers) await again(statement, () => onWorker(client, worker, statement));
      },
    });
  });
}

/** A copy or a drop waits until nobody is connected (55006): Citus keeps connections between nodes for a while. */
async function again(statement: string, work: () => Promise<void>): Promise<void> {
  await waitUntil(async () => {
    try {
      await work();
      return true;
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (code === '55006' || /being (?:accessed|used) by/.test(message)) return false;
      throw error;
    }
  }, statement);
}

/** Runs it in the database of the worker that has the same name as that of `client`, as Citus' own functions do. */
async function onWorker(client: pg.Client, { host, port }: ClusterNode, statement: string): Promise<void> {
  const { rows } = await client.query<{ success: boolean; result: string }>(
    'select success, result from master_run_on_worker(array[$1::text], array[$2::integer], array[$3::text], false)',
    [host, port, statement],
  );
  const [answer] = rows;
  if (answer?.success !== true)
    throw new Error(`${host}:${port} refused: ${statement}\n${answer?.result ?? 'no answer'}`);
}

/** The role of the service, with the right to sign in: Citus signs in as it on the workers. */
const makeRole = `
  do $$
  begin
    perform set_config('citus.enable_create_role_propagation', 'off', true);
    perform set_config('citus.enable_alter_role_propagation', 'off', true);
    if not exists (select from pg_roles where rolname = '${SERVICE_ROLE}') then
      create role ${SERVICE_ROLE};
    end if;
    alter role ${SERVICE_ROLE} login;
  end $$`;

async function nodesOf(client: pg.Client): Promise<ClusterNode[]> {
  const { rows } = await client.query<ClusterNode>(
    `select nodename as host, nodeport as port, groupid = 0 as coordinator
     from pg_dist_node
     where isactive and noderole = 'primary'
     order by groupid`,
  );
  return rows;
}

/** Make a cluster of the databases that have the name of this one. */
async function joinNodes(url: string, nodes: readonly ClusterNode[]): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('create extension if not exists citus');
    for (const node of nodes) {
      if (!node.coordinator) await onWorker(client, node, 'create extension if not exists citus');
      const join = node.coordinator ? 'citus_set_coordinator_host' : 'citus_add_node';
      await client.query(`select ${join}($1, $2)`, [node.host, node.port]);
    }
  });
}

async function place(url: string): Promise<void> {
  const pool = createPool({ url, max: 1, applicationName: 'interchange test' }, () => undefined);
  const client = await pool.connect();
  try {
    await runPlan(client, await planScaleOut(client));
  } finally {
    client.release(true);
    await pool.end();
  }
}

/** Nobody connects any more, and who is connected leaves, so that copies can be made. */
async function seal({ everywhere }: Cluster, name: string): Promise<void> {
  await everywhere(`alter database ${name} with allow_connections false`);
  await everywhere(`select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = '${name}'`);
}

function databaseUrl(clusterUrl: string, name: string): string {
  return Object.assign(new URL(clusterUrl), { pathname: `/${name}` }).href;
}
