/** The one way of making load: HTTP requests over kept connections, each connection one request at a time. */
import autocannon from 'autocannon';

export interface Measurement {
  perSecond: number;
  /** Milliseconds that half, and all but the slowest hundredth of the answers took at most. 0 where not measured. */
  p50Ms: number;
  p99Ms: number;
}

export interface LoadRequest {
  path: string;
  method?: 'GET' | 'POST';
  body?: string;
}

export interface Load {
  url: string;
  headers?: Record<string, string>;
  /** 64 if not given. */
  connections?: number;
  next(): LoadRequest;
  /** Gets the body of each answer. */
  answered?(body: string): void;
}

const CONNECTIONS = 64;
const NO_TIMEOUT_SECONDS = 60;

/** Throws when any answer is not 2xx: a rate of refusals says nothing. */
export async function measure(
  load: Load,
  until: { seconds: number } | { requests: number },
): Promise<Measurement> {
  const connections = load.connections ?? CONNECTIONS;
  const startedMs = performance.now();
  let lastMs = startedMs;
  const options: autocannon.Options = {
    url: load.url,
    connections: 'requests' in until ? Math.min(connections, until.requests) : connections,
    timeout: NO_TIMEOUT_SECONDS,
    headers: load.headers ?? {},
    ...('requests' in until ? { amount: until.requests } : { duration: until.seconds }),
    // One request that changes: a list would be prepared anew for each connection.
    requests: [
      {
        setupRequest: (request) => ({ ...request, ...load.next() }),
        ...(load.answered === undefined
          ? {}
          : { onResponse: (_status: number, body: string) => load.answered?.(body) }),
      },
    ],
  };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const running = autocannon(options, (error, found) => (error === null ? resolve(found) : reject(error)));
    // Its own duration ends at a whole second.
    running.on('response', () => {
      lastMs = performance.now();
    });
  });
  const failures = result.errors + result.non2xx;
  if (failures > 0)
    throw new Error(
      `${failures} of ${result.requests.total} requests failed: ${JSON.stringify(result.statusCodeStats)}`,
    );
  return {
    perSecond: result['2xx'] === 0 ? 0 : (result['2xx'] * 1_000) / (lastMs - startedMs),
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  };
}

/** The paths one after the other, and from the first again. */
export function inTurn(paths: readonly string[]): () => LoadRequest {
  let index = -1;
  return () => {
    index += 1;
    return { path: paths[index % paths.length] ?? '/' };
  };
}

/** A rate alone. */
export function rateOf(count: number, seconds: number): Measurement {
  return { perSecond: count / seconds, p50Ms: 0, p99Ms: 0 };
}

/** The one with the middle rate. */
export function median(measurements: readonly Measurement[]): Measurement {
  const sorted = [...measurements].sort((a, b) => a.perSecond - b.perSecond);
  const found = sorted[Math.floor(sorted.length / 2)];
  if (found === undefined) throw new Error('Nothing was measured.');
  return found;
}

export function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function describe({ perSecond, p50Ms, p99Ms }: Measurement): string {
  const rate = `${wholeNumber(perSecond)}/s`;
  return p99Ms === 0 ? rate : `${rate}, p50 ${wholeNumber(p50Ms)} ms, p99 ${wholeNumber(p99Ms)} ms`;
}

/** `10123.4` → `10,123`; below ten with a digit behind the point. */
export function wholeNumber(value: number): string {
  return value < 10 ? String(Math.round(value * 10) / 10) : Math.round(value).toLocaleString('en');
}
