/**
 * npm run conformance [-- PATH...]: imports FHIR R4 files into a database of its own, fetches everything that
 * can be fetched, validates each resource, and compares it with its source (docs/fhir-mapping.md).
 *
 * A path is a file (a Bundle or one resource, plain or gzip), or a folder of them. Without one, the records
 * of the tests are used. Generated records are imported after them (test-support/records/generated.ts).
 * Exits 1 when a resource does not conform or a difference is not explained, and 2 when there are no files.
 */
import { existsSync, globSync, statSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '../local-postgres/embedded-postgres.ts';
import { withPool } from '../src/platform/db/database.ts';
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
  await using folder = await mkdtempDisposable(join(tmpdir(), 'interchange-conformance-'));
  const generated = await writeGenerated(folder.path);
  const server = await openEmbeddedPostgres({
    dataDir: join(folder.path, 'data'),
    settings: { fsync: 'off' },
  });
  try {
    return report(await run(server.url, files, generated));
  } finally {
    await server.release();
  }
}

function filesOf(path: string): string[] {
  return statSync(path).isDirectory() ? globSync(join(path, '**/*.{json,json.gz}')).sort() : [path];
}

async function run(
  url: string,
  files: readonly string[],
  generated: readonly string[],
): Promise<ClinicalCheck> {
  await migrate(url);
  return withPool({ url, max: 4, applicationName: 'conformance', role: SERVICE_ROLE }, async (pool) => {
    const { id: organisationId } = await createOrganisation(pool, { name: 'Conformance' });
    const { id: facilityId } = await createFacility(pool, { organisationId, name: 'Conformance' });
    const scope = { organisationId, facilityId, timeZone: 'UTC' };
    return checkClinicalRecords(pool, scope, files, generated);
  });
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
