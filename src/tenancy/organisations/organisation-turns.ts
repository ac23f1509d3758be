/**
 * Turns of organisations at background work. Some organisations are worked for at once. One that does not answer soon
 * leaves its turn to the next, and those that the work fails for have turns of their own (docs/adr/0133).
 * Contract: OPS-29.
 */

/** Work that takes longer counts no more among the turns, so that another organisation may begin. */
export const SLOW_AFTER_MS = 1_000;
/** So many may go on beside the turns; further slow ones keep theirs. */
const SLOW_AT_ONCE = 2;
/** Organisations that the work fails for, at once. */
const FAILING_AT_ONCE = 1;

/** How much work may be under way at once where this much has a turn. */
export function mostAtOnce(atOnce: number): number {
  return atOnce + SLOW_AT_ONCE + FAILING_AT_ONCE;
}

export interface Turns {
  /** The organisation may begin now. */
  isFree(organisationId: string): boolean;
  /** Give it a turn, for as long as the work takes. */
  take<Result>(organisationId: string, run: () => Promise<Result>): Promise<Result>;
}

interface TurnOptions {
  work: { isFailing(organisationId: string): boolean } | undefined;
  /** Organisations that have a turn at once, those apart that the work fails for. */
  atOnce: number;
  /** Called when another may begin. */
  onFree: () => void;
  /** Called before that, when it is because one is slow. */
  onSlow?: () => void;
}

interface Turn {
  failing: boolean;
  beganMs: number;
}

export function createTurns({ work, atOnce, onFree, onSlow }: TurnOptions): Turns {
  const turns = new Set<Turn>();
  const isFailing = (organisationId: string) => work?.isFailing(organisationId) === true;

  return {
    isFree(organisationId) {
      const failing = isFailing(organisationId);
      const begun = [...turns].filter((turn) => turn.failing === failing);
      if (failing) return begun.length < FAILING_AT_ONCE;
      const slow = begun.filter(({ beganMs }) => performance.now() - beganMs >= SLOW_AFTER_MS).length;
      return begun.length - Math.min(slow, SLOW_AT_ONCE) < atOnce;
    },
    async take(organisationId, run) {
      const turn = { failing: isFailing(organisationId), beganMs: performance.now() };
      turns.add(turn);
      const timer = setTimeout(() => {
        onSlow?.();
        onFree();
        // A timer may be early by a part of a millisecond.
      }, SLOW_AFTER_MS + 1);
      try {
        return await run();
      } finally {
        clearTimeout(timer);
        turns.delete(turn);
        onFree();
      }
    },
  };
}
