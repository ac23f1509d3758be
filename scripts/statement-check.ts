/**
 * Checks the statements that a test run recorded (test-support/record-statements.js) by statement-rules.ts.
 * scripts/test.ts does it after every run of all or most files. Contract: OPS-25.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasSqlDetails } from 'libpg-query';
import { type Placement, placementOf } from '../src/app/scale-out/placement.ts';
import { EXCEPTIONS, type Exception } from './statement-exceptions.ts';
import { type Fault, statementFaults } from './statement-rules.ts';

export interface RecordedStatement {
  /** Of the prepared statement. */
  name?: string;
  /** The file that submits it. */
  from: string;
  text: string;
}

/** Catalogues and temporary tables are on the coordinator; Citus places a partition with its table. */
export function placeOf(table: string): Placement {
  return placementOf(table.replace(/^(access_log)_(?:\d.*|default)$/, '$1')) ?? 'local';
}

/** Every statement once. */
export async function readStatements(folder: string): Promise<RecordedStatement[]> {
  const statements = new Map<string, RecordedStatement>();
  for (const file of await readdir(folder)) {
    const lines = (await readFile(join(folder, file), 'utf8')).split('\n');
    // A process that was killed may have left half a line at the end.
    for (const line of lines.slice(0, -1)) {
      const statement = JSON.parse(line) as RecordedStatement;
      statements.set(statement.text, statement);
    }
  }
  return [...statements.values()].sort((a, b) => (a.from < b.from ? -1 : 1));
}

export interface CheckOptions {
  exceptions?: readonly Exception[];
  /** Whether every statement of the service is among them, so that an exception that none needs is a fault. */
  whole?: boolean;
}

/** One line for each fault. */
export function checkStatements(
  statements: readonly RecordedStatement[],
  { exceptions = EXCEPTIONS, whole = false }: CheckOptions = {},
): string[] {
  const needed = new Set<Exception>();
  const lines = new Set<string>();
  for (const statement of statements) {
    const excepted = exceptions.filter((one) => one.statement === (statement.name ?? statement.from));
    for (const { rule, message } of faultsOf(statement)) {
      const exception = excepted.find(({ rules }) => rules.includes(rule));
      if (exception !== undefined) needed.add(exception);
      else
        lines.add(
          `${statement.from}: ${statement.name ?? 'a statement without a name'}: rule ${rule}: ${message}`,
        );
    }
  }
  const unneeded = whole ? exceptions.filter((exception) => !needed.has(exception)) : [];
  for (const { statement } of unneeded)
    lines.add(
      `scripts/statement-exceptions.ts: no statement needs the exception of ${statement}. Remove it.`,
    );
  return [...lines];
}

function faultsOf({ text }: RecordedStatement): Fault[] {
  try {
    return statementFaults(text, placeOf);
  } catch (error) {
    // PostgreSQL cannot parse it either: a test wants to see that.
    if (hasSqlDetails(error)) return [];
    throw error;
  }
}
