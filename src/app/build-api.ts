/** Builds the API of a process. Tests and production use this same builder. */
import fastifySwagger from '@fastify/swagger';
import fastifySwaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { createServer } from '../platform/http/server.ts';
import type { Runtime } from './build-runtime.ts';
import { baseUrlOf } from './config/config.ts';
import { buildFeatures } from './features.ts';
import { createHealth, type Health } from './http/health.ts';
import { openApiOptions } from './http/open-api.ts';
import { type ApiRoute, type HttpMethod, registerRoute } from './http/register-route.ts';
import { apiRoutes, rootRoutes } from './routes.ts';

export const API_PREFIX = '/api/v1';

export interface Api {
  server: FastifyInstance;
  health: Health;
  /** The routes as registered, with their full paths. */
  routes: { method: HttpMethod; path: string; route: ApiRoute }[];
}

export async function buildApi(runtime: Runtime, options: { publicBaseUrl?: string } = {}): Promise<Api> {
  const { config, log, metrics, now, callers, hearing } = runtime;
  const publicBaseUrl = options.publicBaseUrl ?? baseUrlOf(config);
  const server = createServer({ log, metrics, trustProxy: config.trustProxy });
  const features = await buildFeatures(runtime, publicBaseUrl);
  const deps = { now, callers, hearing, verifyAccessToken: features.verifyAccessToken };
  const health = createHealth(runtime);
  health.register(server);
  server.addHook('onClose', async () => {
    features.publisher.close();
    await features.unmapped.close();
  });

  await server.register(fastifySwagger, openApiOptions(publicBaseUrl));
  const api = apiRoutes(features);
  const root = rootRoutes(features);
  await server.register(
    async (scope) => {
      await scope.register(referencePage);
      for (const route of api) registerRoute(scope, deps, route);
    },
    { prefix: API_PREFIX },
  );
  for (const route of root) registerRoute(server, deps, { ...route, hidden: true });
  await server.ready();
  return {
    server,
    health,
    routes: [...root, ...api.map((route) => ({ ...route, path: API_PREFIX + route.path }))],
  };
}

/** Its files would otherwise say that they may be cached. */
async function referencePage(scope: FastifyInstance): Promise<void> {
  scope.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'));
  await scope.register(fastifySwaggerUi, { routePrefix: '/docs', indexPrefix: API_PREFIX, staticCSP: true });
}
