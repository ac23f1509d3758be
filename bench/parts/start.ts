/** From the start of a process to its first answer, with a database that is made already. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopAbandoned } from '../../local-postgres/embedded-postgres.ts';
import type { Bench, Part, Row } from '../bench.ts';
import { withTemporaryDatabase } from '../databases.ts';
import { middle } from '../measure.ts';
import { environmentOf } from '../records/open-records.ts';
import { startService } from '../service.ts';

export const start: Part = {
  name: 'start',
  summary: 'start to first answer, database already made',
  measure: async (bench) => [
    row(
      'PostgreSQL running',
      await withTemporaryDatabase(bench.serverUrl, (url) => starts(bench, environmentOf(url))),
    ),
    row('its own PostgreSQL stopped', await withOwnPostgres((env) => starts(bench, env))),
  ],
};

function row(what: string, timesMs: readonly number[]): Row {
  return {
    what: `Start to first answer, ${what}`,
    measured: timesMs.map(inSeconds).join(', '),
    reached: inSeconds(middle(timesMs)),
    aim: 'under 1.5 s',
  };
}

/** The first one makes what is missing, and is not counted. */
async function starts({ options, say }: Bench, env: Record<string, string>): Promise<number[]> {
  const timesMs: number[] = [];
  for (let round = 0; round <= options.rounds; round += 1) {
    const service = await startService(env);
    await service.stop();
    say(`${round === 0 ? 'first start' : `round ${round}`}  ${inSeconds(service.startedMs)}`);
    if (round > 0) timesMs.push(service.startedMs);
  }
  return timesMs;
}

async function withOwnPostgres<T>(work: (env: Record<string, string>) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'interchange-bench-'));
  try {
    return await work({ DATABASE_URL: '', MASTER_KEY: '', DATA_DIR: dataDir });
  } finally {
    await stopAbandoned(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  }
}

function inSeconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(2)} s`;
}
