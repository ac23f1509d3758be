/**
 * Whether the console is built, and of the sources that lie beside it. An installation without them has what was built
 * for it. Contract: WEB-2.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../platform/log/log.ts';

export const WEB_FOLDER = fileURLToPath(new URL('../../../web', import.meta.url));

const SOURCES = [
  'src',
  'index.html',
  'vite.config.ts',
  'package.json',
  '../package-lock.json',
  // What the console has from the service.
  '../src/app/overview/overview-permissions.ts',
  '../src/fhir/json.ts',
  '../src/platform/csv-cell.ts',
  '../src/privacy/access-log/access-log.ts',
  '../src/records/import/history/source-name.ts',
  '../src/sign-in/credentials/password-fault.ts',
  '../src/tenancy/audit/audit-entry.ts',
];

export type ConsoleBuild = 'built' | 'older-than-sources' | 'missing';

export function consoleBuild(web = WEB_FOLDER): ConsoleBuild {
  const builtAt = changedAt(join(web, 'dist', 'index.html'));
  if (builtAt === undefined) return 'missing';
  if (changedAt(join(web, 'src')) === undefined) return 'built';
  const newest = Math.max(...SOURCES.map((source) => newestBelow(join(web, source))));
  return newest > builtAt ? 'older-than-sources' : 'built';
}

const WARNINGS = {
  missing: 'the console is not built: run npm run console:build; the API does not need it',
  'older-than-sources': 'the console is older than its sources: run npm run console:build',
};

export function warnOfBuild(log: Log, build = consoleBuild()): void {
  if (build !== 'built') log.warn({ event: 'console' }, WARNINGS[build]);
}

/** Of a folder, too: a file that was removed changes only that. */
function newestBelow(path: string): number {
  const own = changedAt(path) ?? 0;
  if (own === 0 || !statSync(path).isDirectory()) return own;
  return Math.max(own, ...readdirSync(path).map((name) => newestBelow(join(path, name))));
}

function changedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
