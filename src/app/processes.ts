/** Several processes of the service that share its port, and are replaced when they end. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { CommandError } from '../platform/command/command.ts';
import type { Log } from '../platform/log/log.ts';

/** Pause before a process that ended is replaced. */
const RESTART_MS = 1_000;

export interface Processes {
  /** Resolves once one of them serves; rejects when one ends before. */
  started: Promise<void>;
  /** Passes the signal on, and waits for all of them. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

export function startProcesses(count: number, log: Log, env: Record<string, string>): Processes {
  const { promise: started, resolve, reject } = Promise.withResolvers<void>();
  const running = new Set<Worker>();
  let stopping = false;
  const start = () => {
    if (stopping) return;
    const worker = cluster.fork(env);
    running.add(worker);
    worker.once('message', () => resolve());
    worker.once('exit', (code: number, signal: string) => {
      running.delete(worker);
      if (stopping) return;
      log.error(
        { event: 'process-exit', pid: worker.process.pid, status: code, signal },
        'process ended, starting another',
      );
      reject(new CommandError('A process ended before it could serve. Its message is above.'));
      setTimeout(start, RESTART_MS);
    });
  };
  for (let index = 0; index < count; index += 1) start();
  return {
    started,
    async stop(signal) {
      stopping = true;
      await Promise.all(
        Array.from(running, async (worker) => {
          const exit = once(worker, 'exit');
          worker.process.kill(signal);
          await exit;
        }),
      );
    },
  };
}

/** Tells the process that started this one that it serves. */
export function sayServing(): void {
  if (cluster.isWorker) process.send?.('serving');
}

/** The tie to the process that started this one does not keep this one alive. */
export function loosenTie(): void {
  if (cluster.isWorker) process.channel?.unref();
}
