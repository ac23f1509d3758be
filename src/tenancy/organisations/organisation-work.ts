/**
 * Background work goes organisation by organisation (docs/adr/0133). What fails for one is told once, then rests, and
 * keeps no other waiting.
 * Contract: OPS-29.
 */
import { DatabaseError } from 'pg';
import { delayAfterFailures, spreadDelay } from '../../outbound/backoff.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { isUnanswered, outageOf } from '../../platform/db/unavailable.ts';
import { createTurns, SLOW_AFTER_MS } from './organisation-turns.ts';

/** What a command ends with that went on with the others. */
export const SOME_REFUSED = 'The database refused some organisations. The output names them.';

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

/** Organisations that are worked for at once, without slow ones and those that the work fails for. */
const AT_ONCE = 3;

/**
 * Run the work for each organisation that does not rest. One that fails is noted, and the others go on. Once one was slow,
 * those that it failed for before are left to a later call, so that this one ends soon. `false` says that nothing was
 * tried. Rejects, and begins nothing more, when the database itself is out of reach.
 */
export async function forEachOrganisation(
  work: OrganisationWork,
  organisationIds: readonly string[],
  run: (organisationId: string) => Promise<unknown>,
): Promise<void> {
  const due = organisationIds.filter((organisationId) => work.restMs(organisationId) === 0);
  const failing = turned(due.filter((organisationId) => work.isFailing(organisationId)));
  const well = due.filter((organisationId) => !work.isFailing(organisationId));
  const turns = createTurns({ work, atOnce: AT_ONCE, onFree: beginDue });
  const done = Promise.withResolvers<void>();
  const state: { running: number; error?: unknown } = { running: 0 };

  function beginDue(): void {
    for (const queue of [failing, well])
      for (let [next] = queue; next !== undefined && mayBegin(next); [next] = queue) {
        queue.shift();
        void turns.take(next, () => runFor(next));
      }
    if (state.running === 0) done.resolve();
  }

  const mayBegin = (organisationId: string) => !('error' in state) && turns.isFree(organisationId);

  async function runFor(organisationId: string): Promise<void> {
    const beganMs = performance.now();
    state.running += 1;
    try {
      if ((await run(organisationId)) !== false) work.succeeded(organisationId);
    } catch (error) {
      if (isWholeDatabase(error)) state.error = error;
      else work.failed(organisationId, error);
    } finally {
      state.running -= 1;
      if (performance.now() - beganMs >= SLOW_AFTER_MS) failing.length = 0;
    }
  }

  beginDue();
  await done.promise;
  if ('error' in state) throw state.error;
}

/** Turned to begin anywhere, so that none is always the last. */
function turned<Item>(items: readonly Item[]): Item[] {
  const from = Math.floor(Math.random() * items.length);
  return [...items.slice(from), ...items.slice(0, from)];
}

/**
 * True when no statement of any organisation would do better: the database cannot be reached. The node of some
 * organisations may be out of reach as well; the database then answers, and says so (SQLSTATE 08), or the node leaves
 * the statement without an answer.
 */
export function isWholeDatabase(error: unknown): boolean {
  if (outageOf(error) !== 'unreachable' || isUnanswered(error)) return false;
  return !(error instanceof DatabaseError && String(error.code).startsWith('08'));
}
