/**
 * Background work goes organisation by organisation (docs/adr/0133). What fails for one is told once, then rests, and
 * keeps no other waiting.
 * Contract: OPS-29.
 */
import { DatabaseError } from 'pg';
import { delayAfterFailures, spreadDelay } from '../../outbound/backoff.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { outageOf } from '../../platform/db/unavailable.ts';

/** One kind of background work, such as `deliveries`. */
export interface OrganisationWork {
  readonly name: string;
  /** The last try failed. */
  isFailing(organisationId: string): boolean;
  /** Milliseconds until the work may be tried again; 0 when it may. */
  restMs(organisationId: string): number;
  /** Failures while it rests belong to the same try, and make the rest no longer. */
  failed(organisationId: string, error: unknown): void;
  succeeded(organisationId: string): void;
}

/** Work that began to fail for an organisation, or that is done again. */
export interface WorkChange {
  work: string;
  organisationId: string;
  /** Undefined when it works again. */
  error: unknown;
}

export interface WorkWatch {
  of(work: string): OrganisationWork;
  /** Ids of the organisations that each work fails for; without the works that fail for none. */
  failing(): Map<string, string[]>;
}

interface WorkWatchOptions {
  onChange?: (change: WorkChange) => void;
  /** Milliseconds on a clock that is never turned back. */
  nowMs?: () => number;
}

const REST = { firstMs: 1_000, maxMs: 60_000 };
const SPREAD = { from: 0.8, to: 1.2 };

export function createWorkWatch({
  onChange = () => undefined,
  nowMs = () => performance.now(),
}: WorkWatchOptions = {}): WorkWatch {
  const works = new Map<string, Map<string, { failures: number; restUntilMs: number }>>();

  function create(work: string): OrganisationWork {
    const failing = works.get(work) ?? new Map<string, { failures: number; restUntilMs: number }>();
    works.set(work, failing);
    return {
      name: work,
      isFailing: (organisationId) => failing.has(organisationId),
      restMs: (organisationId) =>
        Math.max(0, (failing.get(organisationId)?.restUntilMs ?? Number.NEGATIVE_INFINITY) - nowMs()),
      failed(organisationId, error) {
        const before = failing.get(organisationId);
        if (before !== undefined && before.restUntilMs > nowMs()) return;
        const failures = (before?.failures ?? 0) + 1;
        const restMs = spreadDelay(delayAfterFailures(REST, failures), SPREAD, Math.random());
        failing.set(organisationId, { failures, restUntilMs: nowMs() + restMs });
        if (before === undefined) onChange({ work, organisationId, error });
      },
      succeeded(organisationId) {
        if (failing.delete(organisationId)) onChange({ work, organisationId, error: undefined });
      },
    };
  }

  return {
    of: create,
    failing: () =>
      new Map(
        Array.from(works, ([work, failing]) => [work, [...failing.keys()]] as [string, string[]]).filter(
          ([, organisationIds]) => organisationIds.length > 0,
        ),
      ),
  };
}

/** Where background work is done, and what notes the organisations that it fails for. */
export interface WorkContext {
  db: Queryable;
  work: OrganisationWork;
}

/** Organisations that are worked for at once; those that the work fails for take turns of their own. */
const AT_ONCE = 4;

/**
 * Run the work for each organisation that does not rest. One that fails is noted, and the others go on. `false` says that
 * nothing was tried. Rejects, and begins nothing more, when the database itself is out of reach.
 */
export async function forEachOrganisation(
  work: OrganisationWork,
  organisationIds: readonly string[],
  run: (organisationId: string) => Promise<unknown>,
): Promise<void> {
  const due = organisationIds.filter((organisationId) => work.restMs(organisationId) === 0);
  const failing = due.filter((organisationId) => work.isFailing(organisationId));
  const well = due.filter((organisationId) => !work.isFailing(organisationId));
  const ended: { error?: unknown } = {};

  async function takeTurns(queue: string[]): Promise<void> {
    for (let next = queue.shift(); next !== undefined && !('error' in ended); next = queue.shift())
      try {
        if ((await run(next)) !== false) work.succeeded(next);
      } catch (error) {
        if (isWholeDatabase(error)) ended.error = error;
        else work.failed(next, error);
      }
  }

  await Promise.all([takeTurns(failing), ...Array.from({ length: AT_ONCE }, () => takeTurns(well))]);
  if ('error' in ended) throw ended.error;
}

/**
 * True when no statement of any organisation would do better: the database cannot be reached. The node of some
 * organisations may be out of reach as well; the database then answers, and says so (SQLSTATE 08).
 */
export function isWholeDatabase(error: unknown): boolean {
  if (outageOf(error) !== 'unreachable') return false;
  return !(error instanceof DatabaseError && String(error.code).startsWith('08'));
}
