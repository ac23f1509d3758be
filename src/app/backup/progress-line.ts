/** One line on a terminal that says what long work does at the moment. */
import type { CommandEnvironment } from '../../platform/command/command.ts';

export interface ProgressLine {
  show(text: string): void;
  /** Clears the line. */
  end(): void;
}

/** Nothing is shown where no person looks. */
export function progressLine({ stderr, json }: CommandEnvironment): ProgressLine {
  if (json || !stderr.isTTY) return { show: () => undefined, end: () => undefined };
  const clear = '\r\u001b[K';
  return { show: (text) => void stderr.write(`${clear}${text}`), end: () => void stderr.write(clear) };
}
