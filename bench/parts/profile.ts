/** Where the processor time of the service goes: a flame graph of reads, pages and orders, each for as long. */
import { mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench, Part, Row } from '../bench.ts';
import { type CpuProfile, flameGraph } from '../flame-graph.ts';
import { measure } from '../measure.ts';
import { encounterReads, encounterSearches, labOrders, type Reads, withReads } from '../reads.ts';

/** Beside the records of the benchmark. docs/flame-graph.svg is a copy. */
const GRAPH = fileURLToPath(new URL('../../data/bench/flame-graph.svg', import.meta.url));
const TITLE =
  'interchange: main thread of the service, while 64 connections read Encounters, search pages of 20, and fetch laboratory orders, each for as long';
const WARM_SECONDS = 2;

export const profile: Part = {
  name: 'profile',
  summary: 'where the processor time of the service goes, as a flame graph',
  async measure(bench) {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'interchange-bench-'));
    const flags = ['--cpu-prof', `--cpu-prof-dir=${folder.path}`];
    const fromUs = await withReads(bench, { flags }, (reads) => profileReads(bench, reads));
    return [await drawGraph(folder.path, fromUs)];
  },
};

/** When it was warm, by the clock of the profile. */
async function profileReads({ options }: Bench, { records: { size }, of }: Reads): Promise<number> {
  const loads = [of(encounterReads(size)), of(encounterSearches(size)), of(labOrders(1, size.orders))];
  for (const load of loads) await measure(load, { seconds: WARM_SECONDS });
  const fromUs = Number(process.hrtime.bigint() / 1_000n);
  for (const load of loads) await measure(load, { seconds: options.seconds });
  return fromUs;
}

async function drawGraph(folder: string, fromUs: number): Promise<Row> {
  const [name = ''] = await readdir(folder);
  const profiled = JSON.parse(await readFile(join(folder, name), 'utf8')) as CpuProfile;
  // Not there yet, where BENCH_DATABASE_URL names another server.
  await mkdir(dirname(GRAPH), { recursive: true });
  await writeFile(GRAPH, flameGraph(profiled, { title: TITLE, fromUs }));
  return { what: 'Flame graph', measured: GRAPH, reached: '', aim: '' };
}
