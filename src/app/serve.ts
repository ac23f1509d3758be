/** Runs a process of the service until it is told to stop (design section 2). */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer as createNetServer } from 'node:net';
import { createLog, errorFields, type Log } from '../platform/log/log.ts';
import { buildApi } from './build-api.ts';
import {
  buildRuntime,
  type OpenDatabase,
  openDatabase,
  openKeys,
  type Runtime,
  requireSchema,
} from './build-runtime.ts';
import { buildWorker } from './build-worker.ts';
import { answerForMetrics, metricsOfAll } from './cluster-metrics.ts';
import { baseUrlOf, type Config, loadConfig } from './config/config.ts';
import { masterKeyPath } from './config/master-key.ts';
import { housekeepingSteps } from './features.ts';
import { listenFailure, SERVICE_ADDRESS } from './http/listen-failure.ts';
import { listenMetrics } from './http/metrics-listener.ts';
import { loosenTie, sayServing, startProcesses } from './processes.ts';

export type Role = 'all' | 'api' | 'worker';

export interface ServeOptions {
  role: Role;
  processes: number;
  env: NodeJS.ProcessEnv;
  /** Called once the process answers, with its base address. */
  onReady?: (publicBaseUrl: string) => Promise<void> | void;
}

/** Serve until SIGTERM or SIGINT; requests in flight are finished first. */
export async function serve(options: ServeOptions): Promise<void> {
  loosenTie();
  const config = await withFreePort(loadConfig(options.env));
  const log = createLog(config.logLevel);
  if (options.processes > 1 && cluster.isPrimary) return serveProcesses(options, config, log);
  const opened = await openDatabase(config, log);
  try {
    if (!cluster.isWorker) await requireSchema(opened, config);
    const stop = stopSignal(log);
    const running = await startParts({ ...options, config, log, opened });
    sayServing();
    await options.onReady?.(baseUrlOf(config));
    await stop;
    await running.stop();
  } finally {
    await opened.release();
  }
}

interface PartOptions extends ServeOptions {
  config: Config;
  log: Log;
  opened: OpenDatabase;
}

/** Starts the parts of a process. When one cannot start, those that did are stopped again. */
async function startParts(options: PartOptions): Promise<{ stop(): Promise<void> }> {
  const { role, config, log, opened } = options;
  const { url } = opened;
  const ready = await openKeys(opened, config);
  const runtime = await buildRuntime({ ...ready, url, config, log, now: () => new Date() }).catch(
    async (error: unknown) => {
      await ready.keys.close();
      throw error;
    },
  );
  const stops: (() => Promise<unknown>)[] = [() => runtime.close()];
  const stop = async () => {
    for (const step of stops.toReversed()) await step();
  };
  try {
    if (role !== 'api') stops.push(startWorker(runtime));
    if (role !== 'worker') stops.push(await startApi(runtime));
    if (cluster.isWorker) answerForMetrics(runtime.metrics.registry);
    else if (config.metricsPort !== undefined) {
      const metrics = await listenMetrics(runtime.metrics.registry, config.metricsPort);
      stops.push(async () => metrics.close());
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const fields = { role, pid: process.pid };
  if (role === 'worker') log.info({ event: 'working', ...fields }, 'working');
  else log.info({ event: 'listening', host: config.host, port: config.port, ...fields }, 'listening');
  return {
    async stop() {
      await stop();
      log.info({ event: 'stopped', pid: process.pid }, 'stopped');
    },
  };
}

function startWorker(runtime: Runtime): () => Promise<void> {
  const worker = buildWorker(runtime, housekeepingSteps(runtime));
  worker.start();
  return () => worker.stop();
}

async function startApi(runtime: Runtime): Promise<() => Promise<void>> {
  const { host, port } = runtime.config;
  const { server, health } = await buildApi(runtime);
  const close = async () => {
    health.drain();
    await server.close();
  };
  try {
    await server.listen({ host, port });
    return close;
  } catch (error) {
    await close();
    throw listenFailure(error, { host, port }, SERVICE_ADDRESS);
  }
}

/** The primary holds the embedded database; children get its address and the key through their environment. */
async function serveProcesses(options: ServeOptions, config: Config, log: Log): Promise<void> {
  const opened = await openDatabase(config, log);
  try {
    await requireSchema(opened, config);
    const { keys, serviceUrl } = await openKeys(opened, config);
    await keys.close();
    const stop = stopSignal(log);
    const { metricsPort } = config;
    const metrics = metricsPort === undefined ? undefined : await listenMetrics(metricsOfAll(), metricsPort);
    const processes = startProcesses(options.processes, log, {
      DATABASE_URL: opened.url,
      HOST: config.host,
      PORT: String(config.port),
      ...(serviceUrl === undefined ? {} : { DATABASE_SERVICE_URL: serviceUrl }),
      ...(config.masterKey.kind === 'made' ? { MASTER_KEY_FILE: masterKeyPath(config) } : {}),
    });
    try {
      await Promise.race([processes.started, stop]);
      await options.onReady?.(baseUrlOf(config));
      await stop;
    } finally {
      metrics?.close();
      await processes.stop();
    }
  } finally {
    await opened.release();
  }
}

/** What npm and terminals pass on of one Ctrl-C arrives within this time and counts once. */
const SAME_SIGNAL_MS = 1_000;

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
function stopSignal(log: Log): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (firstAt !== undefined && performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(1);
        if (firstAt !== undefined) return;
        firstAt = performance.now();
        log.info({ event: 'stopping', signal }, 'finishing requests in flight');
        resolve();
      });
    process.on('unhandledRejection', (error) => log.error(errorFields(error), 'unhandled rejection'));
  });
}

/** PORT=0 takes a free port, known before anything is built on the base address. */
async function withFreePort(config: Config): Promise<Config> {
  if (config.port !== 0) return config;
  const probe = createNetServer().listen(0, config.host);
  await once(probe, 'listening').catch((error: unknown) => {
    throw listenFailure(error, config, SERVICE_ADDRESS);
  });
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return { ...config, port: typeof address === 'object' && address !== null ? address.port : 0 };
}
