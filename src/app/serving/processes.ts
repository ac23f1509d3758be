/**
 * Several processes of the service that share its port, and are replaced when they end (docs/adr/0090).
 * Contract: CMD-17, OPS-4.
 */
import cluster, { type Worker } from 'node:cluster';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ListenOptions, type Server } from 'node:net';
import { errorFields, type Log } from '../../platform/log/log.ts';
import { appError } from '../errors.ts';

/** What a process says once it serves. */
const SERVING = 'serving';
/** Pause before a process that ended is replaced. */
const RESTART_MS = 1_000;

export interface Processes {
  /** Resolves once one of them serves; rejects when one ends before. */
  started: Promise<void>;
  /** Passes the signal on, and waits for all of them. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Each process listens by itself: a connection that another one hands over is lost when either is killed. Where the
 * system has no port for several listeners, they share one listener.
 */
const EACH_LISTENS = process.platform === 'linux';

export function startProcesses(count: number, log: Log, env: Record<string, string>): Processes {
  const { promise: started, resolve, reject } = Promise.withResolvers<void>();
  const running = new Set<Worker>();
  let stopping = false;
  if (!EACH_LISTENS) cluster.schedulingPolicy = cluster.SCHED_NONE;
  const startAgain = (fields: Parameters<Log['error']>[0], message: string) => {
    log.error(fields, `${message}; starting another one`);
    reject(appError('process_ended'));
    setTimeout(start, RESTART_MS);
  };
  /** No room for a process, or no program while it is installed anew: the others go on. */
  const notStarted = (error: unknown) =>
    startAgain({ event: 'process-start', ...errorFields(error) }, 'a process could not be started');
  const start = () => {
    if (stopping) return;
    let worker: Worker;
    try {
      worker = cluster.fork(env);
    } catch (error) {
      notStarted(error);
      return;
    }
    running.add(worker);
    worker.on('message', (message) => {
      if (message === SERVING) resolve();
    });
    // One that runs tells of its end by itself.
    worker.on('error', (error) => {
      if (worker.process.pid !== undefined) return;
      running.delete(worker);
      delete cluster.workers?.[worker.id];
      notStarted(error);
    });
    worker.once('exit', (code: number, signal: string) => {
      running.delete(worker);
      if (stopping) return;
      startAgain(
        { event: 'process-exit', pid: worker.process.pid, status: code, signal },
        'a process ended unexpectedly',
      );
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
  if (cluster.isWorker) process.send?.(SERVING);
}

/** The tie to the process that started this one does not keep this one alive. */
export function loosenTie(): void {
  if (cluster.isWorker) process.channel?.unref();
}

interface Address {
  host: string;
  port: number;
}

/** How this process listens, when it may be one of several. */
export function sharedAddress<Address extends Pick<ListenOptions, 'host' | 'port'>>(
  address: Address,
): Address {
  return cluster.isWorker && EACH_LISTENS ? { ...address, reusePort: true } : address;
}

/**
 * Make sure that nobody else has the address, and keep others who come the same way from it: processes that each
 * listen would share it with those of another service without a word. Rejects as `listen` does.
 */
export async function claimAddress(address: Address): Promise<{ release(): void }> {
  const name = hash('sha256', `${address.host} ${address.port}`);
  // A name outside the file system, which is free again when this process ends, however it ends.
  const claim = EACH_LISTENS ? await listening({ path: `\0interchange ${name}` }) : undefined;
  claim?.unref();
  await probeAddress(address).catch((error: unknown) => {
    claim?.close();
    throw error;
  });
  return { release: () => void claim?.close() };
}

/** Listen there for a moment, alone. Returns the port; rejects as `listen` does. */
export async function probeAddress({ host, port }: Address): Promise<number> {
  const probe = await listening({ host, port });
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address !== null ? address.port : port;
}

async function listening(options: ListenOptions): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(options);
  await once(server, 'listening');
  return server;
}
