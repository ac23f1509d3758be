/**
 * npm run conformance [-- PATH...]: imports FHIR R4 files into a database of its own, fetches everything that
 * can be fetched, validates each resource, and compares it with its source (docs/fhir-mapping.md).
 *
 * A path is a file (a Bundle or one resource, plain or gzip), or a folder of them. Without one, the records
 * of the tests are used. Generated records are imported after them (test-support/records/generated.ts).
 * Exits 1 when a resource does not conform or a difference is not explained, and 2 when there are no files.
 */
import { existsSync, globSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '../local-postgres/embedded-postgres.ts';
import { createPool } from '../src/platform/db/database.ts';
import { migrate, SERVICE_ROLE } from '../src/platform/db/migrate.ts';
import { createFacility, createOrganisation } from '../src/tenancy/organisations/facilities.ts';
import { type ClinicalCheck, checkClinicalRecords } from '../test-support/fhir/clinical-check.ts';
import { unexplained } from '../test-support/fhir/explained-differences.ts';
import { writeGenerated } from '../test-support/records/generated.ts';

const RECORDS = new URL('../test-support/records/clinical', import.meta.url).pathname;
const SHOWN = 50;

async function main(paths: readonly string[]): Promise<number> {
  const missing = paths.filter((path) => !existsSync(path));
  if (missing.length > 0)
    return say(2, `Not there: ${missing.join(', ')}. Name files or folders of FHIR R4 JSON.`);
  const files = (paths.length === 0 ? [RECORDS] : paths).flatMap(filesOf);
  if (files.length === 0) return say(2, 'No .json or .json.gz files there.');
  return withGenerated(async (generated) => report(await withDatabase((url) => run(url, files, generated))));
}

function filesOf(path: string): string[] {
  return statSync(path).isDirectory() ? globSync(join(path, '**/*.{json,json.gz}')).sort() : [path];
}

async function withGenerated<T>(work: (files: readonly string[]) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'interchange-generated-'));
  try {
    return await work(await writeGenerated(folder));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function withDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'interchange-conformance-'));
  const server = await openEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
  try {
    await migrate(server.url);
    return await work(server.url);
  } finally {
    await server.release();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function run(
  url: string,
  files: readonly string[],
  generated: readonly string[],
): Promise<ClinicalCheck> {
  const pool = createPool(
    { url, max: 4, applicationName: 'conformance', role: SERVICE_ROLE },
    () => undefined,
  );
  try {
    const { id: organisationId } = await createOrganisation(pool, { name: 'Conformance' });
    const { id: facilityId } = await createFacility(pool, { organisationId, name: 'Conformance' });
    const scope = { organisationId, facilityId, timeZone: 'UTC' };
    return await checkClinicalRecords(pool, scope, files, generated);
  } finally {
    await pool.end();
  }
}

function report({ imported, emitted, faults, differences, notShown }: ClinicalCheck): number {
  const open = unexplained(differences.keys());
  const lines = [
    `Imported ${counts(Object.entries(imported.resources))} from ${imported.files} files.`,
    `Refused: ${imported.rejectedCount}`,
    ...imported.rejected
      .slice(0, SHOWN)
      .map(({ file, entry, reason }) => `  ${file} ${entry ?? ''}: ${reason}`),
    `Fetched: ${counts(emitted)}`,
    `Kept and shown by no fetch: ${counts(notShown)}`,
    `Differences from the source (docs/fhir-mapping.md explains each): ${differences.size}`,
    ...[...differences]
      .sort()
      .map(([name, times]) => `  ${times} x ${name}${open.includes(name) ? '   NOT EXPLAINED' : ''}`),
    `Faults: ${faults.length}`,
    ...faults.slice(0, SHOWN).map((fault) => `  ${fault}`),
  ];
  return say(faults.length + open.length === 0 ? 0 : 1, lines.join('\n'));
}

function counts(entries: Iterable<[string, number]>): string {
  const listed = [...entries].map(([name, number]) => `${number} ${name}`);
  return listed.length === 0 ? 'nothing' : listed.join(', ');
}

function say(code: number, text: string): number {
  (code === 0 ? process.stdout : process.stderr).write(`${text}\n`);
  return code;
}

process.exitCode = await main(process.argv.slice(2));
