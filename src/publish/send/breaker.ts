/**
 * Leaves a FHIR server alone that does not work (docs/adr/0072). Counts whole publishes, not their requests.
 * Contract: PUB-51.
 */

export interface PublishBreakerSettings {
  /** Publishes in a row that failed because the server did not answer. */
  failures: number;
  /** Until one publish tries again. */
  openMs: number;
}

export const PUBLISH_BREAKER: PublishBreakerSettings = { failures: 3, openMs: 15_000 };

export interface PublishBreaker {
  /** Milliseconds until the next publish may try; 0 when this one may. The first that may is the probe. */
  waitMs(): number;
  /** Whether publishes are kept away now; not any more once one may try again. */
  isOpen(): boolean;
  /** Note how a publish ended: whether the server answered. */
  note(answered: boolean): void;
}

export function createPublishBreaker(settings: PublishBreakerSettings, nowMs: () => number): PublishBreaker {
  let failures = 0;
  let opensAtMs = 0;
  return {
    waitMs() {
      if (failures < settings.failures) return 0;
      const wait = opensAtMs - nowMs();
      if (wait > 0) return wait;
      opensAtMs = nowMs() + settings.openMs;
      return 0;
    },
    isOpen: () => failures >= settings.failures && opensAtMs > nowMs(),
    note(answered) {
      failures = answered ? 0 : failures + 1;
      if (!answered) opensAtMs = nowMs() + settings.openMs;
    },
  };
}
