/** All flows at once: first while things are killed, then while memory is watched. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials } from './client.ts';
import { changeMaps } from './flows/change-maps.ts';
import { changePatients } from './flows/change-patients.ts';
import { confirmDeliveries } from './flows/confirm-deliveries.ts';
import { publishRecords } from './flows/publish-records.ts';
import { readRecords } from './flows/read-records.ts';
import { signIn } from './flows/sign-in.ts';
import { type Finding, judgePresence } from './ledger.ts';
import { judgeMemory, residentMb, type Sample } from './memory.ts';
import type { Supervised } from './processes.ts';
import { type Kills, noKills, storm } from './storm.ts';
import type { World } from './world.ts';

/** The part of the time in which things are killed. */
const STORM = 0.6;
/** The part of the rest in which processes that were just started grow to their size. */
const WARM_UP = 0.3;
const PROGRESS_MS = 10_000;
const SAMPLE_MS = 2_000;
/** For a collection of garbage, before memory is read. */
const COLLECT_MS = 500;
const READERS = [1, 2, 3, 4];

export interface Stage {
  minutes: number;
  /** Of those who sign in and out. */
  credentials: Credentials;
  api: Supervised;
  worker: Supervised;
  dataDir: string;
  logs: string;
  databaseUrl: string;
  say(line: string): void;
}

/** What was found about memory; undefined when the flows ended early, so that it was not watched to the end. */
export async function runFlows(world: World, stage: Stage): Promise<Finding[] | undefined> {
  const { api, worker, say } = stage;
  world.calm = false;
  const startMs = performance.now();
  const totalMs = stage.minutes * 60_000;
  const kills = noKills();
  const progress = setInterval(
    () => say(progressLine(world, kills, performance.now() - startMs)),
    PROGRESS_MS,
  );
  const flows = [changePatients, publishRecords, confirmDeliveries, changeMaps, signIn(stage.credentials)];
  const running = Promise.all([...flows, ...READERS.map(readRecords)].map((flow) => flow(world)));
  // A flow that gives up ends the soak; until it is waited for, it must not end the process.
  running.catch(() => {
    world.stopping = true;
  });
  try {
    const isUp = async () => {
      await world.client.untilReady();
      await Promise.all([api.up(), worker.up()]);
    };
    await storm({ ...stage, isUp }, world.random('storm'), {
      end: startMs + STORM * totalMs,
      kills,
      isOver: () => world.stopping,
    });
    if (!world.stopping) await isUp();
    const watched = await watchMemory([api, worker], world, {
      end: performance.now() + (1 - STORM) * totalMs,
      logs: stage.logs,
    });
    world.stopping = true;
    world.calm = true;
    await running;
    say(`killed: ${killsText(kills)}`);
    return watched;
  } finally {
    world.stopping = true;
    clearInterval(progress);
  }
}

/** Of the processes that run now, until `end`; their first time is left out. */
async function watchMemory(
  services: readonly Supervised[],
  world: World,
  { end, logs }: { end: number; logs: string },
): Promise<Finding[] | undefined> {
  const atFirst = await pidsOf(services);
  const warmMs = performance.now() + WARM_UP * (end - performance.now());
  const samples = new Map<string, Sample[]>();
  while (performance.now() < end && !world.stopping) {
    await sleep(SAMPLE_MS);
    if (performance.now() < warmMs) continue;
    await Promise.all(services.map((service) => service.collectGarbage()));
    await sleep(COLLECT_MS);
    const seconds = (performance.now() - warmMs) / 1_000;
    for (const [name, mb] of await memoryOf(services))
      samples.set(name, [...(samples.get(name) ?? []), { seconds, mb }]);
  }
  // Ended early: too little to say anything of.
  if (world.stopping) return undefined;
  const lines = [...samples].flatMap(([name, of]) =>
    of.map(({ seconds, mb }) => `${name},${seconds.toFixed(1)},${mb.toFixed(1)}`),
  );
  await writeFile(join(logs, 'memory.csv'), `process,seconds,mb\n${lines.join('\n')}\n`);
  const alive = (await pidsOf(services)).map(String);
  return [
    judgePresence('processes that nobody killed, still there', atFirst.map(String), new Set(alive)),
    ...[...samples].map(([name, of]) => judgeMemory(name, of)),
    ...(samples.size === 0 ? [judgeMemory('every process', [])] : []),
  ];
}

async function pidsOf(services: readonly Supervised[]): Promise<number[]> {
  return (await Promise.all(services.map(({ pids }) => pids()))).flat();
}

/** Of each process, in MB. */
async function memoryOf(services: readonly Supervised[]): Promise<[string, number][]> {
  const found: [string, number][] = [];
  for (const { name, pids } of services)
    for (const [index, pid] of (await pids()).entries()) {
      const mb = await residentMb(pid);
      if (mb !== undefined) found.push([`${name} ${index + 1}`, mb]);
    }
  return found;
}

function progressLine({ ledger }: World, kills: Kills, elapsedMs: number): string {
  const changes = [...ledger.rounds.values()].reduce((sum, round) => sum + round, 0);
  const parts = [
    `${Math.round(elapsedMs / 1_000)} s`,
    `${changes} changes`,
    `${ledger.arrivals.length} deliveries`,
    `${ledger.accesses.length} reads and publishes`,
    `${ledger.confirmed.size} confirmations`,
    `killed: ${killsText(kills)}`,
  ];
  return parts.join(', ');
}

function killsText(kills: Kills): string {
  const made = Object.entries(kills).filter(([, count]) => count > 0);
  return made.length === 0 ? 'nothing' : made.map(([what, count]) => `${what} ${count}`).join(', ');
}
