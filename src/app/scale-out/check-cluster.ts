/** Whether a cluster can take the tables, and what to do where it cannot. Contract: CMD-23. */
import type { Client } from '../../platform/db/database.ts';
import { SERVICE_ROLE } from '../../platform/db/migrate.ts';
import { findRoleFault, roleFaultText } from '../../platform/db/service-role.ts';
import { canReach, isCoordinator, listNodes, type Node, readExtensionVersion } from './citus.store.ts';

/** Older versions were not tried. */
const OLDEST_MAJOR = 13;

/** What stands in the way, one sentence or two for each; empty when nothing does. */
export async function clusterProblems(client: Client): Promise<string[]> {
  const version = await readExtensionVersion(client);
  if (version === undefined)
    return [
      `The database has no extension citus: it is one PostgreSQL, and nothing has to be placed. To spread it over several machines, install Citus ${OLDEST_MAJOR} or newer on every node, add citus to shared_preload_libraries, and run in this database on every node: create extension citus;`,
    ];
  if (Number.parseInt(version, 10) < OLDEST_MAJOR)
    return [
      `Citus ${version} is too old. Update every node to Citus ${OLDEST_MAJOR} or newer, then run on every node: alter extension citus update;`,
    ];
  if (!(await isCoordinator(client)))
    return ['DATABASE_URL leads to a worker of the cluster. Set it to the URL of the coordinator.'];
  const nodes = await listNodes(client);
  if (!nodes.some(({ active, coordinator, holdsRows }) => active && holdsRows && !coordinator))
    return [
      "The cluster has no active worker. Run for each worker, on the coordinator: select citus_add_node('HOST', 5432);",
    ];
  return [...nodes.filter(({ active }) => !active).map(inactiveNode), ...(await unreachable(client, nodes))];
}

function inactiveNode(node: Node): string {
  return `Node ${addressOf(node)} is not active. Run on the coordinator: select citus_activate_node('${node.host}', ${node.port}); or remove it with citus_remove_node.`;
}

/** Citus signs in on the nodes as the user who runs a statement: the owner of the tables, and the role of the service. */
async function unreachable(client: Client, nodes: readonly Node[]): Promise<string[]> {
  const active = nodes.filter((node) => node.active);
  const problems: string[] = [];
  const reached: Node[] = [];
  for (const node of active) {
    if (await canReach(client, node)) reached.push(node);
    else
      problems.push(
        `The coordinator cannot sign in on node ${addressOf(node)} as the user of DATABASE_URL. Check that the node runs, that it has this database with the extension citus, and that its pg_hba.conf lets this user in.`,
      );
  }
  const fault = await findRoleFault(client);
  if (fault !== undefined) return [...problems, `${roleFaultText(fault)} Run: npx interchange migrate`];
  for (const node of reached) {
    if (await canReachAs(client, SERVICE_ROLE, node)) continue;
    problems.push(
      `The coordinator cannot sign in on node ${addressOf(node)} as ${SERVICE_ROLE}, the role of the service. The role must be on every node with the right to sign in (alter role ${SERVICE_ROLE} login;), and pg_hba.conf of the node must let it in. docs/scaling.md has the statements.`,
    );
  }
  return problems;
}

async function canReachAs(client: Client, role: string, node: Node): Promise<boolean> {
  await client.query('begin');
  try {
    await client.query(`set local role ${role}`);
    return await canReach(client, node);
  } finally {
    await client.query('rollback');
  }
}

function addressOf({ host, port }: Node): string {
  return `${host}:${port}`;
}
