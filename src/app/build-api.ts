/** Builds the API of a process. Tests and production use this same builder. Contract: HTTP-27, WEB-52. */
import fastifySwagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createServer } from '../platform/http/server.ts';
import { consoleAddress } from '../sign-in/console/console-address.ts';
import { baseUrlOf } from './config/config.ts';
import { leadBrowsers } from './console/lead-browsers.ts';
import { buildFeatures } from './features.ts';
import { CONSOLE_PREFIX, consoleRewrite, guardConsole } from './http/console-mount.ts';
import { fhirErrorWriter } from './http/fhir-errors.ts';
import { createHealth, type Health } from './http/health.ts';
import { openApiDocument } from './http/open-api.ts';
import type { Json } from './http/open-api-schemas.ts';
import { referencePage } from './http/reference-page.ts';
import { type ApiRoute, type HttpMethod, querySchemaOf, registerRoute } from './http/register-route.ts';
import { warnOfUntrustedProxy } from './http/untrusted-proxy.ts';
import { apiRoutes, consoleRoutes, rootRoutes } from './routes.ts';
import type { Runtime } from './runtime/build-runtime.ts';

export const API_PREFIX = '/api/v1';
/** Of the FHIR read interface. */
const FHIR_PATH = '/encounters/fhir';

export interface Api {
  server: FastifyInstance;
  health: Health;
  /** The routes as registered, with their full paths. */
  routes: { method: HttpMethod; path: string; route: ApiRoute }[];
  /** Those of the console alone. */
  consoleRoutes: Api['routes'];
  /** The OpenAPI document. */
  openApi(): object;
}

export async function buildApi(runtime: Runtime, options: { publicBaseUrl?: string } = {}): Promise<Api> {
  const { config, log, metrics, now, databaseTime, callers, changes } = runtime;
  const publicBaseUrl = options.publicBaseUrl ?? baseUrlOf(config);
  const server = createServer({
    log,
    metrics,
    trustProxy: config.trustProxy,
    rewriteUrl: consoleRewrite(API_PREFIX),
    leadTo: leadBrowsers,
    writeError: fhirErrorWriter(API_PREFIX + FHIR_PATH),
  });
  if (config.trustProxy.length === 0) warnOfUntrustedProxy(server, log);
  guardConsole(server);
  const features = await buildFeatures(runtime, publicBaseUrl);
  const { verifyAccessToken, identifyConsole, activity } = features;
  const passwordPage = `${consoleAddress(publicBaseUrl)}change-password`;
  const deps = {
    now,
    databaseTime,
    callers,
    changes,
    verifyAccessToken,
    identifyConsole,
    activity,
    passwordPage,
  };
  const health = createHealth(runtime);
  health.register(server);
  server.addHook('onClose', async () => {
    features.publisher.close();
    await features.unmapped.close();
    await features.activity.close();
  });

  const api = apiRoutes(features);
  const own = consoleRoutes(features);
  const documented = [...api, ...own.map((entry) => ({ ...entry, atConsole: true }))].map((entry) => ({
    ...entry,
    query: querySchemaOf(entry.route),
  }));
  const document: Json = {};
  /** Made when somebody first asks for it. */
  const openApi = () => {
    if (document.openapi === undefined)
      Object.assign(document, openApiDocument(documented, { publicBaseUrl, fhirPath: FHIR_PATH }));
    return document;
  };
  await server.register(fastifySwagger, { mode: 'static', specification: { document: document as never } });
  const root = rootRoutes(features);
  await server.register(
    async (scope) => {
      await scope.register(referencePage(new URL(publicBaseUrl).pathname, openApi));
      for (const route of api) registerRoute(scope, deps, route);
    },
    { prefix: API_PREFIX },
  );
  for (const route of root) registerRoute(server, deps, route);
  for (const route of own)
    registerRoute(server, deps, { ...route, path: CONSOLE_PREFIX + route.path, atConsole: true });
  await server.ready();
  return {
    server,
    health,
    routes: [...root, ...api.map((route) => ({ ...route, path: API_PREFIX + route.path }))],
    consoleRoutes: own.map((route) => ({ ...route, path: CONSOLE_PREFIX + route.path })),
    openApi,
  };
}
