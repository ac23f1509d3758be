import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Ends a process, unless it has ended by itself, and waits until it is gone. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}
