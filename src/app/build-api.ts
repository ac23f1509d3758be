/** Builds the API of a process. Tests and production use this same builder. */
import fastifySwagger from '@fastify/swagger';
import fastifySwaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { createServer } from '../platform/http/server.ts';
import type { Runtime } from './build-runtime.ts';
import { baseUrlOf } from './config/config.ts';
import { buildFeatures } from './features.ts';
import { fhirErrorWriter } from './http/fhir-errors.ts';
import { createHealth, type Health } from './http/health.ts';
import { openApiOptions } from './http/open-api.ts';
import { type ApiRoute, type HttpMethod, registerRoute } from './http/register-route.ts';
import { warnOfUntrustedProxy } from './http/untrusted-proxy.ts';
import { apiRoutes, rootRoutes } from './routes.ts';

export const API_PREFIX = '/api/v1';

export interface Api {
  server: FastifyInstance;
  health: Health;
  /** The routes as registered, with their full paths. */
  routes: { method: HttpMethod; path: string; route: ApiRoute }[];
}

export async function buildApi(runtime: Runtime, options: { publicBaseUrl?: string } = {}): Promise<Api> {
  const { config, log, metrics, now, databaseTime, callers, hearing } = runtime;
  const publicBaseUrl = options.publicBaseUrl ?? baseUrlOf(config);
  const server = createServer({
    log,
    metrics,
    trustProxy: config.trustProxy,
    writeError: fhirErrorWriter(`${API_PREFIX}/encounters/fhir`),
  });
  if (config.trustProxy.length === 0) warnOfUntrustedProxy(server, log);
  const features = await buildFeatures(runtime, publicBaseUrl);
  const deps = { now, databaseTime, callers, hearing, verifyAccessToken: features.verifyAccessToken };
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

/** Nothing from elsewhere, and no upgrade to https, which a service on a plain address does not have. */
const REFERENCE_PAGE_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  // The hash is of the one style element that the page's bundle makes.
  'style-src': "'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** Its files would otherwise say that they may be cached. */
async function referencePage(scope: FastifyInstance): Promise<void> {
  scope.addHook('onSend', async (_request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  });
  await scope.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    indexPrefix: API_PREFIX,
    staticCSP: REFERENCE_PAGE_POLICY,
  });
}
