/**
 * Leaves a target alone that does not work (docs/adr/0072). Counts whole publishes, not their requests.
 * Contract: PUB-51.
 */

export interface CircuitSettings {
  /** Publishes in a row that failed because the target did not answer. */
  failures: number;
  /** Until one publish tries again. */
  openMs: number;
}

export const CIRCUIT: CircuitSettings = { failures: 3, openMs: 15_000 };

export interface Circuit {
  /** Milliseconds until the next publish may try; 0 when this one may. The first that may is the probe. */
  waitMs(): number;
  /** Whether publishes are kept away now; not any more once one may try again. */
  isOpen(): boolean;
  /** Note how a publish ended: whether the target answered. */
  note(answered: boolean): void;
}

export function createCircuit(settings: CircuitSettings, nowMs: () => number): Circuit {
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
