/** The import rules of CONTRIBUTING.md, as a function from sources to what breaks them. Contract: OPS-21. */
import { dirname, join } from 'node:path/posix';

/** Source text by path, relative to the repository, with forward slashes. */
export type Sources = ReadonlyMap<string, string>;

interface Import {
  from: string;
  /** A path of the repository, or the name of a package. */
  to: string;
  typeOnly: boolean;
}

/** From top to bottom: a folder imports from the lines below its own, and from no other folder of its line. */
const RANKS: readonly (readonly string[])[] = [
  ['bin'],
  ['app'],
  ['tools'],
  ['records'],
  ['investigations', 'encounters'],
  ['publish'],
  ['exchange'],
  ['patients'],
  ['clinical'],
  ['terminology'],
  ['sign-in'],
  ['privacy'],
  ['tenancy'],
  ['outbound'],
  ['fhir'],
  ['local-postgres'],
  ['platform'],
];
/** Folders that stand at the root of the repository, not below `src`. */
const AT_ROOT = ['tools', 'local-postgres'];
/** Who may import the errors of HTTP and of the command line: what is called there, and what words the errors of others. */
const MAY_WORD_ERRORS: Readonly<Record<string, RegExp>> = {
  'src/platform/http/errors.ts': /\.(route|command)\.ts$|^(src\/(app|platform)|tools)\//,
  'src/platform/command/command.ts':
    /\.command\.ts$|^src\/app\/commands(\/failure-text)?\.ts$|^src\/platform\/command\//,
};

/** Commands of what no route shows: no use case reads it for them. */
const WITHOUT_ROUTE = [
  'src/tenancy/organisations/organisation.command.ts',
  'src/sign-in/keys/signing-key.command.ts',
];

/** One sentence for each import that the rules forbid. */
export function importViolations(sources: Sources): string[] {
  const imports = [...sources]
    .filter(([path]) => isChecked(path))
    .flatMap(([path, text]) => importsOf(path, text));
  const inside = imports.filter(({ to }) => areaOf(to) !== undefined);
  return [
    ...[...sources.keys()].filter((path) => isChecked(path) && rankOf(path) === undefined).map(unknownFolder),
    ...imports.flatMap((one) => [...outsideViolation(one), ...costViolation(one)]),
    ...inside.flatMap((one) => [...rankViolation(one), ...suffixViolation(one), ...errorViolation(one)]),
    ...commandViolations(sources, inside),
    ...mapperViolations(sources, imports),
    ...cycles(inside),
  ];
}

const EXPORTED =
  /^export (?:async )?(?:function\*?|const|let|(?:abstract )?class|interface|type|enum) ([\w$]+)/gm;
/** Files of words: both languages use the same names. */
const WORDS = /\.fr\.ts$|^web\/src\/messages\//;

/** One sentence for each name that two files of one program export. A constant and its type may share one in a file. */
export function repeatedNames(sources: Sources): string[] {
  const exported = [...sources]
    .filter(([path]) => !WORDS.test(path) && !/\.test\.\w+$/.test(path))
    .flatMap(([path, text]) =>
      [...new Set(Array.from(text.matchAll(EXPORTED), ([, name = '']) => name))].map((name) => ({
        name,
        path,
      })),
    );
  return [...Map.groupBy(exported, ({ name }) => name)]
    .filter(([, places]) => places.length > 1)
    .map(
      ([name, places]) =>
        `${name}: is exported by ${places.map(({ path }) => path).join(' and ')}. Give each idea a name of its own.`,
    );
}

/** Tests and what all tests share may import anything. */
function isChecked(path: string): boolean {
  return areaOf(path) !== undefined && !path.endsWith('.test.ts') && !path.endsWith('.d.ts');
}

