/** Sends load to one address and reads off its rate and its slowest answers. */
import autocannon from 'autocannon';

export interface Measurement {
  requestsPerSecond: number;
  /** Milliseconds. */
  p99: number;
  /** Answers other than 2xx, and errors. */
  failures: number;
}

export interface Load {
  url: string;
  headers?: Record<string, string>;
  /** Paths that are asked for in turn. */
  paths: readonly string[];
  seconds: number;
  connections: number;
}

export async function measure(load: Load): Promise<Measurement> {
  let sent = 0;
  const nextPath = () => {
    sent += 1;
    return load.paths[sent % load.paths.length] ?? '/';
  };
  const result = await autocannon({
    url: load.url,
    connections: load.connections,
    duration: load.seconds,
    headers: load.headers ?? {},
    // One request that changes its path: a list would be prepared anew for each connection.
    requests: [{ method: 'GET', setupRequest: (request) => ({ ...request, path: nextPath() }) }],
  });
  return {
    requestsPerSecond: Math.round(result.requests.average),
    p99: result.latency.p99,
    failures: result.errors + result.non2xx,
  };
}

/** The run with the middle rate. */
export function median(measurements: readonly Measurement[]): Measurement {
  const sorted = [...measurements].sort((a, b) => a.requestsPerSecond - b.requestsPerSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('nothing was measured');
  return middle;
}
