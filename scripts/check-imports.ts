/** Fails when an import or a folder breaks the rules of CONTRIBUTING.md. Part of npm run check. */
import { globSync, readFileSync } from 'node:fs';
import { importViolations, repeatedNames } from './import-rules.ts';
import { roomViolations } from './room-size.ts';

const readAll = (pattern: string) =>
  new Map(globSync(pattern).map((path) => [path.replaceAll('\\', '/'), readFileSync(path, 'utf8')] as const));
const sources = readAll('{src,local-postgres,tools}/**/*.{ts,js}');
const rooms = globSync(
  '{src,local-postgres,tools,test-support,scripts,bench,soak,web/src}/**/*.{ts,tsx,js,css,sql}',
).map((path) => path.replaceAll('\\', '/'));
const violations = [
  ...importViolations(sources),
  ...repeatedNames(sources),
  ...repeatedNames(readAll('web/src/**/*.{ts,tsx}')),
  ...roomViolations(rooms),
];
for (const violation of violations) process.stderr.write(`${violation}\n`);
if (violations.length > 0) process.exitCode = 1;
else process.stdout.write(`Import rules hold in ${sources.size} files.\n`);