function importsOf(from: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const found: Import[] = [];
  const resolve = (name: string): string => (name.startsWith('.') ? join(dirname(from), name) : name);
  for (const [, clause = '', name = ''] of code.matchAll(
    /^\s*(?:import|export)\s([^'";]*?)from\s*['"]([^'"]+)['"]/gm,
  ))
    found.push({ from, to: resolve(name), typeOnly: isTypeClause(clause) });
  for (const [, name = ''] of code.matchAll(/(?:^\s*import\s*|\bimport\s*\(\s*)['"]([^'"]+)['"]/gm))
    found.push({ from, to: resolve(name), typeOnly: false });
  return found;
}

/** `import type …`, or braces in which every name is a type. */
function isTypeClause(clause: string): boolean {
  if (/^type\s/.test(clause)) return true;
  const names = /^\s*\{([\s\S]*)\}\s*$/.exec(clause)?.[1];
  if (names === undefined) return false;
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .every((name) => name.startsWith('type '));
}

/** The folder that has a rank: `publish` of `src/publish/runs/publish.ts`, `tools` of `tools/demo/demo-page.ts`. */
function areaOf(path: string): string | undefined {
  const [first = '', second] = path.split('/');
  return first === 'src' ? second : AT_ROOT.find((name) => name === first);
}

/** The higher the number, the higher the folder. */
function rankOf(path: string): number | undefined {
  const line = RANKS.findIndex((names) => names.includes(areaOf(path) ?? ''));
  return line === -1 ? undefined : RANKS.length - line;
}

function unknownFolder(path: string): string {
  return `${path}: its folder has no rank; name it in scripts/import-rules.ts.`;
}

function rankViolation({ from, to }: Import): string[] {
  const [own, other] = [rankOf(from), rankOf(to)];
  if (own === undefined || other === undefined || areaOf(from) === areaOf(to)) return [];
  if (own < other) return [`${from} imports ${to}, which stands above it.`];
  if (own === other) return [`${from} imports ${to}; the two folders have the same rank.`];
  return [];
}

function suffixViolation({ from, to, typeOnly }: Import): string[] {
  if (typeOnly) return [];
  if (from.endsWith('.route.ts') && to.endsWith('.store.ts'))
    return [`${from} imports ${to}; a route calls a use case, the use case the store.`];
  if (from.endsWith('.store.ts') && /\.(route|command)\.ts$/.test(to))
    return [`${from} imports ${to}; a store knows SQL, nothing else.`];
  return [];
}

/** A command and a route of the same room call the same use cases. */
function commandViolations(sources: Sources, imports: readonly Import[]): string[] {
  const routed = new Set([...sources.keys()].filter((path) => path.endsWith('.route.ts')).map(dirname));
  return imports
    .filter(({ from, to, typeOnly }) => !typeOnly && from.endsWith('.command.ts') && to.endsWith('.store.ts'))
    .filter(({ from }) => routed.has(dirname(from)) && !WITHOUT_ROUTE.includes(from))
    .map(
      ({ from, to }) => `${from} imports ${to}; a command calls the use case that the route beside it calls.`,
    );
}

/** A route and a command word what happened; a use case throws an error of its catalogue (docs/adr/0116). */
function errorViolation({ from, to, typeOnly }: Import): string[] {
  if (typeOnly || (MAY_WORD_ERRORS[to]?.test(from) ?? true)) return [];
  return [`${from} imports ${to}; a use case throws an error of the errors.ts of its area.`];
}

function outsideViolation({ from, to }: Import): string[] {
  if (/^(test|test-support|bench|soak|scripts|web)\//.test(to) || to.endsWith('.test.ts'))
    return [`${from} imports ${to}, which is not part of the service.`];
  return [];
}

/** What takes long to load, and what has it for less. */
const DEAR: Readonly<Record<string, string>> = {
  typebox: 'src/platform/json-schema.ts writes schemas; only its types are here in production.',
  'node:http': 'src/platform/node-http.ts has it without what an import loads.',
};

function costViolation({ from, to, typeOnly }: Import): string[] {
  const instead = DEAR[to];
  return typeOnly || instead === undefined ? [] : [`${from} imports ${to}; ${instead}`];
}

/** A mapper has no clock and no I/O, nor does anything that it imports, however far away. */
function mapperViolations(sources: Sources, imports: readonly Import[]): string[] {
  const values = Map.groupBy(
    imports.filter(({ typeOnly }) => !typeOnly),
    ({ from }) => from,
  );
  const found = new Set<string>();
  function visit(path: string, way: readonly string[]): void {
    if (way.includes(path)) return;
    const here = [...way, path];
    const fault = impurity(path, sources.get(path) ?? '');
    if (fault !== undefined) found.add(`${here.join(' → ')}: ${fault}`);
    else for (const { to } of values.get(path) ?? []) visit(to, here);
  }
  for (const path of sources.keys()) if (isChecked(path) && path.endsWith('.fhir.ts')) visit(path, []);
  return [...found];
}

/** Why a mapper must not reach this file or package. */
function impurity(path: string, text: string): string | undefined {
  if (/^(node:(?!crypto$)|pg$|fastify$)/.test(path) || /\.(store|route|command)\.ts$/.test(path))
    return 'a mapper has no I/O.';
  if (/^src\/platform\/(db|http\/(?!errors\.ts))/.test(path)) return 'a mapper has no I/O.';
  const clock = /\bDate\.now\(|\bnew Date\(\s*\)|\bTemporal\.Now\b|\bperformance\.now\(/.exec(text);
  return clock === null ? undefined : `reads the clock (${clock[0]}); pass the time in.`;
}

/** Each cycle once, as the way around it. */
function cycles(imports: readonly Import[]): string[] {
  const targets = Map.groupBy(imports, ({ from }) => from);
  const finished = new Set<string>();
  const found: string[] = [];
  function visit(path: string, way: readonly string[]): void {
    const start = way.indexOf(path);
    if (start !== -1) found.push(`Cycle: ${[...way.slice(start), path].join(' → ')}`);
    if (start !== -1 || finished.has(path)) return;
    for (const { to } of targets.get(path) ?? []) visit(to, [...way, path]);
    finished.add(path);
  }
  for (const path of targets.keys()) visit(path, []);
  return found;
}
