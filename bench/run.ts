/**
 * npm run bench [-- PART...] [--quick] [--seconds N] [--rounds N]
 *
 * Parts, all by default: encounters, lab, deliveries, publish. The first two load 100,000 patients and 1,000,000
 * encounters (once; kept in data/bench) and measure with 64 connections beside a floor: bare `node:http`, one
 * prepared single-row read, JSON out. --quick loads a tenth of that, into data/bench-quick. What counts are the ratios,
 * since machines differ and are noisy. BENCH_DATABASE_URL measures these two on another PostgreSQL. The options are for
 * the first two; deliveries and publish always run 3 rounds. See docs/performance.md.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { openEmbeddedPostgres } from '../local-postgres/embedded-postgres.ts';
import { loadConfig } from '../src/app/config/config.ts';
import { masterKeySource } from '../src/app/config/master-key.ts';
import { openServiceKeys } from '../src/app/master-key/service-keys.ts';
import { createPool } from '../src/platform/db/database.ts';
import { migrate, SERVICE_ROLE } from '../src/platform/db/migrate.ts';
import { median } from './measure.ts';
import { benchEncounters, describe, floorPaths } from './parts/encounters.ts';
import { benchLabFetch } from './parts/lab.ts';
import { type LoadSize, loadRecords } from './records/load-records.ts';
import { signIn } from './records/sign-in.ts';
import { startFloor, startService } from './service.ts';

const SCOPE = {
  organisationId: '00000000-0000-4000-8000-0a0000000001',
  facilityId: '00000000-0000-4000-8000-0a0000000002',
};
const PARTS = ['encounters', 'lab', 'deliveries', 'publish'];
const quietLog = { info: () => undefined, error: () => undefined };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
  },
});
const size: LoadSize = values.quick
  ? { patients: 10_000, encounters: 100_000 }
  : { patients: 100_000, encounters: 1_000_000 };
const dataDir = values.quick ? 'data/bench-quick' : 'data/bench';
const parts = positionals.length === 0 ? PARTS : positionals;

async function main(): Promise<void> {
  const unknown = parts.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Error(`unknown part ${unknown}; the parts are ${PARTS.join(', ')}`);
  if (parts.includes('encounters') || parts.includes('lab')) await measureReads();
  for (const part of ['deliveries', 'publish']) if (parts.includes(part)) await runAlone(part);
}

async function measureReads(): Promise<void> {
  const source = masterKeySource(loadConfig({ DATA_DIR: dataDir }));
  const masterKey = await source.load();
  const database = await openDatabase();
  try {
    await migrate(database.url);
    const keys = await openServiceKeys(database.url, source);
    const db = createPool(
      { url: database.url, max: 2, applicationName: 'bench', role: SERVICE_ROLE },
      () => undefined,
    );
    const token = await signIn(db, { ...SCOPE, keys });
    await Promise.all([db.end(), keys.close()]);
    say(`loading ${size.patients} patients and ${size.encounters} encounters (only what is missing) …`);
    await loadRecords(database.url, SCOPE, size);
    await measureService({ databaseUrl: database.url, masterKey: masterKey.bytes, token });
  } finally {
    await database.release();
  }
}

interface Measured {
  databaseUrl: string;
  masterKey: Buffer;
  token: string;
}

async function measureService({ databaseUrl, masterKey, token }: Measured): Promise<void> {
  const service = await startService({ DATABASE_URL: databaseUrl, MASTER_KEY: masterKey.toString('hex') });
  const floor = await startFloor([databaseUrl, SCOPE.organisationId, SCOPE.facilityId]);
  const common = { token, seconds: Number(values.seconds), rounds: Number(values.rounds) };
  const urls = { serviceUrl: service.url, floorUrl: floor.url };
  try {
    if (parts.includes('encounters')) await benchEncounters({ ...common, ...urls, size }, say);
    if (!parts.includes('lab')) return;
    say('\nfetch of a laboratory order with 40 results');
    const lab = await benchLabFetch({
      ...common,
      ...urls,
      databaseUrl,
      scope: SCOPE,
      floorPaths: floorPaths(size),
    });
    say(`again  ${describe(median(lab.again))}   ${lab.ratios.again.toFixed(2)} of the floor`);
    say(
      `anew   ${lab.anewPerSecond.map(Math.round).join(', ')} a second   ${lab.ratios.anew.toFixed(2)} of the floor`,
    );
  } finally {
    await floor.stop();
    await service.stop();
  }
}

async function openDatabase(): Promise<{ url: string; release(): Promise<void> }> {
  const url = process.env.BENCH_DATABASE_URL;
  if (url !== undefined) return { url, release: async () => undefined };
  return openEmbeddedPostgres({ dataDir, log: quietLog });
}

/** Deliveries and publishes bring a database and a receiving server of their own. */
async function runAlone(part: string): Promise<void> {
  say(`\n${part}`);
  const child = spawn(process.execPath, [new URL(`${part}.ts`, import.meta.url).pathname], {
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${part} ended with ${code}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();
