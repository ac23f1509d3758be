/** Runs a process of the service until it is told to stop. Contract: CMD-17, OPS-4, OPS-17. */
import cluster from 'node:cluster';
import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { hearStopSignals, type StopSignal } from '../../platform/command/stop-signals.ts';
import { withClient } from '../../platform/db/migrate.ts';
import { createLog, errorFields, type Log } from '../../platform/log/log.ts';
import { requireKnownPlace } from '../backup/database-place.ts';
import { buildApi } from '../build-api.ts';
import { buildWorker } from '../build-worker.ts';
import { baseUrlOf, type Config, loadConfig } from '../config/config.ts';
import { masterKeyPath } from '../config/master-key.ts';
import { warnOfBuild } from '../console/console-build.ts';
import { housekeepingSteps } from '../features.ts';
import type { Health } from '../http/health.ts';
import { type AddressNames, listenFailure, SERVICE_ADDRESS } from '../http/listen-failure.ts';
import { listenMetrics } from '../http/metrics-listener.ts';
import { buildRuntime, type Runtime } from '../runtime/build-runtime.ts';
import { type OpenDatabase, openDatabase, openKeys, requireSchema } from '../runtime/open-database.ts';
import type { Tracing } from '../tracing/start-tracing.ts';
import { answerForMetrics, metricsOfAll } from './cluster-metrics.ts';
import {
  claimAddress,
  loosenTie,
  probeAddress,
  sayServing,
  sharedAddress,
  startProcesses,
} from './processes.ts';
import { recordServiceAddress } from './service-address.store.ts';
import { requireServiceUser } from './service-user.ts';

export type ProcessRole = 'all' | 'api' | 'worker';

export interface ServeOptions {
  role: ProcessRole;
  processes: number;
  env: NodeJS.ProcessEnv;
  /** Where the address of the API comes from, for whoever has to change it; the flags of `serve` by default. */
  addressNames?: AddressNames;
  /** Where the log goes, when that is not stdout. */
  logTo?: NodeJS.WritableStream;
  /** Called once the process answers, with its base address. */
  onReady?: (publicBaseUrl: string) => Promise<void> | void;
  /** Called once it is told to stop. */
  onStopping?: () => void;
}

/** How V8 treats the memory of a service (docs/measurements.md). */
export const V8_FLAGS = [
  // V8 collects the garbage of its old generation when that generation has doubled. By default it may wait until it is four
  // times as large. That took a third more memory, and saved no processor time.
  '--heap-growing-percent=100',
  // By default V8 guesses what will live long, and puts it into the old generation at once. It took what waits for the database
  // for that in some processes, and they fetched orders a third slower until they ended.
  '--no-allocation-site-pretenuring',
];

/** Serve until SIGTERM or SIGINT; the API drains first, and requests in flight are finished. */
export async function serve(options: ServeOptions): Promise<void> {
  V8_FLAGS.forEach(setFlagsFromString);
  loosenTie();
  const config = await withFreePort(loadConfig(options.env), options.addressNames);
  const log = createLog(config.logLevel, options.logTo);
  if (options.processes > 1 && cluster.isPrimary) return serveProcesses(options, config, log);
  const tracing = await startTraces(config, log);
  const opened = await openDatabase(config, log);
  try {
    if (!cluster.isWorker) await requireReady(opened, config);
    const stop = stopSignal(log, options.onStopping);
    const running = await startParts({ ...options, config, log, opened });
    sayServing();
    await options.onReady?.(baseUrlOf(config));
    if ((await stop) === 'SIGTERM') await running.drain();
    await running.stop();
  } finally {
    await opened.release();
    await tracing?.stop();
  }
}

/** What the process that was started first makes sure of, for itself or for those that it starts. */
async function requireReady(opened: OpenDatabase, config: Config): Promise<void> {
  await requireSchema(opened, config);
  await requireServiceUser(opened.url, config);
  await withClient(opened.url, requireKnownPlace);
}

/** OpenTelemetry is loaded only where traces are wanted. */
async function startTraces({ traces }: Config, log: Log): Promise<Tracing | undefined> {
  if (traces === undefined) return undefined;
  const { startTracing } = await import('../tracing/start-tracing.ts');
  return startTracing(traces, log);
}

interface PartOptions extends ServeOptions {
  config: Config;
  log: Log;
  opened: OpenDatabase;
}

