/**
 * Sends nothing for a while to a FHIR server that does not work (docs/adr/0072). Counts whole publishes, not requests.
 * Contract: PUB-51.
 */
import { createFailureCount } from '../../outbound/failure-count.ts';
import type { PublishSettings } from '../servers/publish-settings.ts';

export const BREAKER_STATES = ['closed', 'open', 'probing'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

export interface PublishBreaker {
  /** Milliseconds until the next publish may try; 0 when this one may. The first that may is the probe. */
  waitMs(): number;
  /** Whether publishes are kept away now; not any more once one may try again. */
  isOpen(): boolean;
  /** `probing`: it was open, and the next publish tries again. */
  state(): BreakerState;
  /** Note how a publish ended: whether the server answered. */
  note(answered: boolean): void;
}

export function createPublishBreaker(
  settings: PublishSettings['breaker'],
  nowMs: () => number,
): PublishBreaker {
  const failures = createFailureCount(settings);
  const state = { tooMany: false, nextTryMs: 0 };
  const waitMs = () => (state.tooMany ? Math.max(0, state.nextTryMs - nowMs()) : 0);
  return {
    waitMs() {
      const wait = waitMs();
      // This publish is the probe; the others wait for it.
      if (state.tooMany && wait === 0) state.nextTryMs = nowMs() + settings.openMs;
      return wait;
    },
    isOpen: () => waitMs() > 0,
    state: () => (!state.tooMany ? 'closed' : waitMs() > 0 ? 'open' : 'probing'),
    note(answered) {
      // Each publish counts, whatever record it was of.
      state.tooMany = failures.note(answered ? 'up' : 'unreachable', '');
      if (!answered) state.nextTryMs = nowMs() + settings.openMs;
    },
  };
}
