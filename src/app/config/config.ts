/**
 * The configuration of a process: typed, complete, read once. `docs/environment.md` documents each variable.
 * Contract: SIGN-IN-14, HTTP-22, OPS-11, OPS-12, OPS-13.
 */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { DeliveryRetention } from '../../exchange/queue/retention.store.ts';
import type { DeliverySettings } from '../../exchange/worker/delivery-settings.ts';
import { splitList } from '../../platform/command/split-list.ts';
import { type DatabaseUrlError, readDatabaseUrl } from '../../platform/db/connection/database-url.ts';
import { PUBLISH } from '../../publish/servers/publish-settings.ts';
import { CLOCK_SKEW_SECONDS, DEFAULT_SIGN_IN_SETTINGS, type SignInSettings } from '../../sign-in/settings.ts';
import { deliverySettings } from './delivery.ts';
import { ConfigError, type EnvironmentReader, readEnvironment } from './environment.ts';
import { timeLimits, type WorkLimits } from './time-limits.ts';
import { type TraceSettings, traceSettings } from './traces.ts';

/** Seconds. */
const DAY = 86_400;

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent';

export interface Config {
  /** An operator's own PostgreSQL, or the embedded one. */
  database: { kind: 'url'; url: string; serviceUrl: string | undefined } | { kind: 'embedded' };
  /** Connections of one process at most. */
  databaseConnections: number;
  timeLimits: WorkLimits;
  /** Absolute folder of the embedded database and of the master key made for it. */
  dataDir: string;
  host: string;
  port: number;
  /** Without a trailing slash; ends in /api/v1. Undefined: derived from the address that is listened on. */
  publicBaseUrl: string | undefined;
  masterKey: { kind: 'value'; key: Buffer } | { kind: 'file'; path: string } | { kind: 'made' };
  logLevel: LogLevel;
  /** Undefined: no traces. */
  traces: TraceSettings | undefined;
  /** A listener of its own for /metrics; without a port /metrics answers loopback peers only. */
  metricsHost: string;
  metricsPort: number | undefined;
  /** Proxies (addresses or CIDR ranges) whose `x-forwarded-for` is believed. */
  trustProxy: string[];
  /** The clock of a process may differ from the database's by this much. */
  clockMaxSkewSeconds: number;
  /** Numbers of the sign-in rules. */
  signIn: SignInSettings;
  importMaxBytes: number;
  /** Seconds without a byte of its body after which an import is given up. */
  importIdleSeconds: number;
  /** URLs of modifier extensions and implicit rules that an import understands. */
  importUnderstoodExtensions: string[];
  /** How long it goes on answering after SIGTERM, while /readyz says 503. */
  drainSeconds: number;
  /** Days that things are kept; 0: for ever. */
  retention: DeliveryRetention & { unmappedCodeDays: number; publishDays: number; importDays: number };
  /** Publishes of one account that may wait in one process for others to end. */
  publishWaitingPerAccount: number;
  delivery: DeliverySettings;
}

