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
    ...[...sources].flatMap(([path, text]) => clockViolation(path, text)),
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
  if (own === 1) return [`${from} imports ${to}; fhir and platform stand alone.`];
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
  if (from.endsWith('.fhir.ts') && areaOf(to) !== 'fhir' && !to.endsWith('.fhir.ts'))
    return [`${from} imports ${to}; a mapper imports src/fhir, other mappers, and types.`];
  return [];
}

function outsideViolation({ from, to, typeOnly }: Import): string[] {
  if (/^(test|test-support|bench|scripts|web)\//.test(to) || to.endsWith('.test.ts'))
    return [`${from} imports ${to}, which is not part of the service.`];
  if (from.endsWith('.fhir.ts') && !to.startsWith('src/') && !typeOnly)
    return [`${from} imports ${to}; a mapper has no I/O.`];
  return [];
}

function clockViolation(path: string, text: string): string[] {
  if (!path.endsWith('.fhir.ts')) return [];
  const clock = /\bDate\.now\(|\bnew Date\(\s*\)|\bTemporal\.Now\b|\bperformance\.now\(/.exec(text);
  return clock === null ? [] : [`${path} reads the clock (${clock[0]}); pass the time in.`];
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
