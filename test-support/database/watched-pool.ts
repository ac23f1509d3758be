/** Pools that tell which statements they are given. */
import type { Pool } from '../../src/platform/db/database.ts';

interface Statement {
  name?: string;
  values?: unknown[];
}

/** The pool, and the names of the statements that it is given, in order; or what `nameOf` makes of them. */
export function watchPool(
  pool: Pool,
  nameOf = ({ name = 'unnamed' }: Statement): string => name,
): { db: Pool; statements: string[] } {
  const statements: string[] = [];
  return { db: told(pool, (statement) => void statements.push(nameOf(statement))), statements };
}

/** The pool, with something that happens before the n-th statement of that name, or instead where it throws. */
export function withStatement(pool: Pool, name: string, happens: () => Promise<void>, nth = 1): Pool {
  let met = 0;
  return told(pool, (statement) => {
    if (statement.name !== name) return undefined;
    met += 1;
    return met === nth ? happens() : undefined;
  });
}

/** The pool; each statement is told to `before`, and waits for what that promises. */
function told(pool: Pool, before: (statement: Statement) => Promise<void> | undefined): Pool {
  return new Proxy(pool, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        const [statement = {}] = given as Statement[];
        const run = () => value.apply(target, given);
        const waited = member === 'query' ? before(statement) : undefined;
        return waited === undefined ? run() : waited.then(run);
      };
    },
  });
}
