/** Fails when an import or a folder breaks the rules of CONTRIBUTING.md. Part of npm run check. */
import { globSync, readFileSync } from 'node:fs';
import { importViolations } from './import-rules.ts';
import { roomViolations } from './room-size.ts';

const paths = globSync('{src,local-postgres,tools}/**/*.{ts,js}').map((path) => path.replaceAll('\\', '/'));
const rooms = globSync(
  '{src,local-postgres,tools,test-support,scripts,bench,soak,web/src}/**/*.{ts,tsx,js,css,sql}',
).map((path) => path.replaceAll('\\', '/'));
const violations = [
  ...importViolations(new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]))),
  ...roomViolations(rooms),
];
for (const violation of violations) process.stderr.write(`${violation}\n`);
if (violations.length > 0) process.exitCode = 1;
else process.stdout.write(`Import rules hold in ${paths.length} files.\n`);
