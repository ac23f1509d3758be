/**
 * Puts test files into groups that share a process. A process of its own spends a second of processor time on loading
 * what the service is made of, which is more than most files need for their tests (docs/adr/0119).
 */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const GROUP_SIZE = 8;
/** A file that changes its process, measures it, or runs tests itself has a process of its own. */
const ALONE = /\bimport \{ run,|\bmock\b|cpuMs|process\.(?:on|seteuid|env\.\w+ =)/;
/** The validators of others take three seconds of processor time to load: these files share them. */
const CHECKS_FHIR =
  /test-support\/fhir\/(?:clinical-conformance|clinical-check|fhir-validator|fhir-json-schema)/;
/** These take longest. They begin first, each alone, so that none is left over at the end. */
const LONG = [
  'src/records/import/run/first-load.test.ts',
  'src/records/import/run/shuffled-imports.test.ts',
  'src/publish/send/publish-faults-send.test.ts',
  'src/publish/send/publish-faults-server.test.ts',
  'src/publish/send/publish-faults-client.test.ts',
  'src/publish/runs/publish-lost.test.ts',
  'src/publish/runs/publish-killed.test.ts',
  'src/app/serving/serve.test.ts',
  'src/app/serving/processes.test.ts',
  'src/app/commands.test.ts',
  'local-postgres/embedded-postgres-recovery.test.ts',
  'local-postgres/embedded-postgres.test.ts',
  'local-postgres/embedded-postgres-user.test.ts',
  'src/records/import/group/grouping-order.test.ts',
  'src/records/import/group/grouping-plans.test.ts',
  'src/records/import/run/import-order.test.ts',
  'src/records/import/resolve/import-reach.test.ts',
  'src/records/import/import.command.test.ts',
  'src/records/import/write/older-versions.test.ts',
  'src/privacy/archive/archive-access-log.test.ts',
  'test/exchange-chaos.test.ts',
  'test/failover.test.ts',
  'test/full-disk.test.ts',
  'test/master-key-rotation.test.ts',
  'test/fuzz.test.ts',
];

/** Files of the folder, one for each process, for `node --test`, which takes them in the order of their names. */
export async function inGroups(files: readonly string[], folder: string): Promise<string[]> {
  const kinds = Map.groupBy(files, kindOf);
  const of = (kind: ReturnType<typeof kindOf>) => kinds.get(kind) ?? [];
  const long = LONG.filter((file) => of('long').includes(file));
  const groups = [...long.map((file) => [file]), ...deal(of('checks FHIR')), ...deal(of('other'))];
  await mkdir(join(folder, 'groups'));
  const programs = groups.map(async (group, index) => {
    const path = join(folder, 'groups', `${String(index).padStart(3, '0')}.test.mjs`);
    await writeFile(path, programOf(group));
    return path;
  });
  return [...(await Promise.all(programs)), ...of('alone')];
}

function kindOf(file: string): 'long' | 'alone' | 'checks FHIR' | 'other' {
  if (LONG.includes(file)) return 'long';
  const text = readFileSync(file, 'utf8');
  if (ALONE.test(text)) return 'alone';
  return CHECKS_FHIR.test(text) ? 'checks FHIR' : 'other';
}

/** Neighbours by name are of one kind, and a group of imports would take long: each goes to the next group. */
function deal(files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / GROUP_SIZE);
  return Array.from({ length: count }, (_, group) => files.filter((_file, index) => index % count === group));
}

/** Each file is a suite, so that its `before` and `after` stay its own. Each is loaded when the one before is done. */
function programOf(files: readonly string[]): string {
  const suites = files.map((file) => {
    const [name, url] = [file, pathToFileURL(resolve(file)).href].map((text) => JSON.stringify(text));
    return `await describe(${name}, async () => void (await import(${url})));`;
  });
  return ["import { describe } from 'node:test';", ...suites, ''].join('\n');
}
