/** Which parts of an expression give another answer at another time (PostgreSQL: function volatility categories). */
import {
  columnNames,
  functionName,
  list,
  member,
  ofType,
  operator,
  type Tree,
  typeName,
  walk,
} from './statement-tree.ts';

export interface MutablePart {
  /** As the statement has it: `now()`. */
  shown: string;
  volatile: boolean;
  /** It works on a column. */
  ofColumn: boolean;
}

/** Functions of pg_proc by their volatility. One that is missing counts as volatile. `length(bytea, name)` is not called. */
export const IMMUTABLE = named(`
  abs array_agg array_append array_cat array_length array_remove bit_length bool_and bool_or btrim cardinality ceil chr
  count decode encode floor jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_object_keys
  jsonb_strip_nulls length lower make_interval max md5 min mod octet_length power regexp_replace replace round row_number
  sha256 string_agg substr substring sum unnest upper`);
export const STABLE = named(`
  age array_to_string concat concat_ws current_setting date_trunc format json_agg json_build_object json_to_recordset
  jsonb_agg jsonb_build_array jsonb_build_object jsonb_to_recordset now pg_backend_pid statement_timestamp to_char to_json
  to_jsonb to_timestamp transaction_timestamp`);

function named(names: string): ReadonlySet<string> {
  return new Set(names.trim().split(/\s+/));
}

const TIMES = new Set(['timestamptz', 'timestamp', 'date', 'time', 'timetz']);
const TEXTS = new Set(['text', 'varchar', 'bpchar', 'name']);
/** Columns that hold times are named so. */
const TIME_COLUMN = /(?:_at|_until|_from|_start|_end|_before|_after)$/;

/** Sub-selects are looked into unless `inSelects` is false. */
export function mutableParts(tree: unknown, { inSelects = true } = {}): MutablePart[] {
  const parts: MutablePart[] = [];
  walk(tree, (type, held) => {
    if (type === 'SubLink' && !inSelects) return false;
    const shown = mutable(type, held);
    if (shown !== undefined)
      parts.push({
        shown,
        volatile: type === 'FuncCall' && !STABLE.has(functionName(held)),
        ofColumn: hasColumn(held),
      });
    return true;
  });
  return parts;
}

function mutable(type: string, held: Tree): string | undefined {
  if (type === 'FuncCall') {
    const name = functionName(held);
    return IMMUTABLE.has(name) ? undefined : `${name}()`;
  }
  if (type === 'SQLValueFunction') return 'current_timestamp';
  if (type === 'TypeCast') return castShown(held);
  if (type !== 'A_Expr' || !['+', '-'].includes(operator(held))) return undefined;
  // Months and days have no length of their own: a time and an interval are added by the zone of the session.
  const operands = [member(held, 'lexpr'), member(held, 'rexpr')];
  return operands.some(isInterval) ? `${operator(held)} interval` : undefined;
}

function castShown(cast: Tree): string | undefined {
  const name = typeName(cast);
  const column = columnNames(member(cast, 'arg'))?.at(-1) ?? '';
  const given = ofType(member(cast, 'arg'), 'ParamRef') ?? ofType(member(cast, 'arg'), 'A_Const');
  if (TIMES.has(name) && given === undefined && column !== '') return `::${name}`;
  return TEXTS.has(name) && TIME_COLUMN.test(column) ? `${column}::${name}` : undefined;
}

function isInterval(node: unknown): boolean {
  const cast = ofType(node, 'TypeCast');
  if (cast !== undefined) return typeName(cast) === 'interval';
  const call = ofType(node, 'FuncCall');
  if (call !== undefined) return functionName(call) === 'make_interval';
  const product = ofType(node, 'A_Expr');
  if (product === undefined || !['*', '/'].includes(operator(product))) return false;
  return isInterval(member(product, 'lexpr')) || isInterval(member(product, 'rexpr'));
}

function hasColumn(tree: unknown): boolean {
  let found = false;
  walk(tree, (type, held) => {
    // A parameter of a function of ours would be no column; the service has none.
    found ||= type === 'ColumnRef' && list(held, 'fields').length > 0;
    return !found;
  });
  return found;
}
