/** Builds the API of a process. Tests and production use this same builder. Contract: HTTP-27, WEB-52. */
import fastifySwagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createServer } from '../platform/http/server.ts';
import { consoleAddress } from '../sign-in/console/console-address.ts';
import { baseUrlOf } from './config/config.ts';
import { buildFeatures } from './features.ts';
import { CONSOLE_PREFIX, consoleRewrite, guardConsole, leadBrowsers } from './http/console-mount.ts';
import { fhirErrorWriter, noSuchFhirPath } from './http/fhir-errors.ts';
import { createHealth, type Health } from './http/health.ts';
import { openApiDocument } from './http/open-api.ts';
import type { Json } from './http/open-api-schemas.ts';
import { referencePage } from './http/reference-page.ts';
import { type RouteEntry, registerRoute } from './http/register-route.ts';
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
  routes: RouteEntry[];
  /** Those of the console alone. */
  consoleRoutes: RouteEntry[];
  /** The OpenAPI document. */
  openApi(): object;
}

export async function buildApi(runtime: Runtime, options: { publicBaseUrl?: string } = {}): Promise<Api> {
  const { config, log, metrics } = runtime;
  const publicBaseUrl = options.publicBaseUrl ?? baseUrlOf(config);
  const server = createServer({
    log,
    metrics,
    trustProxy: config.trustProxy,
    rewriteUrl: consoleRewrite(API_PREFIX),
    leadTo: leadBrowsers,
    noSuchPath: noSuchFhirPath(API_PREFIX),
    writeError: fhirErrorWriter(API_PREFIX + FHIR_PATH),
  });
  if (config.trustProxy.length === 0) warnOfUntrustedProxy(server, log);
  guardConsole(server);
  const features = await buildFeatures(runtime, publicBaseUrl);
  const deps = { ...features, passwordPage: `${consoleAddress(publicBaseUrl)}change-password` };
  const health = createHealth(runtime);
  health.register(server);
  server.addHook('onClose', async () => {
    features.publisher.close();
    await features.unmapped.close();
  });

  const api = apiRoutes(features);
  const own = consoleRoutes(features).map((entry) => ({ ...entry, atConsole: true }));
  const document: Json = {};
  /** Made when somebody first asks for it. */
  const openApi = () => {
    if (document.openapi === undefined)
      Object.assign(document, openApiDocument([...api, ...own], { publicBaseUrl, fhirPath: FHIR_PATH }));
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
  const mounted = own.map((entry) => ({ ...entry, path: CONSOLE_PREFIX + entry.path }));
  for (const route of [...root, ...mounted]) registerRoute(server, deps, route);
  await server.ready();
  return {
    server,
    health,
    routes: [...root, ...api.map((route) => ({ ...route, path: API_PREFIX + route.path }))],
    consoleRoutes: mounted,
    openApi,
  };
}
