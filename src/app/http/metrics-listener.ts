/** A listener of its own for /metrics, for any role of a process. Contract: OPS-19. */
import type { Server } from 'node:http';
import { errorBody } from '../../platform/http/errors.ts';
import { http } from '../../platform/node-http.ts';
import { listenFailure, METRICS_ADDRESS } from './listen-failure.ts';

export interface MetricsSource {
  contentType: string;
  metrics(): Promise<string>;
}

export async function listenMetrics(source: MetricsSource, host: string, port: number): Promise<Server> {
  const server = http.createServer((request, response) => {
    if (request.url !== '/metrics') {
      response
        .writeHead(404, { 'content-type': 'application/json; charset=utf-8' })
        .end(JSON.stringify(errorBody(404, 'There is no such path. This port serves /metrics only.')));
      return;
    }
    source.metrics().then(
      (text) => response.writeHead(200, { 'content-type': source.contentType }).end(text),
      () =>
        response
          .writeHead(503, { 'content-type': 'application/json; charset=utf-8' })
          .end(JSON.stringify(errorBody(503, 'A process did not report its metrics in time. Try again.'))),
    );
  });
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(port, host, resolve),
  ).catch((error: unknown) => {
    throw listenFailure(error, { host, port }, METRICS_ADDRESS);
  });
  return server;
}
