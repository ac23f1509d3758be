/** Liveness, readiness and metrics, outside the version prefix. Contract: OPS-18, OPS-30. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { WrongMasterKeyError } from '../../platform/crypto/data-keys.ts';
import type { ClockWatch } from '../../platform/db/clock-watch.ts';
import { HttpError, NO_SUCH_PATH, unavailable } from '../../platform/http/errors.ts';
import type { Runtime } from '../runtime/build-runtime.ts';
import { skewText } from '../runtime/clock.ts';

/** A database that takes longer for such a small question counts as one that does not answer. */
const DATABASE_TIMEOUT_MS = 3_000;

const HIDDEN = { schema: { hide: true }, config: { untraced: true } };

export interface Health {
  register(server: FastifyInstance): void;
  /** From now on /readyz answers 503, so that a load balancer sends no more, and each answer ends its connection. */
  drain(): void;
}

export function createHealth({ clock, db, keys, live, log, metrics, config, work, writes }: Runtime): Health {
  let draining = false;
  let drainingIsLogged = false;

  let asking: Promise<void> | undefined;

  /** Callers that ask together share one answer, so that a flood of them takes one connection. Throws 503. */
  function requireDatabase(): Promise<void> {
    asking ??= askDatabase().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  /** Load balancers ask many times in one drain: the first answer is in the log. */
  function stopping(): HttpError {
    const isLogged = drainingIsLogged;
    drainingIsLogged = true;
    return new HttpError(
      503,
      'draining',
      {
        en: 'Not ready: this process is stopping. Send requests to another one.',
        fr: 'Pas prêt : ce processus s’arrête. Envoyez les requêtes à un autre.',
      },
      {
        headers: { 'retry-after': '5' },
        isLogged,
      },
    );
  }

  async function askDatabase(): Promise<void> {
    const silent = () => (writes.refused ? noWrites() : noDatabase());
    const late = sleep(DATABASE_TIMEOUT_MS, undefined, { ref: false }).then(() => {
      throw silent();
    });
    const asked = writes.refused ? writes.probe(db) : clock.compare();
    const answer = Promise.all([asked, keys.check(db)]).catch((error: Error) => {
      if (!(error instanceof WrongMasterKeyError)) throw silent();
      log.error({ event: 'master-key' }, error.message);
      throw otherMasterKey();
    });
    await Promise.race([answer, late]);
  }

  return {
    register(server) {
      server.addHook('onRequest', async (_request, { raw }) => {
        if (draining) raw.setHeader('connection', 'close');
      });
      server.get('/healthz', HIDDEN, async () => ({ status: 'ok' }));
      server.get('/readyz', HIDDEN, async () => {
        if (draining) throw stopping();
        await requireDatabase();
        if (clock.isOff()) throw clockIsOff(clock);
        const checks = { database: true, clock: true, notifications: live.up };
        const failing = [...work.failing()].map(([name, { length }]) => [name, length] as const);
        // Anybody may ask: how many, and not which. The metrics name them.
        return {
          status: 'ready',
          checks,
          ...(failing.length > 0 && { failing: Object.fromEntries(failing) }),
        };
      });
      server.get('/metrics', HIDDEN, async (request, reply) => {
        if (config.metricsPort !== undefined || !isLocal(request))
          throw new HttpError(404, 'not_found', NO_SUCH_PATH);
        return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
      });
    },
    drain() {
      draining = true;
    },
  };
}

const noDatabase = () =>
  unavailable(
    {
      en: 'Not ready: the service cannot reach its database. Check that the database runs.',
      fr: 'Pas prêt : le service n’atteint pas sa base de données. Vérifiez que la base fonctionne.',
    },
    2,
    'database',
  );
const noWrites = () =>
  unavailable(
    {
      en: 'Not ready: the database is read-only. Check that its disk is not full.',
      fr: 'Pas prêt : la base de données est en lecture seule. Vérifiez que son disque n’est pas plein.',
    },
    5,
    'database_refuses',
  );
const otherMasterKey = () =>
  unavailable(
    {
      en: 'Not ready: the database needs another master key. The log says which one.',
      fr: 'Pas prêt : la base de données demande une autre clé maîtresse. Le journal dit laquelle.',
    },
    60,
    'master_key',
  );

const clockIsOff = (clock: ClockWatch) =>
  unavailable(
    {
      en: `Not ready: the clock of this machine is ${skewText(clock)}. Correct the wrong one. The service then continues by itself.`,
      fr: `Pas prêt : l’horloge de cette machine s’écarte de ${Math.abs(Math.round(clock.aheadSeconds()))} s de celle de la base de données. Corrigez celle qui est fausse. Le service reprend ensuite de lui-même.`,
    },
    30,
    'clock',
  );

/** A peer on this machine that no proxy speaks for. */
function isLocal(request: FastifyRequest): boolean {
  const peer = request.socket.remoteAddress ?? '';
  const proxied = ['x-forwarded-for', 'forwarded', 'via'].some((name) => request.headers[name] !== undefined);
  return !proxied && /^(127\.|::1$|::ffff:127\.)/.test(peer);
}
