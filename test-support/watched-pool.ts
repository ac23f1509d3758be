/** A pool that remembers which statements it was given. */
import type { Pool } from '../src/platform/db/database.ts';

/** The pool, and the names of the statements that it is given, in order. */
export function watchPool(pool: Pool): { db: Pool; statements: string[] } {
  const statements: string[] = [];
  const db = new Proxy(pool, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        const [statement] = given as { name?: string }[];
        if (member === 'query') statements.push(statement?.name ?? 'unnamed');
        return value.apply(target, given);
      };
    },
  });
  return { db, statements };
}
