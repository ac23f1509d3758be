/** Runs a process of the service until it is told to stop (design section 2). */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer as createNetServer } from 'node:net';
import { createLog, errorFields, type Log } from '../platform/log/log.ts';
import { buildApi } from './build-api.ts';
import { buildRuntime, openDatabase } from './build-runtime.ts';
import { buildWorker } from './build-worker.ts';
import { requireSchema } from './command-environment.ts';
import { baseUrlOf, type Config, loadConfig } from './config/config.ts';
import { buildFeatures, housekeepingSteps } from './features.ts';

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
  const config = await withFreePort(loadConfig(options.env));
  const log = createLog(config.logLevel);
  if (options.processes > 1 && cluster.isPrimary) return serveProcesses(options, config, log);
  const opened = await openDatabase(config, log);
  try {
    if (!cluster.isWorker) await requireSchema(opened.url, config.database.kind === 'embedded');
    const stop = stopSignal(log);
    const running = await startParts({ ...options, config, log, url: opened.url, keys: opened.keys });
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
  url: string;
  keys: Awaited<ReturnType<typeof openDatabase>>['keys'];
}

async function startParts({ role, config, log, url, keys }: PartOptions): Promise<{ stop(): Promise<void> }> {
  const runtime = await buildRuntime({ config, log, url, keys, now: () => new Date() });
  const stops: (() => Promise<unknown>)[] = [];
  if (role !== 'api') {
    const worker = buildWorker(
      runtime,
      housekeepingSteps(runtime, await buildFeatures(runtime, baseUrlOf(config))),
    );
    worker.start();
    stops.push(() => worker.stop());
  }
  if (role !== 'worker') {
    const { server, health } = await buildApi(runtime);
    await server.listen({ host: config.host, port: config.port });
    if (config.metricsPort !== undefined) {
      const metricsServer = await health.listenMetrics(config.metricsPort);
      stops.push(async () => metricsServer.close());
    }
    log.info(
      { event: 'listening', host: config.host, port: config.port, role, pid: process.pid },
      'listening',
    );
    stops.unshift(async () => {
      health.drain();
      await server.close();
    });
  } else log.info({ event: 'working', role, pid: process.pid }, 'working');
  return {
    async stop() {
      for (const stop of stops) await stop();
      await runtime.close();
      log.info({ event: 'stopped', pid: process.pid }, 'stopped');
    },
  };
}

/** The primary holds the embedded database; children get its address and the key through their environment. */
async function serveProcesses(options: ServeOptions, config: Config, log: Log): Promise<void> {
  const opened = await openDatabase(config, log);
  try {
    await requireSchema(opened.url, config.database.kind === 'embedded');
    const children = {
      DATABASE_URL: opened.url,
      HOST: config.host,
      PORT: String(config.port),
      ...(config.database.kind === 'embedded' ? { MASTER_KEY_FILE: `${config.dataDir}/master.key` } : {}),
    };
    let stopping = false;
    for (let index = 0; index < options.processes; index += 1) cluster.fork(children);
    cluster.on('exit', (worker, code, signal) => {
      if (stopping) return;
      log.error(
        { event: 'process-exit', pid: worker.process.pid, status: code, signal },
        'process ended, starting another',
      );
      setTimeout(() => !stopping && cluster.fork(children), 1_000);
    });
    await once(cluster, 'listening');
    await options.onReady?.(baseUrlOf(config));
    await stopSignal(log);
    stopping = true;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM');
    while (Object.keys(cluster.workers ?? {}).length > 0) await once(cluster, 'exit');
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
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return { ...config, port: typeof address === 'object' && address !== null ? address.port : 0 };
}
