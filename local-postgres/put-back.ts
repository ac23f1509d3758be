/**
 * Puts a prepared database in the place of the one in a data folder. That takes several renames, so the plan is written
 * down first: whoever opens the folder next finishes what a killed process began. Contract: CMD-25.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder of a prepared database begins with this. */
export const STAGE = 'restore.stage-';
const PLAN = 'restore.json';
/** What may be replaced. The keys come last, so that the database they replace is put aside with its own. */
const NAMES = ['postgresql', 'postgresql.password', 'master.key'];

/** Names of folders in the data folder. */
interface Plan {
  stage: string;
  /** Where what is replaced goes. */
  before: string;
}

/** Write the plan down. From here on {@link finishPutBack} comes to the same end, however often it is killed. */
export async function planPutBack(dataDir: string, plan: Plan): Promise<void> {
  const draft = join(dataDir, `${PLAN}.new`);
  await writeFile(draft, JSON.stringify(plan), { mode: 0o600, flush: true });
  await rename(draft, join(dataDir, PLAN));
}

export function isPutBackPlanned(dataDir: string): boolean {
  return existsSync(join(dataDir, PLAN));
}

/** Do what the plan says, if there is one. Only while nobody else starts, stops or uses the database of the folder. */
export async function finishPutBack(dataDir: string): Promise<void> {
  if (!isPutBackPlanned(dataDir)) return;
  const { stage, before } = JSON.parse(await readFile(join(dataDir, PLAN), 'utf8')) as Plan;
  for (const name of NAMES) {
    const [prepared, place, aside] = [stage, '.', before].map((folder) => join(dataDir, folder, name));
    if (prepared === undefined || place === undefined || aside === undefined || !existsSync(prepared))
      continue;
    if (existsSync(place)) {
      await mkdir(join(dataDir, before), { recursive: true, mode: 0o700 });
      await rename(place, aside);
    }
    await rename(prepared, place);
  }
  await rm(join(dataDir, stage), { recursive: true, force: true });
  await rm(join(dataDir, PLAN), { force: true });
}
