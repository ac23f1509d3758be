/** Trees of statements as PostgreSQL's own parser gives them, and how to walk them. */
import { loadModule, parseSync } from 'libpg-query';

await loadModule();

/** A node, or what a node holds. A node has one member, named by its type: `{ SelectStmt: { … } }`. */
export type Tree = Readonly<Record<string, unknown>>;

/** The statements of a text, each a node. Throws for what PostgreSQL cannot parse. */
export function parseStatements(text: string): Tree[] {
  return (parseSync(text).stmts ?? []).map(({ stmt }) => stmt as Tree);
}

/** What the node holds when it is of this type. */
export function ofType(node: unknown, type: string): Tree | undefined {
  return (node as Tree | undefined)?.[type] as Tree | undefined;
}

export function member(tree: Tree | undefined, name: string): Tree | undefined {
  return tree?.[name] as Tree | undefined;
}

export function list(tree: Tree | undefined, name: string): Tree[] {
  return (tree?.[name] ?? []) as Tree[];
}

/** What those of this type in a list hold. */
export function listOf(tree: Tree | undefined, name: string, type: string): Tree[] {
  return list(tree, name).flatMap((node) => {
    const held = ofType(node, type);
    return held === undefined ? [] : [held];
  });
}

export function text(tree: Tree | undefined, name: string): string {
  return (tree?.[name] ?? '') as string;
}

/** Shows `visit` every node in `tree`, each before those below it; where `visit` answers false, not those. */
export function walk(tree: unknown, visit: (type: string, held: Tree) => boolean): void {
  if (Array.isArray(tree)) {
    for (const item of tree) walk(item, visit);
    return;
  }
  if (typeof tree !== 'object' || tree === null) return;
  for (const [name, held] of Object.entries(tree)) {
    // Types begin with a capital letter, members do not.
    if (/^[A-Z]/.test(name) && !visit(name, held as Tree)) continue;
    walk(held, visit);
  }
}

/** The names of a column as it is written: `['p', 'id']`; undefined for anything else. */
export function columnNames(node: unknown): string[] | undefined {
  const column = ofType(node, 'ColumnRef');
  return column && list(column, 'fields').map((field) => text(ofType(field, 'String'), 'sval') || '*');
}

/** `now` of `pg_catalog.now()`. */
export function functionName(call: Tree): string {
  return text(ofType(list(call, 'funcname').at(-1), 'String'), 'sval');
}

/** `timestamptz` of a cast, or of the type of a column. */
export function typeName(cast: Tree): string {
  return text(ofType(list(member(cast, 'typeName'), 'names').at(-1), 'String'), 'sval');
}

/** `=` of an operator; empty for `in`, `between` and their like. */
export function operator(expression: Tree): string {
  if (text(expression, 'kind') !== 'AEXPR_OP') return '';
  return text(ofType(list(expression, 'name').at(-1), 'String'), 'sval');
}

/** The parts of a condition that are joined by `and`. */
export function conjuncts(node: unknown): Tree[] {
  if (node === undefined) return [];
  const both = ofType(node, 'BoolExpr');
  if (both === undefined || text(both, 'boolop') !== 'AND_EXPR') return [node as Tree];
  return list(both, 'args').flatMap(conjuncts);
}
