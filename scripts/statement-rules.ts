/**
 * What a statement must be like, so that PostgreSQL distributed by Citus runs it on the one node of its organisation
 * (docs/adr/0130). Contract: OPS-25.
 *
 * 1. Every reference to a distributed table states `organisation_id = $n` itself, all with one parameter. A condition of an
 *    outer join counts for the side that may be missing alone.
 * 2. Nothing that is not immutable stands in `do update set`, in a `where` of `on conflict`, in `returning`, in `case` or
 *    `coalesce` of an update or delete, or beside a column in one.
 * 3. No volatile function in an update or delete. No row lock that spans organisations. No local table beside a
 *    distributed one, unless one of them stands in a CTE that is `as materialized`.
 * 4. An insert names the organisation, has no sub-select among its values, and no statement changes the organisation.
 * 5. No `force_generic_plan`. No function of the session, such as `pg_notify`, in a statement that a node runs.
 */
import type { Placement } from '../src/app/scale-out/placement.ts';
import {
  columnNames,
  conjuncts,
  functionName,
  list,
  listOf,
  member,
  ofType,
  operator,
  parseStatements,
  type Tree,
  text,
  walk,
} from './statement-tree.ts';
import { mutableParts } from './statement-volatility.ts';

export interface Fault {
  rule: 1 | 2 | 3 | 4 | 5;
  message: string;
}

const SIDES = ['larg', 'rarg'] as const;
const ORGANISATION = 'organisation_id';
const SESSION_FUNCTION =
  /^(?:pg_notify|pg_(?:try_)?advisory_\w+|set_config|current_setting|nextval|pg_backend_pid)$/;

/** A table of a query level, under the name that conditions call it by. */
interface Source {
  table: string;
  alias: string;
  place: Placement;
}

/** What one query level reads, and the conditions that hold for its rows. */
interface Level {
  sources: Source[];
  conditions: Condition[];
}

interface Condition {
  condition: Tree;
  /** The tables whose rows it picks. */
  picks(source: Source): boolean;
}

/** The sides of a join whose rows its condition picks; of an outer join those that may be missing. */
const PICKED_SIDES: Readonly<Record<string, readonly (typeof SIDES)[number][]>> = {
  JOIN_INNER: SIDES,
  JOIN_LEFT: ['rarg'],
  JOIN_RIGHT: ['larg'],
  JOIN_FULL: [],
};
/** Statements over the rows of all organisations, or that Citus plans in a way of its own. */
const OF_WHOLE_TABLES = new Set(['MergeStmt', 'CopyStmt', 'TruncateStmt']);

/** What is planned together: a statement without its materialised and writing CTEs. */
interface Unit {
  places: Map<Placement, string>;
  sessionFunctions: Set<string>;
}

interface Context {
  placeOf: (table: string) => Placement;
  faults: Fault[];
  /** The parameters that state the organisation. */
  organisations: Set<string>;
  unit: Unit;
  /** Names that are no tables here. */
  ctes: ReadonlySet<string>;
}

/** What Citus would refuse, or run on all nodes, in selects, inserts, updates, deletes, and statements that hold these. */
export function statementFaults(sql: string, placeOf: (table: string) => Placement): Fault[] {
  const faults: Fault[] = [];
  if (/force_generic_plan/i.test(sql))
    faults.push({ rule: 5, message: 'force_generic_plan: Citus has no generic plans' });
  for (const statement of parseStatements(sql)) {
    const organisations = new Set<string>();
    inUnit({ placeOf, faults, organisations, unit: newUnit(), ctes: new Set() }, (context) =>
      query(statement, context),
    );
    if (organisations.size > 1)
      faults.push({ rule: 1, message: `several organisations: ${[...organisations].join(', ')}` });
  }
  return faults;
}

function newUnit(): Unit {
  return { places: new Map(), sessionFunctions: new Set() };
}