/** Read the configuration. Throws {@link ConfigError} with every fault at once. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const reader = readEnvironment(env);
  const url = reader.textOrFile('DATABASE_URL', 'DATABASE_URL_FILE');
  checkDatabaseUrl(reader, 'DATABASE_URL', url);
  const serviceUrl = reader.textOrFile('DATABASE_SERVICE_URL', 'DATABASE_SERVICE_URL_FILE');
  checkDatabaseUrl(reader, 'DATABASE_SERVICE_URL', serviceUrl);
  if (serviceUrl !== undefined && url === undefined)
    reader.fault('DATABASE_SERVICE_URL', 'needs DATABASE_URL too');
  const config: Config = {
    database: url === undefined ? { kind: 'embedded' } : { kind: 'url', url, serviceUrl },
    databaseConnections: reader.integer('DATABASE_CONNECTIONS', { min: 2, max: 200, fallback: 10 }),
    timeLimits: timeLimits(reader),
    dataDir: resolve(reader.text('DATA_DIR') ?? './data'),
    host: reader.text('HOST') ?? '127.0.0.1',
    port: reader.integer('PORT', { min: 0, max: 65_535, fallback: 3000 }),
    publicBaseUrl: publicBaseUrl(reader),
    masterKey: masterKey(reader, url !== undefined),
    logLevel: reader.choice('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'silent'], 'info'),
    traces: traceSettings(reader),
    metricsHost: reader.text('METRICS_HOST') ?? '127.0.0.1',
    metricsPort: optionalPort(reader, 'METRICS_PORT'),
    trustProxy: trustedProxies(reader),
    clockMaxSkewSeconds: reader.integer('CLOCK_MAX_SKEW_SECONDS', {
      min: 1,
      max: CLOCK_SKEW_SECONDS,
      fallback: 30,
    }),
    signIn: {
      ...DEFAULT_SIGN_IN_SETTINGS,
      accessTokenSeconds: reader.integer('ACCESS_TOKEN_SECONDS', { min: 60, max: 3_600, fallback: 900 }),
      refreshTokenSeconds: DAY * reader.integer('REFRESH_TOKEN_DAYS', { min: 1, max: 365, fallback: 30 }),
      sessionSeconds: DAY * reader.integer('SESSION_DAYS', { min: 1, max: 365, fallback: 90 }),
      consoleIdleSeconds: 60 * reader.integer('CONSOLE_IDLE_MINUTES', { min: 1, max: 1_440, fallback: 30 }),
      consoleSessionSeconds:
        3_600 * reader.integer('CONSOLE_SESSION_HOURS', { min: 1, max: 168, fallback: 12 }),
      lockFailures: reader.integer('SIGN_IN_LOCK_FAILURES', { min: 1, max: 100, fallback: 5 }),
      lockWindowSeconds: reader.integer('SIGN_IN_LOCK_WINDOW_SECONDS', {
        min: 1,
        max: 86_400,
        fallback: 900,
      }),
      lockSeconds: reader.integer('SIGN_IN_LOCK_SECONDS', { min: 1, max: 86_400, fallback: 900 }),
      hashConcurrency: reader.integer('PASSWORD_HASH_CONCURRENCY', { min: 1, max: 64, fallback: 2 }),
      hashQueue: reader.integer('PASSWORD_HASH_QUEUE', { min: 0, max: 10_000, fallback: 32 }),
    },
    importMaxBytes: reader.integer('IMPORT_MAX_BYTES', { min: 1_024, max: 2 ** 40, fallback: 256 * 2 ** 20 }),
    importIdleSeconds: reader.integer('IMPORT_IDLE_SECONDS', { min: 1, max: 3_600, fallback: 60 }),
    importUnderstoodExtensions: understoodExtensions(reader),
    drainSeconds: reader.integer('DRAIN_SECONDS', { min: 0, max: 3_600, fallback: 5 }),
    retention: {
      payloadDays: keptDays(reader, 'DELIVERY_PAYLOAD_DAYS', 400),
      historyDays: keptDays(reader, 'DELIVERY_HISTORY_DAYS', 800),
      unmappedCodeDays: keptDays(reader, 'UNMAPPED_CODE_DAYS', 400),
      publishDays: keptDays(reader, 'PUBLISH_HISTORY_DAYS', 400),
      importDays: keptDays(reader, 'IMPORT_HISTORY_DAYS', 400),
    },
    publishWaitingPerAccount: reader.integer('PUBLISH_WAITING_PER_ACCOUNT', {
      min: 1,
      max: 10_000,
      fallback: PUBLISH.waitingPerAccount,
    }),
    delivery: deliverySettings(reader),
  };
  if (reader.faults.length > 0) throw new ConfigError(reader.faults);
  return config;
}

/** The public base address: the configured one, or the address that is listened on. */
export function baseUrlOf(config: Config): string {
  return config.publicBaseUrl ?? localBaseUrlOf(config);
}

