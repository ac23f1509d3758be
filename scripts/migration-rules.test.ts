/**
 * Citus takes the migrations that a distributed database may have to apply. It refuses some forms of `alter table` that
 * PostgreSQL takes (ErrorIfUnsupportedAlterTableStmt of Citus,
 * https://github.com/citusdata/citus/blob/main/src/backend/distributed/commands/table.c), and to drop several indexes at once
 * (PreprocessDropIndexStmt of index.c beside it). Contract: OPS-28.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { placeOf } from './statement-check.ts';
import { list, listOf, member, ofType, parseStatements, type Tree, text } from './statement-tree.ts';

const MIGRATIONS = new URL('../migrations/', import.meta.url);
/** No version before this migration could be distributed. */
const FIRST = '0158';
/** Older than the first release, so no database that was distributed lacks them. */
const BEFORE_A_RELEASE = [
  '0194-import-file-names.sql',
  '0195-patients-by-name.sql',
  '0198-access-log-key.sql',
];
/** What an added column may bring. */
const OF_A_COLUMN = new Set(['CONSTR_NOTNULL', 'CONSTR_DEFAULT']);

/** What Citus would refuse of a migration. The tables that it makes are placed after it. */
function refused(sql: string): string[] {
  const statements = parseStatements(sql);
  const made = new Set(
    statements.map((statement) => text(member(ofType(statement, 'CreateStmt'), 'relation'), 'relname')),
  );
  const isPlaced = (held: Tree) => {
    const table = text(member(held, 'relation'), 'relname');
    return placeOf(table) !== 'local' && !made.has(table);
  };
  return statements.flatMap((statement) => {
    const trigger = ofType(statement, 'CreateTrigStmt');
    if (trigger !== undefined && isPlaced(trigger)) return ['a trigger of a table that is placed'];
    const dropped = ofType(statement, 'DropStmt');
    if (
      dropped?.removeType === 'OBJECT_INDEX' &&
      Array.isArray(dropped.objects) &&
      dropped.objects.length > 1
    )
      return ['several indexes are dropped: give each a statement of its own'];
    const altered = ofType(statement, 'AlterTableStmt');
    return altered !== undefined && isPlaced(altered)
      ? refusedOf(listOf(altered, 'cmds', 'AlterTableCmd'))
      : [];
  });
}

function refusedOf(commands: readonly Tree[]): string[] {
  return commands.flatMap((command) => {
    if (command.subtype === 'AT_AddConstraint' && commands.length > 1)
      return ['add constraint beside something else: give it a statement of its own'];
    const column = ofType(command.def, 'ColumnDef');
    const constraints = list(column, 'constraints').map((one) => text(ofType(one, 'Constraint'), 'contype'));
    return constraints.every((one) => OF_A_COLUMN.has(one))
      ? []
      : [
          `${text(column, 'colname')} is added with a constraint: add the constraint by a statement of its own`,
        ];
  });
}

test('migrations since the first that a distributed database knows are such that Citus takes them [OPS-28]', async () => {
  const names = (await readdir(MIGRATIONS)).filter((name) => /^\d{4}-/.test(name) && name >= FIRST).sort();
  assert.ok(names.length > 10);
  const faults: Record<string, string[]> = {};
  for (const name of names) {
    const found = refused(await readFile(new URL(name, MIGRATIONS), 'utf8'));
    if (found.length > 0) faults[name] = found;
  }
  assert.deepEqual(Object.keys(faults), BEFORE_A_RELEASE, JSON.stringify(faults, undefined, 2));
});

for (const [sql, count] of [
  ['alter table role add column note text, add column size integer not null default 0', 0],
  ['alter table role add column note text', 0],
  ["alter table role add column note text check (note <> '')", 1],
  ['alter table organisation add column note text unique', 1],
  ['alter table role add column note text references organisation (id)', 1],
  ["alter table role add constraint named check (name <> '') not valid", 0],
  ["alter table role drop constraint named, add constraint named check (name <> '')", 1],
  ["alter table signing_key drop constraint named, add constraint named check (kid <> '')", 0],
  ["create table role (id uuid); alter table role add column note text check (note <> '')", 0],
  ['create trigger keep after insert on role execute function keep()', 1],
  ['drop index account_disabled', 0],
  ['drop index account_disabled, account_enabled', 1],
] as const)
  test(`${sql}: Citus ${count === 0 ? 'takes it' : 'refuses it'}`, () => {
    assert.equal(refused(sql).length, count);
  });
