/** One transaction for one unit: normal ones, and those of a dry run. Contract: IN-24. */
import { setTimeout as sleep } from 'node:timers/promises';
import { onOwnConnection } from '../../../platform/db/connection/own-connection.ts';
import type { Client, Pool } from '../../../platform/db/database.ts';
import { outageOf } from '../../../platform/db/unavailable.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import { IMPORTERS } from '../map/importers.ts';
import { DryRun } from '../write/dry-run-tables.store.ts';

/** Runs `work` in a transaction of its own; rolls it back when `work` throws. */
export type RunTransaction = <T>(work: (client: Client) => Promise<T>) => Promise<T>;

/** Eight workers that write records of the same patients may meet again and again while the machine is busy. */
const ATTEMPTS = 12;
const LONGEST_WAIT_MS = 3_000;

/**
 * Run `work` with transactions that see each other's work, and keep it from everyone else (docs/adr/0125): it goes to
 * temporary tables of one connection. They read only, so that nothing waits for them but changes of the schema, and
 * those for no longer than one unit.
 */
export async function inDryRun<T>(
  pool: Pool,
  scope: FacilityScope,
  work: (run: RunTransaction, dryRun: DryRun) => Promise<T>,
): Promise<T> {
  return onOwnConnection(pool, async (client) => {
    const dryRun = await DryRun.prepare(client, scope, [...IMPORTERS.values()]);
    const run: RunTransaction = async (unit) => {
      await client.query('begin');
      try {
        const result = await unit(client);
        await client.query('commit');
        return result;
      } catch (error) {
        // A connection that cannot roll back is broken: the next unit says so.
        await client.query('rollback').catch(() => undefined);
        throw error;
      }
    };
    return work(run, dryRun);
  });
}

/** Do `work`, again when it met a deadlock or a serialization failure: it may succeed when repeated. */
export async function repeatOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || outageOf(error) !== 'conflict') throw error;
      await sleep(Math.random() * Math.min(50 * 2 ** attempt, LONGEST_WAIT_MS));
    }
  }
}

/**
 * Why PostgreSQL refused the data (classes 22, 23 and 54: data, integrity and limits), for people; undefined for
 * every other failure. The server's own message is left out: it repeats values.
 */
export function dataFault(error: unknown): string | undefined {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: string };
  if (typeof code !== 'string' || !/^(?:22|23|54)/.test(code)) return undefined;
  return `could not be stored (SQLSTATE ${code}${constraint === undefined ? '' : `, ${constraint}`})`;
}

/** True when the database is out of reach or takes no writes, so that nothing else can be done either. */
export function isDatabaseGone(error: unknown): boolean {
  const outage = outageOf(error);
  return outage === 'unreachable' || outage === 'refusing';
}

/** What is safe to say about a failure that nobody foresaw: its code, never its message. */
export function faultText(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : String(name ?? 'unknown');
}