function inUnit(context: Context, work: (context: Context) => void): void {
  const unit = newUnit();
  work({ ...context, unit });
  const [distributed, local] = [unit.places.get('distributed'), unit.places.get('local')];
  if (distributed === undefined) return;
  if (local !== undefined)
    fault(context, 3, `${local} is local and ${distributed} is distributed: put one into a materialised CTE`);
  for (const name of unit.sessionFunctions)
    fault(context, 5, `${name}() would run on the node of ${distributed}: give it a statement of its own`);
}

function fault(context: Context, rule: Fault['rule'], message: string): void {
  context.faults.push({ rule, message });
}

function query(node: Tree, context: Context): void {
  const [kind] = Object.keys(node);
  const held = member(node, kind ?? '');
  if (held === undefined) return;
  if (kind === 'SelectStmt') select(held, context);
  else if (kind === 'InsertStmt') insert(held, context);
  else if (kind === 'UpdateStmt' || kind === 'DeleteStmt') change(held, context);
  else inOtherStatement(kind ?? '', held, context);
}

/** The queries that it holds: of a view, a cursor, a table made of a query. */
function inOtherStatement(kind: string, held: Tree, context: Context): void {
  walk(held, (type, inner) => {
    if (/^(?:Select|Insert|Update|Delete)Stmt$/.test(type)) query({ [type]: inner }, context);
    return !type.endsWith('Stmt');
  });
  if (!OF_WHOLE_TABLES.has(kind)) return;
  for (const table of [member(held, 'relation'), ...listOf(held, 'relations', 'RangeVar')]) {
    const name = text(table, 'relname');
    if (context.placeOf(name) === 'distributed')
      fault(context, 1, `${kind.replace('Stmt', '').toLowerCase()} of ${name}: it states no organisation`);
  }
}

function withCtes(held: Tree, context: Context): Context {
  const clause = member(held, 'withClause');
  const ctes = new Set(context.ctes);
  const entries = listOf(clause, 'ctes', 'CommonTableExpr');
  if (clause?.recursive === true) for (const entry of entries) ctes.add(text(entry, 'ctename'));
  for (const entry of entries) {
    const body = member(entry, 'ctequery');
    const inside = { ...context, ctes: new Set(ctes) };
    const apart =
      text(entry, 'ctematerialized') === 'CTEMaterializeAlways' || ofType(body, 'SelectStmt') === undefined;
    if (body !== undefined && apart) inUnit(inside, (unit) => query(body, unit));
    else if (body !== undefined) query(body, inside);
    ctes.add(text(entry, 'ctename'));
  }
  return { ...context, ctes };
}

function select(held: Tree, outer: Context): void {
  const context = withCtes(held, outer);
  if (text(held, 'op') !== 'SETOP_NONE') {
    for (const side of SIDES) select(member(held, side) ?? {}, context);
    return;
  }
  const level = levelOf(list(held, 'fromClause'), member(held, 'whereClause'), context);
  statesOrganisation(level, context);
  if (list(held, 'lockingClause').length > 0) locks(level, context);
  const { fromClause: _, withClause: __, ...rest } = held;
  subSelects(rest, context);
}

function change(held: Tree, outer: Context): void {
  const context = withCtes(held, outer);
  const target = member(held, 'relation') ?? {};
  const from = [...list(held, 'fromClause'), ...list(held, 'usingClause')];
  const level = levelOf([{ RangeVar: target }, ...from], member(held, 'whereClause'), context);
  statesOrganisation(level, context);
  subSelects([held.targetList, held.whereClause, held.returningClause], context);
  const place = context.placeOf(text(target, 'relname'));
  if (place === 'local') return;
  if (place === 'reference' && context.unit.places.has('distributed'))
    fault(context, 3, `${text(target, 'relname')} is a reference table: change it without a distributed one`);
  for (const column of assigned(held)) {
    if (text(column, 'name') === ORGANISATION)
      fault(context, 4, 'the organisation of a row cannot be changed');
  }
  changeIsStable([held.targetList, held.whereClause], context);
  returningIsImmutable(held, context);
}

function assigned(held: Tree | undefined): Tree[] {
  return listOf(held, 'targetList', 'ResTarget');
}

