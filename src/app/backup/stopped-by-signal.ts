/**
 * Ctrl-C and SIGTERM stop a backup or a restore at its next file or step. So it removes what it made, and ends the server that
 * it started. Contract: OPS-34.
 */
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { type ProgressLine, progressLine } from '../../platform/command/progress-line.ts';
import { hearOneStopSignal, STOP_EXIT_CODES, type StopSignal } from '../../platform/command/stop-signals.ts';

class StoppedBySignal extends Error {}

/**
 * What `work` comes to. Undefined, and said to the operator, when a signal stopped it: then the progress that it is given throws.
 * `after` says what is left, in a sentence.
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
    return await work({ step: telling(step), show: telling(show), end });
  } catch (error) {
    if (stoppedBy === undefined || !(error instanceof StoppedBySignal)) throw error;
    end();
    environment.fail(`${stoppedBy} stopped the ${what}. ${after}`, STOP_EXIT_CODES[stoppedBy]);
    return undefined;
  } finally {
    endHearing();
    end();
  }
}
