/** Liveness, readiness and metrics, outside the version prefix. */

import { createServer, type Server } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { errorBody } from '../../platform/http/errors.ts';
import type { Runtime } from '../build-runtime.ts';

export interface Health {
  register(server: FastifyInstance): void;
  /** From now on /readyz answers 503, so that a load balancer sends no more. */
  drain(): void;
  /** A listener of its own for /metrics. */
  listenMetrics(port: number): Promise<Server>;
}

export function createHealth({ db, live, metrics, config }: Runtime): Health {
  let draining = false;

  async function readiness(): Promise<{ ready: boolean; checks: Record<string, boolean> }> {
    const database = await db.query('select 1').then(
      () => true,
      () => false,
    );
    return {
      ready: database && !draining,
      checks: { database, notifications: live.up, accepting: !draining },
    };
  }

  return {
    register(server) {
      server.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }));
      server.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
        const { ready, checks } = await readiness();
        return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready', checks });
      });
      server.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
        if (config.metricsPort !== undefined || !isLocal(request))
          return reply
            .code(404)
            .send(errorBody(404, 'There is no such path or method. See the reference at /api/v1/docs.'));
        return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
      });
    },
    drain() {
      draining = true;
    },
    async listenMetrics(port) {
      const server = createServer((request, response) => {
        if (request.url !== '/metrics') {
          response.writeHead(404).end();
          return;
        }
        void metrics.registry.metrics().then((text) => {
          response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text);
        });
      });
      await new Promise<void>((resolve, reject) =>
        server.once('error', reject).listen(port, '127.0.0.1', resolve),
      );
      return server;
    },
  };
}

/** A peer on this machine that no proxy speaks for. */
function isLocal(request: FastifyRequest): boolean {
  const peer = request.socket.remoteAddress ?? '';
  const proxied = ['x-forwarded-for', 'forwarded', 'via'].some((name) => request.headers[name] !== undefined);
  return !proxied && /^(127\.|::1$|::ffff:127\.)/.test(peer);
}