/** Rules 2 and 3 of an update or delete: the coordinator computes what is stable, once, before the node gets it. */
function changeIsStable(parts: unknown, context: Context): void {
  for (const { shown } of mutableParts(parts).filter((part) => part.volatile))
    fault(
      context,
      3,
      `${shown} in an update or delete: compute it in a materialised CTE, or pass a parameter`,
    );
  for (const { shown } of mutableParts(parts, { inSelects: false }).filter((part) => part.ofColumn))
    fault(
      context,
      2,
      `${shown} beside a column in an update or delete: compute it before, or pass a parameter`,
    );
  walk(parts, (type, held) => {
    if (type !== 'CaseExpr' && type !== 'CoalesceExpr') return true;
    const words = type === 'CaseExpr' ? 'case' : 'coalesce';
    for (const { shown } of mutableParts(held))
      fault(
        context,
        2,
        `${shown} in ${words} of an update or delete: compute it before, or pass a parameter`,
      );
    return false;
  });
}

function returningIsImmutable(held: Tree, context: Context): void {
  const clause = member(held, 'returningClause');
  for (const { shown } of mutableParts(clause))
    fault(context, 2, `${shown} in returning: return the columns, and compute it in a select around it`);
  if (hasSelect(clause)) fault(context, 4, 'a sub-select in returning');
}

function insert(held: Tree, outer: Context): void {
  const context = withCtes(held, outer);
  const table = text(member(held, 'relation'), 'relname');
  const place = context.placeOf(table);
  context.unit.places.set(place, table);
  const source = ofType(held.selectStmt, 'SelectStmt') ?? {};
  const conflict = member(held, 'onConflictClause');
  select(source, context);
  subSelects([conflict, held.returningClause], context);
  if (place === 'distributed') namesOrganisation(held, source, { context, table });
  if (place === 'local') return;
  if (list(source, 'valuesLists').length > 0 && hasSelect(source.valuesLists))
    fault(context, 4, `a sub-select among the values for ${table}: insert a select`);
  if (hasSelect(conflict)) fault(context, 4, `a sub-select in on conflict of ${table}`);
  if (assigned(conflict).some((column) => text(column, 'name') === ORGANISATION))
    fault(context, 4, 'the organisation of a row cannot be changed');
  for (const { shown } of mutableParts(conflict))
    fault(
      context,
      2,
      `${shown} in on conflict: compute it in the select and use excluded, or pass a parameter`,
    );
  returningIsImmutable(held, context);
}

/** Rule 4: an insert into a distributed table has the organisation, and it is known before any row is read. */
function namesOrganisation(
  held: Tree,
  source: Tree,
  { context, table }: { context: Context; table: string },
): void {
  const columns = listOf(held, 'cols', 'ResTarget').map((column) => text(column, 'name'));
  const index = columns.indexOf(ORGANISATION);
  if (index === -1) {
    fault(context, 4, `an insert into ${table} does not name ${ORGANISATION} among its columns`);
    return;
  }
  const rows = list(source, 'valuesLists');
  const values =
    rows.length > 0
      ? rows.map((row) => list(ofType(row, 'List'), 'items')[index])
      : firstSelects(source).map((one) => ofType(list(one, 'targetList')[index], 'ResTarget')?.val);
  for (const value of values) {
    const given = parameter(value);
    if (given !== undefined) context.organisations.add(given);
    else if (columnNames(value)?.at(-1) !== ORGANISATION)
      fault(context, 4, `an insert into ${table} has no parameter for ${ORGANISATION}`);
  }
}

/** The selects that a union is made of. */
function firstSelects(held: Tree): Tree[] {
  if (text(held, 'op') === 'SETOP_NONE') return [held];
  return SIDES.flatMap((side) => firstSelects(member(held, side) ?? {}));
}

function levelOf(from: readonly Tree[], where: Tree | undefined, context: Context): Level {
  const level: Level = {
    sources: [],
    conditions: conjuncts(where).map((condition) => ({ condition, picks: () => true })),
  };
  for (const item of from) source(item, level, context);
  return level;
}

