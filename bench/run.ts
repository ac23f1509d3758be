/**
 * npm run bench [-- --quick] [--seconds N] [--rounds N]
 *
 * Loads 100,000 patients and 1,000,000 encounters (once; kept in data/bench), then measures in one run, with 64
 * connections: the floor, Encounter read, and Encounter search with a page of 20. What counts are the ratios to
 * the floor, since machines differ and are noisy. BENCH_DATABASE_URL measures on another PostgreSQL.
 */
import { parseArgs } from 'node:util';
import { loadConfig } from '../src/app/config/config.ts';
import { loadMasterKey } from '../src/app/config/master-key.ts';
import { createKeyRing } from '../src/platform/crypto/key-ring.ts';
import { createPool } from '../src/platform/db/database.ts';
import { openEmbeddedPostgres } from '../src/platform/db/embedded-postgres.ts';
import { migrate, SERVICE_ROLE } from '../src/platform/db/migrate.ts';
import { encounterId, heavyPatients, type LoadSize, loadRecords, patientId } from './load-records.ts';
import { type Measurement, measure, median } from './measure.ts';
import { type Running, startFloor, startService } from './service.ts';
import { signIn } from './sign-in.ts';

const CONNECTIONS = 64;
const PATHS = 4_000;
const SCOPE = {
  organisationId: '00000000-0000-4000-8000-0a0000000001',
  facilityId: '00000000-0000-4000-8000-0a0000000002',
};
const dataDir = () => (values.quick ? 'data/bench-quick' : 'data/bench');
const quietLog = { info: () => undefined, error: () => undefined };

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
  },
});
const size: LoadSize = values.quick
  ? { patients: 10_000, encounters: 100_000 }
  : { patients: 100_000, encounters: 1_000_000 };

async function main(): Promise<void> {
  const database = await openDatabase();
  try {
    await migrate(database.url);
    const masterKey = await loadMasterKey(loadConfig({ DATA_DIR: dataDir() }));
    const db = createPool(
      { url: database.url, max: 2, applicationName: 'bench', role: SERVICE_ROLE },
      () => undefined,
    );
    const token = await signIn(db, { ...SCOPE, keys: createKeyRing(masterKey) });
    await db.end();
    say(`loading ${size.patients} patients and ${size.encounters} encounters (only what is missing) …`);
    await loadRecords(database.url, SCOPE, size);
    const service = await startService({ DATABASE_URL: database.url, MASTER_KEY: masterKey.toString('hex') });
    const floor = await startFloor([database.url, SCOPE.organisationId, SCOPE.facilityId]);
    try {
      await measureRounds(service, floor, token);
    } finally {
      await floor.stop();
      await service.stop();
    }
  } finally {
    await database.release();
  }
}

async function openDatabase(): Promise<{ url: string; release(): Promise<void> }> {
  const url = process.env.BENCH_DATABASE_URL;
  if (url !== undefined) return { url, release: async () => undefined };
  return openEmbeddedPostgres({ dataDir: dataDir(), log: quietLog });
}

async function measureRounds(service: Running, floor: Running, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const base = '/api/v1/encounters/fhir/Encounter';
  const ids = sample(size.encounters).map(encounterId);
  const searched = sample(heavyPatients(size)).map(patientId);
  const loads = {
    floor: { url: floor.url, paths: ids.map((id) => `/${id}`) },
    read: { url: service.url, headers, paths: ids.map((id) => `${base}/${id}?purposeOfUse=TREATMENT`) },
    search: {
      url: service.url,
      headers,
      paths: searched.map((id) => `${base}?patient=${id}&purposeOfUse=TREATMENT&_count=20`),
    },
  };
  const results: Record<keyof typeof loads, Measurement[]> = { floor: [], read: [], search: [] };
  const names = ['floor', 'read', 'search'] as const;
  for (const name of names) await measure({ ...loads[name], seconds: 3, connections: CONNECTIONS });
  for (let round = 1; round <= Number(values.rounds); round += 1)
    for (const name of names) {
      const result = await measure({
        ...loads[name],
        seconds: Number(values.seconds),
        connections: CONNECTIONS,
      });
      results[name].push(result);
      say(`round ${round} ${name.padEnd(6)} ${describe(result)}`);
    }
  say('\nmedian of the rounds; ratios are taken within each round');
  for (const name of names) {
    const ratios = results[name].map(
      ({ requestsPerSecond }, round) => requestsPerSecond / floorOf(results.floor, round),
    );
    const ratio = ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? 0;
    say(`${name.padEnd(6)} ${describe(median(results[name]))}   ${ratio.toFixed(2)} of the floor`);
  }
}

function floorOf(floor: readonly Measurement[], round: number): number {
  return floor[round]?.requestsPerSecond ?? Number.NaN;
}

function describe({ requestsPerSecond, p99, failures }: Measurement): string {
  const failed = failures === 0 ? '' : `   ${failures} FAILED`;
  return `${String(requestsPerSecond).padStart(7)} requests/s   p99 ${String(p99).padStart(4)} ms${failed}`;
}

/** Numbers from 1 to `max`, spread evenly and in no order that a cache could like. */
function sample(max: number): number[] {
  return Array.from({ length: PATHS }, (_, index) => 1 + ((index * 7_919) % PATHS) * Math.floor(max / PATHS));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();
