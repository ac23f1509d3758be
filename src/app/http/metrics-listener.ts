/** A loopback listener of its own for /metrics, for any role of a process. */
import { createServer, type Server } from 'node:http';
import { errorBody } from '../../platform/http/errors.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import { listenFailure, METRICS_ADDRESS } from './listen-failure.ts';

const HOST = '127.0.0.1';

export async function listenMetrics({ metrics }: { metrics: Metrics }, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response
        .writeHead(404, { 'content-type': 'application/json; charset=utf-8' })
        .end(JSON.stringify(errorBody(404, 'This listener has /metrics only.')));
      return;
    }
    void metrics.registry.metrics().then((text) => {
      response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text);
    });
  });
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(port, HOST, resolve),
  ).catch((error: unknown) => {
    throw listenFailure(error, { host: HOST, port }, METRICS_ADDRESS);
  });
  return server;
}
