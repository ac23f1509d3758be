/** A primary and its synchronous standby: two real servers, of which the first is killed and the second promoted. */
import { appendFile, chown, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataFolder, readOrMakePassword } from '../../local-postgres/data-folder.ts';
import { findPostgresBinaries } from '../../local-postgres/postgres-binaries.ts';
import { type ClusterPlace, DATABASE_OWNER, prepareCluster } from '../../local-postgres/postgres-cluster.ts';
import type { RunningServer } from '../../local-postgres/postgres-process.ts';
import { startServer, stopServer } from '../../local-postgres/postgres-server.ts';
import { choosePostgresUser } from '../../local-postgres/postgres-user.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { waitUntil } from '../wait-until.ts';
import { ask, untilGone } from './embedded.ts';
import { administer } from './template.ts';

const DATABASE = 'interchange';

export interface Replication {
  /** Names both servers, the standby first. */
  url: string;
  primaryUrl: string;
  standbyUrl: string;
  /** Kills every process of the primary at once, as a power failure would. */
  killPrimary(): Promise<void>;
  /** Resolves when the standby takes writes. */
  promote(): Promise<void>;
  close(): Promise<void>;
}

/** Both are migrated and empty. A commit on the primary is answered when the standby has it, too. */
export async function startReplication(): Promise<Replication> {
  const folder = await mkdtemp(join(tmpdir(), 'interchange-standby-'));
  const [first, second] = [await placeOf(join(folder, 'first')), await placeOf(join(folder, 'second'))];
  const password = await readOrMakePassword(first.dataDir);
  const urlOf = ({ port }: RunningServer) =>
    `postgres://${DATABASE_OWNER}:${password}@127.0.0.1:${port}/${DATABASE}`;
  await prepareCluster(first);
  const template = await startServer(first, false);
  await administer(urlOf(template).replace(/[^/]*$/, 'postgres'), [`create database ${DATABASE}`]);
  await migrate(urlOf(template));
  await stopServer(first);
  await cp(first.clusterDir, second.clusterDir, { recursive: true, preserveTimestamps: true });
  const primary = await startServer(first, false);
  await makeStandby(
    first,
    second,
    `host=127.0.0.1 port=${primary.port} user=${DATABASE_OWNER} password=${password}`,
  );
  const standby = await startServer(second, false);
  const [primaryUrl, standbyUrl] = [urlOf(primary), urlOf(standby)];
  await administer(primaryUrl, [
    `alter system set synchronous_standby_names = '*'`,
    'select pg_reload_conf()',
  ]);
  await waitUntil(async () => {
    const { state } = await ask(primaryUrl, 'select sync_state as state from pg_stat_replication');
    return state === 'sync';
  }, 'the standby follows');
  return {
    url: standbyUrl.replace(/(127\.0\.0\.1:\d+)/, `$1,127.0.0.1:${primary.port}`),
    primaryUrl,
    standbyUrl,
    async killPrimary() {
      const processes = await processesOf(primary.pid);
      for (const pid of processes) process.kill(pid, 'SIGKILL');
      for (const pid of processes) await untilGone(pid);
    },
    async promote() {
      const { code, output } = await second.user.run(second.binaries.pg_ctl, [
        'promote',
        '-D',
        second.clusterDir,
      ]);
      if (code !== 0) throw new Error(output);
    },
    async close() {
      for (const place of [first, second]) await stopServer(place);
      await rm(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

async function placeOf(dataDir: string): Promise<ClusterPlace> {
  const binaries = await findPostgresBinaries();
  const { path } = await openDataFolder(dataDir);
  const clusterDir = join(path, 'postgresql');
  const user = await choosePostgresUser(binaries.postgres, path, clusterDir);
  return { dataDir: path, clusterDir, binaries, user, settings: { fsync: 'off', shared_buffers: '16MB' } };
}

/** A copy keeps neither the owner of its files nor the port of its server. */
async function makeStandby(of: ClusterPlace, { clusterDir }: ClusterPlace, conninfo: string): Promise<void> {
  await appendFile(join(clusterDir, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
  await writeFile(join(clusterDir, 'standby.signal'), '');
  await rm(join(clusterDir, 'postmaster.opts'));
  const { uid, gid } = await stat(of.clusterDir);
  for (const name of await readdir(clusterDir, { recursive: true }))
    await chown(join(clusterDir, name), uid, gid);
  await chown(clusterDir, uid, gid);
}

/** A server and those that it started: each is the head of a process group of its own. */
async function processesOf(server: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      return { pid: Number(pid), parent: Number(text.slice(text.lastIndexOf(')')).split(' ')[2]) };
    }),
  );
  return [server, ...parents.filter(({ parent }) => parent === server).map(({ pid }) => pid)];
}
