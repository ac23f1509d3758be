/** Kills a part of the service at random moments, as if by `kill -9`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { askUntilAnswered, serverPid } from '../test-support/database/embedded.ts';
import { childrenOf, kill, type Supervised } from './processes.ts';
import type { Random } from './random.ts';

export interface Targets {
  api: Supervised;
  worker: Supervised;
  dataDir: string;
  databaseUrl: string;
  /** Resolves once the service answers again, and its worker runs. */
  isUp(): Promise<void>;
}

/** How often the next kill does not wait until the service is up again, and may hit one that is just starting. */
const IMPATIENT = 0.2;

type Kill = (targets: Targets, random: Random) => Promise<unknown>;

/** What is killed, and how often of a hundred. */
const KILLS = {
  'one process of the API': [35, ({ api }, random) => api.killOne((pids) => random.pick(pids))],
  'the whole API': [10, ({ api }) => api.killAll()],
  'the worker': [25, ({ worker }) => worker.killAll()],
  'the database': [23, (targets) => killDatabase(targets)],
  everything: [
    7,
    (targets) => Promise.all([targets.api.killAll(), targets.worker.killAll(), killDatabase(targets)]),
  ],
} satisfies Record<string, readonly [number, Kill]>;

export type Kills = Record<keyof typeof KILLS, number>;

export function noKills(): Kills {
  return Object.fromEntries(Object.keys(KILLS).map((name) => [name, 0])) as Kills;
}

/** Until `end`, by the clock of `performance.now()`, or until `isOver`. Counts what it killed. */
export async function storm(
  targets: Targets,
  random: Random,
  { end, kills, isOver }: { end: number; kills: Kills; isOver: () => boolean },
): Promise<void> {
  const urn = Object.entries(KILLS).flatMap(([name, [share]]) =>
    Array.from({ length: share }, () => name as keyof Kills),
  );
  for (;;) {
    await sleep(random.between(3_000, 12_000));
    if (performance.now() > end || isOver()) return;
    const what = random.pick(urn);
    const [, kill]: readonly [number, Kill] = KILLS[what];
    kills[what] += 1;
    await kill(targets, random);
    // However slow the machine is, the flows get on between two kills.
    if (random.next() > IMPATIENT) await targets.isUp();
  }
}

/** The server and all of its processes, at once. Whoever holds it starts it again. */
async function killDatabase({ dataDir, databaseUrl }: Targets): Promise<void> {
  const pid = await serverPid(dataDir);
  for (const one of [pid, ...(await childrenOf(pid))]) kill(one);
  await askUntilAnswered(databaseUrl, 'select 1');
}
