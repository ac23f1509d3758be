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
    const answer = (status: number, type: string, text: string) =>
      response.writeHead(status, { 'content-type': type }).end(text);
    const refuse = (status: number, message: string) =>
      answer(status, 'application/json; charset=utf-8', JSON.stringify(errorBody(status, message)));
    if (request.url !== '/metrics') refuse(404, 'There is no such path. This port serves /metrics only.');
    else
      source.metrics().then(
        (text) => answer(200, source.contentType, text),
        () => refuse(503, 'A process did not report its metrics in time. Try again.'),
      );
  });
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(port, host, resolve),
  ).catch((error: unknown) => {
    throw listenFailure(error, { host, port }, METRICS_ADDRESS);
  });
  return server;
}
