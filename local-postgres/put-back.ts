/**
 * Puts a prepared database in the place of the one in a data folder. That takes several renames, so the plan is written
 * down first: whoever opens the folder next finishes what a killed process began. Contract: CMD-25, OPS-38.
 */
import { lstatSync } from 'node:fs';
import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './postgres-binaries.ts';
import { handToOwnerOf } from './postgres-user.ts';

/** The folder of a prepared database begins with this. */
export const STAGE = 'restore.stage-';
const PLAN = 'restore.json';
const DATABASE = 'postgresql';
const KEY = 'master.key';
/** What may be replaced. The keys come last, so that the database they replace is put aside with its own. */
const NAMES = [DATABASE, 'postgresql.password', KEY];

/** Names of folders in the data folder. */
interface Plan {
  stage: string;
  /** Where what is replaced goes. */
  before: string;
}

/**
 * What a restore has to replace and cannot, because it is mounted by itself or on another file system. `dataDir` is
 * without symbolic links; `withKey`: the master key is to be replaced, too.
 */
export async function findMount(dataDir: string, withKey: boolean): Promise<string | undefined> {
  const { dev } = await lstat(dataDir);
  const mounts = await mountPoints();
  for (const name of NAMES) {
    const path = join(dataDir, name);
    const found = name === KEY && !withKey ? undefined : lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined && (found.dev !== dev || mounts.has(path))) return path;
  }
  return undefined;
}

/** Linux tells a file that is mounted from the same file system by this list only (proc(5)). */
async function mountPoints(): Promise<Set<string>> {
  const list = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const paths = list.split('\n').map((line) => line.split(' ')[4] ?? '');
  return new Set(
    paths.map((path) => path.replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(parseInt(code, 8)))),
  );
}

/** Write the plan down. From here on {@link finishPutBack} comes to the same end, however often it is killed. */
export async function planPutBack(dataDir: string, plan: Plan): Promise<void> {
  const draft = join(dataDir, `${PLAN}.new`);
  await writeFile(draft, JSON.stringify(plan), { mode: 0o600, flush: true });
  await handToOwnerOf(dataDir, draft);
  await rename(draft, join(dataDir, PLAN));
}

export function isPutBackPlanned(dataDir: string): boolean {
  return isThere(join(dataDir, PLAN));
}

/**
 * Do what the plan says, if there is one. Only while nobody else starts, stops or uses the database of the folder.
 * Throws EmbeddedPostgresError; the plan stands until it is done.
 */
export async function finishPutBack(dataDir: string): Promise<void> {
  if (!isPutBackPlanned(dataDir)) return;
  const plan = JSON.parse(await readFile(join(dataDir, PLAN), 'utf8')) as Plan;
  const stage = join(dataDir, plan.stage);
  if (!isThere(join(stage, DATABASE)) && !isThere(join(dataDir, DATABASE)))
    throw new EmbeddedPostgresError(
      `A restore began to replace the database in ${dataDir}, but the restored one is no longer in ${stage}. The one before is in ${join(dataDir, plan.before)}. Move what is there back to ${dataDir}, remove ${join(dataDir, PLAN)}, then restore again.`,
    );
  try {
    for (const name of NAMES) await exchange(dataDir, plan, name);
    await rm(stage, { recursive: true, force: true });
    await rm(join(dataDir, PLAN), { force: true });
  } catch (error) {
    throw new EmbeddedPostgresError(
      `A restore began to replace the database in ${dataDir} and could not finish (${(error as Error).message}). Both databases are kept. Remove the cause, then start the service or run any command: that finishes the restore.`,
      { cause: error },
    );
  }
}

async function exchange(dataDir: string, { stage, before }: Plan, name: string): Promise<void> {
  const prepared = join(dataDir, stage, name);
  const place = join(dataDir, name);
  if (!isThere(prepared)) return;
  if (isThere(place)) {
    const aside = join(dataDir, before);
    await mkdir(aside, { recursive: true, mode: 0o700 });
    await handToOwnerOf(dataDir, aside);
    await rename(place, join(aside, name));
  }
  await rename(prepared, place);
}

/** Unlike `existsSync`, throws where it cannot tell: what is taken for missing would be lost. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