interface Running {
  /** Says that it is not ready, and goes on for a time, in which load balancers find somebody else. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the parts of a process. When one cannot start, those that did are stopped again. */
async function startParts(options: PartOptions): Promise<Running> {
  const { role, config, log, opened } = options;
  let api: StartedApi | undefined;
  const { url } = opened;
  const ready = await openKeys(opened, config);
  const runtime = await buildRuntime({ ...ready, url, config, log, now: () => new Date() }).catch(
    async (error: unknown) => {
      await ready.keys.close();
      throw error;
    },
  );
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    runtime.onStopping();
    // Together: else the worker would go on while a long request ends, and be killed with it in the middle of a delivery.
    await Promise.all(stops.map((part) => part()));
    await runtime.close();
  };
  try {
    if (role !== 'api') {
      const worker = buildWorker(runtime, housekeepingSteps(runtime));
      worker.start();
      stops.push(worker.stop);
    }
    if (cluster.isWorker) answerForMetrics(runtime.metrics.registry);
    else if (config.metricsPort !== undefined) {
      const metrics = await listenMetrics(runtime.metrics.registry, config.metricsHost, config.metricsPort);
      stops.push(async () => metrics.close());
    }
    // Last: it stores its address, which commands print. A process that cannot start must not.
    if (role !== 'worker') {
      api = await startApi(runtime, options.addressNames);
      stops.push(api.close);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const fields = { role, pid: process.pid };
  if (role === 'worker') log.info({ event: 'working', ...fields }, 'working');
  else log.info({ event: 'listening', host: config.host, port: config.port, ...fields }, 'listening');
  return {
    async drain() {
      if (api === undefined || config.drainSeconds === 0) return;
      api.health.drain();
      const durationMs = config.drainSeconds * 1_000;
      log.info(
        { event: 'draining', durationMs, pid: process.pid },
        'stopping soon: not ready for new traffic, still answering requests',
      );
      await sleep(durationMs);
    },
    async stop() {
      await stop();
      log.info({ event: 'stopped', pid: process.pid }, 'stopped');
    },
  };
}

interface StartedApi {
  health: Health;
  close(): Promise<void>;
}

async function startApi(runtime: Runtime, names = SERVICE_ADDRESS): Promise<StartedApi> {
  const { host, port } = runtime.config;
  const { server, health } = await buildApi(runtime);
  const close = async () => {
    health.drain();
    await server.close();
  };
  try {
    await server.listen(sharedAddress({ host: await oneAddress(host), port }));
    warnOfBuild(runtime.log);
    // Commands want to know it; a database that takes no writes keeps no service from starting.
    await recordServiceAddress(runtime.db, baseUrlOf(runtime.config)).catch((error: unknown) =>
      runtime.log.warn(
        { event: 'service-address', ...errorFields(error) },
        'the address of the service could not be stored for the commands',
      ),
    );
    return { health, close };
  } catch (error) {
    await close();
    throw listenFailure(error, { host, port }, names);
  }
}

/**
 * Fastify listens on every address of `localhost`, each with a server of its own. It closes the others without waiting for
 * their requests, and what is wrong with a request it would leave to Node.js there.
 */
async function oneAddress(host: string): Promise<string> {
  return host === 'localhost' ? (await lookup(host, { order: 'ipv4first' })).address : host;
}

/**
 * The primary holds the embedded database. Children get its address, and where the master key is, through their
 * environment.
 */
async function serveProcesses(options: ServeOptions, config: Config, log: Log): Promise<void> {
  const address =
    options.role === 'worker'
      ? undefined
      : await claimAddress(config).catch(refused(config, options.addressNames));
  const opened = await openDatabase(config, log);
  try {
    await requireReady(opened, config);
    const { keys, serviceUrl } = await openKeys(opened, config);
    await keys.close();
    const stop = stopSignal(log, options.onStopping);
    const { metricsHost, metricsPort } = config;
    const metrics =
      metricsPort === undefined ? undefined : await listenMetrics(metricsOfAll(), metricsHost, metricsPort);
    const processes = startProcesses(options.processes, log, {
      DATABASE_URL: opened.url,
      DATABASE_URL_FILE: '',
      DATABASE_SERVICE_URL_FILE: '',
      HOST: config.host,
      PORT: String(config.port),
      ...(serviceUrl === undefined ? {} : { DATABASE_SERVICE_URL: serviceUrl }),
      ...(config.masterKey.kind === 'made' ? { MASTER_KEY_FILE: masterKeyPath(config) } : {}),
    });
    let signal: StopSignal = 'SIGINT';
    try {
      await Promise.race([processes.started, stop]);
      await options.onReady?.(baseUrlOf(config));
      signal = await stop;
    } finally {
      await processes.stop(signal);
      metrics?.close();
    }
  } finally {
    address?.release();
    await opened.release();
  }
}

/**
 * Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. Of several processes the one that
 * started the others decides that for all: they end with it, and may get each signal twice.
 */
function stopSignal(log: Log, onStopping: ServeOptions['onStopping']): Promise<StopSignal> {
  return new Promise((resolve) => {
    const onFirst = (signal: StopSignal): void => {
      log.info({ event: 'stopping', signal }, 'stopping: finishing the requests in progress');
      onStopping?.();
      resolve(signal);
    };
    hearStopSignals(onFirst, () => {
      if (!cluster.isWorker) process.exit(1);
    });
    process.on('unhandledRejection', (error) => log.error(errorFields(error), 'unhandled rejection'));
  });
}

/** PORT=0 takes a free port, known before anything is built on the base address. */
export async function withFreePort(config: Config, names?: AddressNames): Promise<Config> {
  if (config.port !== 0) return config;
  return { ...config, port: await probeAddress(config).catch(refused(config, names)) };
}

function refused(config: Config, names = SERVICE_ADDRESS): (error: unknown) => never {
  return (error) => {
    throw listenFailure(error, config, names);
  };
}
