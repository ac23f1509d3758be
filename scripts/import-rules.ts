/** The import rules of CONTRIBUTING.md, as a function from sources to what breaks them. */
import { dirname, join } from 'node:path/posix';

/** Source text by path, relative to the repository, with forward slashes. */
export type Sources = ReadonlyMap<string, string>;

interface Import {
  from: string;
  /** A path of the repository, or the name of a package. */
  to: string;
  typeOnly: boolean;
}

/** Lower may be imported, higher may not. */
const LAYERS: Readonly<Record<string, number>> = {
  bin: 5,
  app: 4,
  'sign-in': 3,
  encounters: 3,
  investigations: 3,
  patients: 3,
  exchange: 3,
  records: 3,
  publish: 2,
  observations: 2,
  terminology: 2,
  privacy: 2,
  tenancy: 2,
  fhir: 1,
  platform: 1,
};
const FEATURE = 3;

/** One sentence for each import that the rules forbid. */
export function importViolations(sources: Sources): string[] {
  const imports = [...sources]
    .filter(([path]) => isChecked(path))
    .flatMap(([path, text]) => importsOf(path, text));
  const inside = imports.filter(({ to }) => to.startsWith('src/'));
  return [
    ...[...sources.keys()]
      .filter((path) => isChecked(path) && layerOf(path) === undefined)
      .map(unknownFolder),
    ...imports.flatMap(outsideViolation),
    ...inside.flatMap((one) => [...layerViolation(one), ...suffixViolation(one)]),
    ...mapperViolations(sources, imports),
    ...cycles(inside),
  ];
}

/** Tests and what they stand on may import anything. */
function isChecked(path: string): boolean {
  return path.startsWith('src/') && !path.endsWith('.test.ts') && !path.endsWith('.d.ts');
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

function areaOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function layerOf(path: string): number | undefined {
  return LAYERS[areaOf(path)];
}

function unknownFolder(path: string): string {
  return `${path}: src/${areaOf(path)} has no layer; name it in scripts/import-rules.ts.`;
}

function layerViolation({ from, to }: Import): string[] {
  const [own, other] = [layerOf(from), layerOf(to)];
  if (own === undefined || other === undefined || areaOf(from) === areaOf(to)) return [];
  if (own < other) return [`${from} imports ${to}, which is a layer above.`];
  if (areaOf(from) === 'platform') return [`${from} imports ${to}; platform stands alone.`];
  if (own !== FEATURE || other !== FEATURE) return [];
  const allowed = areaOf(from) === 'records' || (areaOf(from) === 'exchange' && areaOf(to) === 'patients');
  return allowed ? [] : [`${from} imports ${to}; features do not import each other.`];
}

function suffixViolation({ from, to, typeOnly }: Import): string[] {
  if (typeOnly) return [];
  if (from.endsWith('.route.ts') && to.endsWith('.store.ts'))
    return [`${from} imports ${to}; a route calls a use case, the use case the store.`];
  if (from.endsWith('.store.ts') && /\.(route|command)\.ts$/.test(to))
    return [`${from} imports ${to}; a store knows SQL, nothing else.`];
  return [];
}

function outsideViolation({ from, to }: Import): string[] {
  if (/^(test|test-support|bench|scripts|web)\//.test(to) || to.endsWith('.test.ts'))
    return [`${from} imports ${to}, which is not part of the service.`];
  return [];
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
