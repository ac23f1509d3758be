/**
 * Which processes belong to a PostgreSQL data folder, also after crashes and when process ids were reused.
 * Contract: OPS-8.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface RunningServer {
  pid: number;
  port: number;
  /** It was told to stop. It takes no more sessions, and may wait for those that it has. */
  isStopping: boolean;
}

/** The live server of the data folder, if there is one. */
export async function findServer(clusterDir: string): Promise<RunningServer | undefined> {
  const lines = (await readPidFile(clusterDir)).split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!Number.isInteger(pid) || pid <= 0 || !Number.isInteger(port) || port <= 0) return undefined;
  const isStopping = lines[7]?.trim() === 'stopping';
  return (await isPostmaster(pid, clusterDir)) ? { pid, port, isStopping } : undefined;
}

/**
 * True when the process lives and is the server of this folder: its command line names the folder, or, on Linux, it
 * works in it. On Windows any process that lives is taken for the server.
 */
export async function isPostmaster(pid: number, clusterDir: string): Promise<boolean> {
  if (process.platform === 'linux') {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return commandLine.split('\0').includes(clusterDir) || (await worksIn(pid, clusterDir));
  }
  if (process.platform === 'win32') return isAlive(pid);
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-p', String(pid), '-o', 'args=']).catch(() => ({
    stdout: '',
  }));
  return stdout.includes(clusterDir);
}

/**
 * End the sessions that a killed server left: they hold its shared memory until they notice, a busy one for
 * long. What they did not commit is lost in any case. Elsewhere than on Linux they end in their own time.
 */
export async function endOrphans(clusterDir: string): Promise<void> {
  if (process.platform !== 'linux') return;
  for (const name of await readdir('/proc'))
    if (/^\d+$/.test(name) && (await worksIn(Number(name), clusterDir))) quit(Number(name));
}

/**
 * Names the processes that this one sees, and that see it: those of one container. Undefined where there is no such name. See
 * pid_namespaces(7).
 */
export async function processNamespace(): Promise<string | undefined> {
  const name = await readlink('/proc/self/ns/pid').catch(() => undefined);
  return name?.replaceAll(/\D/g, '');
}

async function readPidFile(clusterDir: string): Promise<string> {
  return readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}

/** True for every process of the server of this folder, where this user may see it. */
async function worksIn(pid: number, clusterDir: string): Promise<boolean> {
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  if (name.trim() !== 'postgres') return false;
  return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === clusterDir;
}

function quit(pid: number): void {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
