/** Processor time of processes on this machine, from /proc; undefined where the system has none. */
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';

/** The unit of /proc: USER_HZ is 100 on Linux, whatever the kernel counts in. */
const TICK_MS = 10;

export async function cpuMsOf(pid: number | undefined): Promise<number | undefined> {
  return (await timesOf(pid))?.ownMs;
}

/** The processor time of a PostgreSQL server since it started, with all its processes, also those that have ended. */
export async function serverCpu(serverUrl: string): Promise<() => Promise<number | undefined>> {
  const client = new pg.Client({ connectionString: serverUrl, application_name: 'interchange bench' });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = (await timesOf(rows[0]?.pid))?.parent;
  await client.end();
  return async () => {
    const server = await timesOf(postmaster);
    if (server === undefined) return undefined;
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
    const processes = await Promise.all(pids.map(timesOf));
    const children = processes.filter((found) => found?.parent === postmaster);
    return children.reduce((sum, child) => sum + (child?.ownMs ?? 0), server.ownMs + server.endedMs);
  };
}

interface Times {
  parent: number;
  ownMs: number;
  /** Of its children that have ended. */
  endedMs: number;
}

async function timesOf(pid: number | undefined): Promise<Times | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The second field is a name in brackets, which may have spaces. What follows it is counted from field 3.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return undefined;
  const field = (number: number) => Number(fields[number - 3]);
  return {
    parent: field(4),
    ownMs: (field(14) + field(15)) * TICK_MS,
    endedMs: (field(16) + field(17)) * TICK_MS,
  };
}
