/**
 * Reads the URL of a database. It may name several servers, in the form that libpq takes:
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS
 * Contract: OPS-31.
 */

export interface DatabaseHost {
  host: string;
  port: number;
}

export interface DatabaseAddress {
  /** For pg, which takes one host: the first. */
  url: string;
  /** The servers in their order; empty where the URL names one. */
  hosts: readonly DatabaseHost[];
  /** Connections to a server that takes no writes are given up. */
  mustWrite: boolean;
  /** How long to wait for one server, in milliseconds. */
  connectMs: number;
}

/** What is wrong with a URL. The message follows the name of its variable, and repeats no part of the URL. */
export class DatabaseUrlError extends Error {
  override name = 'DatabaseUrlError';
}

const CONNECT_MS = 10_000;
/** Shorter where there is another server to try. */
const CONNECT_ONE_OF_SEVERAL_MS = 3_000;
const DEFAULT_PORT = 5_432;

const NO_URL = 'is not a URL. Percent-encode special characters in the user and password, such as @ as %40';

const SEMICOLON = 'separates its hosts with a semicolon. Separate them with a comma';

/** Scheme, user with password, hosts with ports, and the rest. */
const PARTS = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)(.*)$/s;

/** pg checks the certificate of the server for these as for `verify-full`, and warns that this may change. */
const VERIFIED_MODES = /(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/;

/** Throws {@link DatabaseUrlError}. */
export function readDatabaseUrl(given: string): DatabaseAddress {
  const text = /[?&]uselibpqcompat=/.test(given) ? given : given.replace(VERIFIED_MODES, 'verify-full');
  const parts = PARTS.exec(text);
  if (parts === null) throw new DatabaseUrlError('must start with postgres:// or postgresql://');
  const [, scheme = '', user = '', authority = '', rest = ''] = parts;
  if (authority.includes(';')) throw new DatabaseUrlError(SEMICOLON);
  // The standard of URLs knows one host.
  const url = URL.parse(authority.includes(',') ? `${scheme}${user}host${rest}` : text);
  if (url === null) throw new DatabaseUrlError(NO_URL);
  const query = url.searchParams;
  const hosts = listHosts(authority, query);
  const [first] = hosts;
  const mustWrite = readMustWrite(query, hosts.length > 0);
  const connectMs = readConnectMs(query) ?? (hosts.length > 0 ? CONNECT_ONE_OF_SEVERAL_MS : CONNECT_MS);
  if (first === undefined) return { url: text, hosts, mustWrite, connectMs };
  query.set('host', first.host);
  query.set('port', String(first.port));
  return { url: url.href, hosts, mustWrite, connectMs };
}

/** For one of several servers, whether or not it takes writes, with everything else as the URL says it. */
export function urlOfHost({ url, connectMs }: DatabaseAddress, { host, port }: DatabaseHost): string {
  const own = new URL(url);
  own.searchParams.set('host', host);
  own.searchParams.set('port', String(port));
  own.searchParams.set('target_session_attrs', 'any');
  own.searchParams.set('connect_timeout', String(connectMs / 1_000));
  return own.href;
}

/** Parameters of the query go before the address, in libpq as in pg. Empty for one host. */
function listHosts(authority: string, query: URLSearchParams): DatabaseHost[] {
  if (query.get('host')?.includes(';')) throw new DatabaseUrlError(SEMICOLON);
  const given = query.get('host')?.split(',');
  const named = authority.split(',').map(hostAndPort);
  const hosts = given ?? named.map(({ host }) => host);
  const ports = query.get('port')?.split(',') ?? (given === undefined ? named.map(({ port }) => port) : ['']);
  const numbers = ports.map(portOf);
  if (hosts.length === 1 && ports.length === 1) return [];
  if (ports.length !== 1 && ports.length !== hosts.length)
    throw new DatabaseUrlError(
      `names ${hosts.length} host(s) and ${ports.length} ports. Give one port for each host, or one for all`,
    );
  if (hosts.includes(''))
    throw new DatabaseUrlError('has an empty name in its list of hosts. Remove a comma');
  return hosts.map((host, index) => ({ host, port: numbers[index] ?? numbers[0] ?? DEFAULT_PORT }));
}

function hostAndPort(text: string): { host: string; port: string } {
  const [, name = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text) ?? [];
  try {
    return { host: decodeURIComponent(new URL(`postgres://${name}`).host.replace(/^\[(.*)\]$/, '$1')), port };
  } catch {
    throw new DatabaseUrlError(NO_URL);
  }
}

function portOf(text: string): number {
  const port = text === '' ? DEFAULT_PORT : Number(text);
  if (!/^\d*$/.test(text) || port < 1 || port > 65_535)
    throw new DatabaseUrlError('has a port that is not a number from 1 to 65535');
  return port;
}

/** The service writes with every read of patient data, so that a standby is of no use where there are others. */
function readMustWrite(query: URLSearchParams, several: boolean): boolean {
  const attributes = query.get('target_session_attrs');
  if (attributes === null) return several;
  if (!['any', 'primary', 'read-write'].includes(attributes))
    throw new DatabaseUrlError(
      'asks with target_session_attrs for a server that the service cannot use. Set it to read-write, because every access to patient data is written down',
    );
  return attributes !== 'any';
}

function readConnectMs(query: URLSearchParams): number | undefined {
  const seconds = query.get('connect_timeout');
  if (seconds === null) return undefined;
  if (!/^[1-9]\d{0,2}$/.test(seconds))
    throw new DatabaseUrlError('has a connect_timeout that is not a whole number of seconds from 1 to 999');
  return Number(seconds) * 1_000;
}
