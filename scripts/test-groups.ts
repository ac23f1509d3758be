/**
 * Puts test files into groups that share a process. A process of its own spends a second of processor time on loading
 * what the service is made of, which is more than most files need for their tests (docs/adr/0119).
 */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const RUN_GROUP = new URL('../test-support/run-group.ts', import.meta.url).href;
const GROUP_SIZE = 24;
/** A file that changes its process, measures it, or runs tests itself has a process of its own. */
const ALONE = /\bimport \{ run,|\bmock\b|cpuMs|process\.(?:on|seteuid|env\.\w+ =)/;
/** The validators of others take three seconds of processor time to load: these files share them. */
const CHECKS_FHIR =
  /test-support\/fhir\/(?:clinical-conformance|clinical-check|fhir-validator|fhir-json-schema)/;
/** The console, and other pages, in a real browser. */
const IN_A_BROWSER = /\b(?:useConsole|startBrowser)\(/;
/** Whole programs, database servers and clusters that are started, killed and filled. */
export const WHOLE_PROGRAMS = [
  'src/app/serving/serve.test.ts',
  'tools/demo/demo.test.ts',
  'test/organisation-deliveries.test.ts',
  'test/backup-restore.test.ts',
  'src/app/serving/processes.test.ts',
  'test/exchange-chaos.test.ts',
  'test/failover.test.ts',
  'src/records/import/run/later-tenant.test.ts',
  'src/app/scale-out/scale-out.test.ts',
  'test/traces.test.ts',
  'src/app/doctor/check-server.test.ts',
  'test/master-key-rotation.test.ts',
  'local-postgres/embedded-postgres-recovery.test.ts',
  'soak/run.test.ts',
  'src/records/import/run/first-load.test.ts',
  'test/fuzz.test.ts',
  'test/later-tenant.test.ts',
  'src/publish/runs/publish-killed.test.ts',
  'test/time-limits.test.ts',
  'test/master-key-embedded.test.ts',
  'test/full-disk.test.ts',
  'local-postgres/embedded-postgres-user.test.ts',
  'test/database-outage.test.ts',
  'test/pgbouncer.test.ts',
  'test/backup-restore-faults.test.ts',
  'test/deploy.test.ts',
  'local-postgres/embedded-postgres.test.ts',
  'src/app/serving/service-user.test.ts',
  'src/app/serving/service-address.test.ts',
  'src/platform/db/connection/database-hosts.test.ts',
  'test/restored-dump.test.ts',
  'src/records/import/import.command.test.ts',
];
/** Of those that `npm test` runs these take longest: no two are in one group, where there are groups enough. */
export const LONG = [
  'src/records/import/run/shuffled-imports.test.ts',
  'src/publish/send/publish-faults-send.test.ts',
  'src/publish/send/publish-faults-server.test.ts',
  'src/publish/send/publish-faults-client.test.ts',
  'src/publish/runs/publish-lost.test.ts',
  'src/app/commands.test.ts',
  'src/records/import/group/grouping-order.test.ts',
  'src/records/import/group/grouping-plans.test.ts',
  'src/records/import/run/import-order.test.ts',
  'src/records/import/resolve/import-reach.test.ts',
  'src/records/import/write/older-versions.test.ts',
  'src/privacy/archive/archive-access-log.test.ts',
];

/** Whether a file is left to the whole run. These have a seventh of the tests and take three fifths of the time (docs/adr/0119). */
export function isForWholeRun(file: string): boolean {
  return WHOLE_PROGRAMS.includes(file) || IN_A_BROWSER.test(readFileSync(file, 'utf8'));
}

/**
 * Files of the folder, one for each process, for `node --test`, which takes them in the order of their names. What takes
 * longest begins first; at the end stand files of one process each, so that no process is left over with much to do.
 */
export async function inGroups(files: readonly string[], folder: string): Promise<string[]> {
  const kinds = Map.groupBy(files, kindOf);
  const of = (kind: ReturnType<typeof kindOf>) => kinds.get(kind) ?? [];
  const whole = WHOLE_PROGRAMS.filter((file) => of('whole programs').includes(file));
  const others = [...of('long'), ...of('other')];
  const groups = [...whole.map((file) => [file]), ...deal(of('checks FHIR')), ...deal(others)];
  await mkdir(join(folder, 'groups'));
  const programs = groups.map(async (group, index) => {
    const path = join(folder, 'groups', `${String(index).padStart(3, '0')}.test.mjs`);
    await writeFile(path, programOf(group));
    return path;
  });
  return [...(await Promise.all(programs)), ...of('alone')];
}

function kindOf(file: string): 'whole programs' | 'alone' | 'checks FHIR' | 'long' | 'other' {
  if (WHOLE_PROGRAMS.includes(file)) return 'whole programs';
  const text = readFileSync(file, 'utf8');
  if (ALONE.test(text)) return 'alone';
  if (CHECKS_FHIR.test(text)) return 'checks FHIR';
  return LONG.includes(file) ? 'long' : 'other';
}

/** Neighbours by name are of one kind, and a group of imports would take long: each goes to the next group. */
function deal(files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / GROUP_SIZE);
  return Array.from({ length: count }, (_, group) => files.filter((_file, index) => index % count === group));
}

/** Each file is a suite, so that its `before` and `after` stay its own. */
function programOf(files: readonly string[]): string {
  const suites = files.map((name) => ({ name, url: pathToFileURL(resolve(name)).href }));
  return `import { runGroup } from ${JSON.stringify(RUN_GROUP)};\nawait runGroup(${JSON.stringify(suites)});\n`;
}