function source(item: Tree, level: Level, context: Context): void {
  const table = ofType(item, 'RangeVar');
  const join = ofType(item, 'JoinExpr');
  const nested = ofType(item, 'RangeSubselect');
  if (table !== undefined) addTable(table, level, context);
  else if (join !== undefined) {
    const picked = SIDES.flatMap((side) => {
      const before = level.sources.length;
      source(member(join, side) ?? {}, level, context);
      return PICKED_SIDES[text(join, 'jointype')]?.includes(side) ? level.sources.slice(before) : [];
    });
    for (const condition of conjuncts(join.quals))
      level.conditions.push({ condition, picks: (one) => picked.includes(one) });
    subSelects(join.quals, context);
  } else if (nested !== undefined) query(member(nested, 'subquery') ?? {}, context);
  else subSelects(item, context);
}

function addTable(table: Tree, level: Level, context: Context): void {
  const name = text(table, 'relname');
  if (context.ctes.has(name) && table.schemaname === undefined) return;
  const place = context.placeOf(name);
  level.sources.push({ table: name, alias: text(member(table, 'alias'), 'aliasname') || name, place });
  context.unit.places.set(place, name);
}

/** The queries inside an expression. */
function subSelects(tree: unknown, context: Context): void {
  walk(tree, (type, held) => {
    if (type === 'SubLink') {
      subSelects(held.testexpr, context);
      query(member(held, 'subselect') ?? {}, context);
      return false;
    }
    if (type === 'FuncCall' && SESSION_FUNCTION.test(functionName(held)))
      context.unit.sessionFunctions.add(functionName(held));
    return true;
  });
}

function hasSelect(tree: unknown): boolean {
  let found = false;
  walk(tree, (type) => {
    found ||= type === 'SubLink';
    return !found;
  });
  return found;
}

function statesOrganisation(level: Level, context: Context): void {
  for (const { table, alias } of unstated(level, context.organisations))
    fault(
      context,
      1,
      `${table}${alias === table ? '' : ` ${alias}`} has no condition ${alias}.${ORGANISATION} = $n of its own`,
    );
}

function locks(level: Level, context: Context): void {
  for (const { table } of unstated(level, new Set()))
    fault(context, 3, `a lock of rows of ${table} spans organisations`);
}

/** The distributed tables of a level without a condition of their own. */
function unstated({ sources, conditions }: Level, organisations: Set<string>): Source[] {
  const distributed = sources.filter(({ place }) => place === 'distributed');
  return distributed.filter((source) => {
    const { alias } = source;
    const names = (column: readonly string[] | undefined): boolean =>
      column?.at(-1) === ORGANISATION &&
      (column.length === 1 ? distributed.length === 1 : column.at(-2) === alias);
    const picking = conditions.filter(({ picks }) => picks(source));
    const given = picking.flatMap(equalities).flatMap(([left, right]) => {
      if (names(columnNames(left))) return parameter(right) ?? [];
      return names(columnNames(right)) ? (parameter(left) ?? []) : [];
    });
    for (const one of given) organisations.add(one);
    return given.length === 0;
  });
}

/** The pairs that a condition has as equal: of `(a, b) = (c, d)` two. */
function equalities({ condition }: Condition): [unknown, unknown][] {
  const expression = ofType(condition, 'A_Expr');
  if (expression === undefined || operator(expression) !== '=') return [];
  const [left, right] = [expression.lexpr, expression.rexpr];
  const [leftRow, rightRow] = [ofType(left, 'RowExpr'), ofType(right, 'RowExpr')];
  if (leftRow === undefined || rightRow === undefined) return [[left, right]];
  return list(leftRow, 'args').map((item, index) => [item, list(rightRow, 'args')[index]]);
}

/** `$1` of `$1::uuid`, or a constant as it is written. */
function parameter(node: unknown): string | undefined {
  const cast = ofType(node, 'TypeCast');
  if (cast !== undefined) return parameter(cast.arg);
  const given = ofType(node, 'ParamRef');
  if (given !== undefined) return `$${String(given.number)}`;
  const constant = ofType(node, 'A_Const');
  return constant === undefined ? undefined : text(member(constant, 'sval'), 'sval') || undefined;
}
