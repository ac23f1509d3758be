/** A pool that remembers which statements it was given. */
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
  const db = new Proxy(pool, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        const [statement = {}] = given as Statement[];
        if (member === 'query') statements.push(nameOf(statement));
        return value.apply(target, given);
      };
    },
  });
  return { db, statements };
}
