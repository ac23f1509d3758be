/** Liveness, readiness and metrics, outside the version prefix. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { errorBody, NO_SUCH_PATH, unavailable } from '../../platform/http/errors.ts';
import type { Runtime } from '../build-runtime.ts';
import { skewText } from '../clock.ts';

/** A database that takes longer to answer nothing cannot serve. */
const DATABASE_TIMEOUT_MS = 3_000;

const HIDDEN = { schema: { hide: true } };

export interface Health {
  register(server: FastifyInstance): void;
  /** From now on /readyz answers 503, so that a load balancer sends no more. */
  drain(): void;
}

export function createHealth({ clock, live, metrics, config }: Runtime): Health {
  let draining = false;

  let asking: Promise<boolean> | undefined;

  /** Callers that ask together share one answer, so that a flood of them takes one connection. */
  function databaseAnswers(): Promise<boolean> {
    asking ??= askDatabase().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  async function askDatabase(): Promise<boolean> {
    const late = sleep(DATABASE_TIMEOUT_MS, false, { ref: false });
    const answer = clock.compare().then(
      () => true,
      () => false,
    );
    return Promise.race([answer, late]);
  }

  return {
    register(server) {
      server.get('/healthz', HIDDEN, async () => ({ status: 'ok' }));
      server.get('/readyz', HIDDEN, async () => {
        if (draining) throw unavailable('Not ready: the service is stopping.', 5, 'draining');
        if (!(await databaseAnswers()))
          throw unavailable('Not ready: the database cannot be reached.', 2, 'database');
        if (clock.isOff())
          throw unavailable(
            `Not ready: the clock of this machine is ${skewText(clock)}. Set it right; the service then goes on by itself.`,
            30,
            'clock',
          );
        return { status: 'ready', checks: { database: true, clock: true, notifications: live.up } };
      });
      server.get('/metrics', HIDDEN, async (request, reply) => {
        if (config.metricsPort !== undefined || !isLocal(request))
          return reply.code(404).send(errorBody(404, NO_SUCH_PATH));
        return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
      });
    },
    drain() {
      draining = true;
    },
  };
}

/** A peer on this machine that no proxy speaks for. */
function isLocal(request: FastifyRequest): boolean {
  const peer = request.socket.remoteAddress ?? '';
  const proxied = ['x-forwarded-for', 'forwarded', 'via'].some((name) => request.headers[name] !== undefined);
  return !proxied && /^(127\.|::1$|::ffff:127\.)/.test(peer);
}
