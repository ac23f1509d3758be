/** Says on stderr what long work does: a line for each step, and on a terminal how far it is. */
import type { CommandEnvironment } from './command.ts';

export interface ProgressLine {
  /** A line that stays. */
  step(text: string): void;
  /** Replaces what was shown before; on a terminal only. */
  show(text: string): void;
  /** Clears the line. */
  end(): void;
}

/** With `--json` nothing is said. */
export function progressLine({ stderr, json }: Pick<CommandEnvironment, 'stderr' | 'json'>): ProgressLine {
  if (json) return SILENT;
  if (!stderr.isTTY) return { ...SILENT, step: (text) => void stderr.write(`${text}\n`) };
  const clear = '\r\u001b[K';
  return {
    step: (text) => void stderr.write(`${clear}${text}\n`),
    show: (text) => void stderr.write(`${clear}${text}`),
    end: () => void stderr.write(clear),
  };
}

export const SILENT: ProgressLine = { step: () => undefined, show: () => undefined, end: () => undefined };
