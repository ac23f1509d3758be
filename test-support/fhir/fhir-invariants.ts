/** The invariants of HL7's StructureDefinitions (R4), evaluated by fhirpath. */
import fhirpath from 'fhirpath';
import r4 from 'fhirpath/fhir-context/r4';
import { definitionsIn } from './definitions.ts';

interface Constraint {
  key: string;
  severity: string;
  expression?: string;
}

interface ElementDefinition {
  path: string;
  sliceName?: string;
  id?: string;
  constraint?: Constraint[];
  type?: { code: string }[];
}

interface StructureDefinition {
  resourceType: string;
  id: string;
  snapshot?: { element: ElementDefinition[] };
}

type Compiled = (node: unknown, environment: Record<string, unknown>) => unknown;

/** dom-3 is about contained resources, which nothing here has; fhirpath cannot evaluate its text. */
const NOT_EVALUATED: ReadonlySet<string> = new Set(['dom-3']);

interface Rule {
  key: string;
  /** Nodes that it is about, from the resource. */
  nodes: Compiled;
  holds: Compiled;
}

const rules = new Map<string, Rule[]>();
let definitions: Map<string, StructureDefinition> | undefined;

/**
 * Invariants that a resource breaks, as `definitionId: key`. The key of a data type has the path of the element before
 * it. `definitionId` is a resource type or a profile (`vitalsigns`).
 */
export function invariantFaults(resource: object, definitionId: string): string[] {
  return rulesOf(definitionId).flatMap(({ key, nodes, holds }) => {
    const found = nodes(resource, {}) as unknown[];
    const broken = found.filter((node) => {
      const [result] = holds(node, { resource, rootResource: resource }) as unknown[];
      return result === false;
    });
    return broken.map(() => `${definitionId}: ${key}`);
  });
}

function rulesOf(definitionId: string): Rule[] {
  const known = rules.get(definitionId);
  if (known !== undefined) return known;
  definitions ??= loadDefinitions();
  const elements = definitions.get(definitionId)?.snapshot?.element ?? [];
  if (elements.length === 0) throw new Error(`No StructureDefinition ${definitionId}`);
  const made = elements.flatMap(elementRules);
  rules.set(definitionId, made);
  return made;
}

function elementRules({ path, constraint = [], type = [], sliceName }: ElementDefinition): Rule[] {
  if (sliceName !== undefined) return [];
  const nodes = compile(path.replace('[x]', ''));
  const own = constraint.filter(isEvaluated);
  const ofTypes = type.flatMap(({ code }) => typeRules(code, path));
  return [...own.map(({ key, expression = '' }) => ({ key, nodes, holds: compile(expression) })), ...ofTypes];
}

/** Invariants of the data type of an element: qty-3, per-1, att-1. */
function typeRules(code: string, path: string): Rule[] {
  const elements = definitions?.get(code)?.snapshot?.element ?? [];
  const [root] = elements;
  if (
    root === undefined ||
    !/^[A-Z]/.test(code) ||
    ['Reference', 'Extension', 'Resource', 'BackboneElement'].includes(code)
  )
    return [];
  const base = path.endsWith('[x]') ? `${path.replace('[x]', '')}.ofType(${code})` : path;
  return (root.constraint ?? []).filter(isEvaluated).map(({ key, expression = '' }) => ({
    key: `${path} ${key}`,
    nodes: compile(base),
    holds: compile(expression),
  }));
}

function isEvaluated({ key, expression, severity }: Constraint): boolean {
  return expression !== undefined && severity === 'error' && !NOT_EVALUATED.has(key);
}

function compile(expression: string): Compiled {
  return fhirpath.compile(expression, r4, { resolveInternalTypes: false }) as unknown as Compiled;
}

function loadDefinitions(): Map<string, StructureDefinition> {
  const files = ['profiles-types', 'profiles-resources', 'profiles-others'];
  const all = files.flatMap((file) => definitionsIn<StructureDefinition>(file));
  return new Map(all.filter((one) => one.resourceType === 'StructureDefinition').map((one) => [one.id, one]));
}
