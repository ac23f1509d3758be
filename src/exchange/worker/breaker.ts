/** When an exchange is taken for down (docs/adr/0022). Contract: EXC-20, EXC-22. */

/** What a try says about the exchange as a whole. */
export type Sign =
  /** It answered this delivery: it is up. */
  | 'up'
  /** It could not be reached at all: no delivery is to blame. */
  | 'unreachable'
  /** It failed with this delivery: perhaps the delivery, perhaps the exchange. */
  | 'failing';

export interface CircuitSettings {
  /** Failures in a row, on as many lanes unless unreachable, that open the circuit. */
  failures: number;
  /** Until the first probe, in ms; doubled after each that fails. */
  probeMs: number;
  maxProbeMs: number;
}

export const CIRCUIT: CircuitSettings = { failures: 5, probeMs: 5_000, maxProbeMs: 60_000 };

export interface FailureCount {
  /** Note a try; true when it is the one that should open the circuit. */
  note(sign: Sign, patientId: string): boolean;
  reset(): void;
}

/** Counts failures since the last sign of life. One patient whose deliveries always fail never opens a circuit. */
export function createFailureCount(settings: CircuitSettings): FailureCount {
  let unreachable = 0;
  const lanes = new Set<string>();
  const reset = () => {
    unreachable = 0;
    lanes.clear();
  };
  return {
    reset,
    note(sign, patientId) {
      if (sign === 'up') {
        reset();
        return false;
      }
      if (sign === 'unreachable') unreachable += 1;
      lanes.add(patientId);
      return unreachable >= settings.failures || lanes.size >= settings.failures;
    },
  };
}