/** The base address on this machine, whatever PUBLIC_BASE_URL says. */
export function localBaseUrlOf({ host: given, port }: Pick<Config, 'host' | 'port'>): string {
  const host = given === '0.0.0.0' || given === '::' ? 'localhost' : given;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/api/v1`;
}

function checkDatabaseUrl(reader: EnvironmentReader, name: string, url: string | undefined): void {
  try {
    if (url !== undefined) readDatabaseUrl(url);
  } catch (error) {
    reader.fault(name, (error as DatabaseUrlError).message);
  }
}

function keptDays(reader: EnvironmentReader, name: string, fallback: number): number {
  return reader.integer(name, { min: 0, max: 36_500, fallback });
}

function publicBaseUrl(reader: EnvironmentReader): string | undefined {
  const text = reader.text('PUBLIC_BASE_URL');
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || hasMoreThanPlace(url)) {
    const fault = 'must be an http or https address without user, password, query or fragment';
    reader.fault('PUBLIC_BASE_URL', fault);
    return undefined;
  }
  const path = url.pathname.replace(/\/$/, '');
  if (!path.endsWith('/api/v1')) reader.fault('PUBLIC_BASE_URL', 'must end in /api/v1');
  return url.origin + path;
}

/** Paths are put behind the text of an address, so nothing may stand there. */
function hasMoreThanPlace({ username, password, search, hash }: URL): boolean {
  return [username, password, search, hash].some((part) => part !== '');
}

function masterKey(reader: EnvironmentReader, required: boolean): Config['masterKey'] {
  const value = reader.text('MASTER_KEY');
  const path = reader.text('MASTER_KEY_FILE');
  if (value !== undefined && path !== undefined)
    reader.fault('MASTER_KEY', 'and MASTER_KEY_FILE are both set. Remove one of them');
  if (value !== undefined) {
    const key = parseMasterKey(value);
    if (key === undefined) reader.fault('MASTER_KEY', MASTER_KEY_SHAPE);
    return { kind: 'value', key: key ?? Buffer.alloc(32) };
  }
  if (path !== undefined) {
    // A rotation replaces the file, so that it is read again whenever the key is needed.
    const text = reader.file('MASTER_KEY_FILE', path);
    if (text !== undefined && parseMasterKey(text) === undefined)
      reader.fault('MASTER_KEY_FILE', `names a file whose content ${MASTER_KEY_SHAPE}`);
    return { kind: 'file', path: resolve(path) };
  }
  if (required)
    reader.fault(
      'MASTER_KEY',
      'or MASTER_KEY_FILE is required with DATABASE_URL. Make a key with: openssl rand -hex 32',
    );
  return { kind: 'made' };
}

export const MASTER_KEY_SHAPE = 'must be 32 bytes: 64 hex digits, or base64';

/** 32 bytes from hex or base64; undefined when the text is neither. */
export function parseMasterKey(text: string): Buffer | undefined {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
  const bytes = Buffer.from(trimmed, 'base64');
  return bytes.length === 32 && /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed) ? bytes : undefined;
}

function understoodExtensions(reader: EnvironmentReader): string[] {
  const urls = splitList(reader.text('IMPORT_UNDERSTOOD_EXTENSIONS') ?? '');
  if (!urls.every((url) => /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(url)))
    reader.fault('IMPORT_UNDERSTOOD_EXTENSIONS', 'must list absolute URLs, separated by commas');
  return urls;
}

/** Addresses, CIDR ranges, or the names of ranges that a proxy is usually in. */
function trustedProxies(reader: EnvironmentReader): string[] {
  const parts = splitList(reader.text('TRUST_PROXY') ?? '');
  if (!parts.every(isAddressRange))
    reader.fault(
      'TRUST_PROXY',
      'must list addresses or CIDR ranges, for example 10.0.0.0/8,192.168.1.7, or loopback, linklocal, uniquelocal',
    );
  return parts;
}

function isAddressRange(text: string): boolean {
  if (/^(loopback|linklocal|uniquelocal)$/.test(text)) return true;
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function optionalPort(reader: EnvironmentReader, name: string): number | undefined {
  if (reader.text(name) === undefined) return undefined;
  return reader.integer(name, { min: 0, max: 65_535, fallback: 0 });
}
