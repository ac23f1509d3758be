/** Builds the API of a process. Tests and production use this same builder. Contract: HTTP-27. */
import fastifySwagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createServer } from '../platform/http/server.ts';
import type { Runtime } from './build-runtime.ts';
import { baseUrlOf } from './config/config.ts';
import { buildFeatures } from './features.ts';
import { fhirErrorWriter } from './http/fhir-errors.ts';
import { createHealth, type Health } from './http/health.ts';
import { openApiDocument } from './http/open-api.ts';
import { referencePage } from './http/reference-page.ts';
import { type ApiRoute, type HttpMethod, querySchemaOf, registerRoute } from './http/register-route.ts';
import { warnOfUntrustedProxy } from './http/untrusted-proxy.ts';
import { apiRoutes, rootRoutes } from './routes.ts';

export const API_PREFIX = '/api/v1';
/** Of the FHIR read interface. */
const FHIR_PATH = '/encounters/fhir';

export interface Api {
  server: FastifyInstance;
  health: Health;
  /** The routes as registered, with their full paths. */
  routes: { method: HttpMethod; path: string; route: ApiRoute }[];
}

export async function buildApi(runtime: Runtime, options: { publicBaseUrl?: string } = {}): Promise<Api> {
  const { config, log, metrics, now, databaseTime, callers, changes } = runtime;
  const publicBaseUrl = options.publicBaseUrl ?? baseUrlOf(config);
  const server = createServer({
    log,
    metrics,
    trustProxy: config.trustProxy,
    writeError: fhirErrorWriter(API_PREFIX + FHIR_PATH),
  });
  if (config.trustProxy.length === 0) warnOfUntrustedProxy(server, log);
  const features = await buildFeatures(runtime, publicBaseUrl);
  const deps = { now, databaseTime, callers, changes, verifyAccessToken: features.verifyAccessToken };
  const health = createHealth(runtime);
  health.register(server);
  server.addHook('onClose', async () => {
    features.publisher.close();
    await features.unmapped.close();
  });

  const api = apiRoutes(features);
  const documented = api.map((entry) => ({ ...entry, query: querySchemaOf(entry.route) }));
  const document = openApiDocument(documented, { publicBaseUrl, fhirPath: FHIR_PATH });
  await server.register(fastifySwagger, { mode: 'static', specification: { document: document as never } });
  const root = rootRoutes(features);
  await server.register(
    async (scope) => {
      await scope.register(referencePage(API_PREFIX));
      for (const route of api) registerRoute(scope, deps, route);
    },
    { prefix: API_PREFIX },
  );
  for (const route of root) registerRoute(server, deps, route);
  await server.ready();
  return {
    server,
    health,
    routes: [...root, ...api.map((route) => ({ ...route, path: API_PREFIX + route.path }))],
  };
}
