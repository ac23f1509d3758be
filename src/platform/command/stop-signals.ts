/** Hears SIGTERM and SIGINT, which ask a process to stop. */

/** What npm and terminals pass on of one Ctrl-C arrives within this time and counts once. */
const SAME_SIGNAL_MS = 1_000;

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** Of a command that a signal stopped, as shells have it: 128 and the number of the signal. */
export const STOP_EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** Calls `onFirst` at the first signal, and `onLater` at every other one. Returns what lets signals end the process again. */
export function hearStopSignals(
  onFirst: (signal: StopSignal) => void,
  onLater: (signal: StopSignal) => void,
): () => void {
  let firstAt: number | undefined;
  const hear = (signal: StopSignal): void => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      onFirst(signal);
    } else if (performance.now() - firstAt > SAME_SIGNAL_MS) onLater(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, hear);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, hear);
  };
}

/** For a command: the first signal calls `onFirst`, the next of them kills this process. Returns as {@link hearStopSignals}. */
export function hearOneStopSignal(onFirst: (signal: StopSignal) => void): () => void {
  const endHearing = hearStopSignals(onFirst, (signal) => {
    endHearing();
    process.kill(process.pid, signal);
  });
  return endHearing;
}
