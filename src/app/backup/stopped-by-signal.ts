/**
 * Ctrl-C and SIGTERM stop a backup or a restore at its next file or step. So it removes what it made, and ends the server that
 * it started. Contract: OPS-34.
 */
import { ServerNotStarted } from '../../../local-postgres/postgres-binaries.ts';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { type ProgressLine, progressLine } from '../../platform/command/progress-line.ts';
import { hearOneStopSignal, STOP_EXIT_CODES, type StopSignal } from '../../platform/command/stop-signals.ts';

class StoppedBySignal extends Error {}

/**
 * The result of `work`. After a signal, the next report of progress throws, or a server that is being started ends. Then the
 * operator is told, and the result is undefined. `after` is a sentence that says what is left.
 */
export async function unlessSignalled<T>(
  environment: CommandEnvironment,
  { what, after }: { what: string; after: string },
  work: (progress: ProgressLine) => Promise<T>,
): Promise<T | undefined> {
  const { step, show, end } = progressLine(environment);
  let stoppedBy: StopSignal | undefined;
  const endHearing = hearOneStopSignal((signal) => {
    stoppedBy = signal;
  });
  const telling = (tell: (text: string) => void) => (text: string) => {
    if (stoppedBy !== undefined) throw new StoppedBySignal();
    tell(text);
  };
  try {
    return await work({ step: telling(step), show: telling(show), end }).finally(end);
  } catch (error) {
    const isStop = error instanceof StoppedBySignal || error instanceof ServerNotStarted;
    if (stoppedBy === undefined || !isStop) throw error;
    environment.fail(`${stoppedBy} stopped the ${what}. ${after}`, STOP_EXIT_CODES[stoppedBy]);
    return undefined;
  } finally {
    endHearing();
  }
}
