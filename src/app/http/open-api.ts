/** The OpenAPI 3.1 document, generated from the routes. `npm run openapi` writes it to openapi.json. */
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';

export const API_VERSION = '1.0.0';

export function openApiOptions(publicBaseUrl: string): FastifyDynamicSwaggerOptions {
  return {
    hideUntagged: true,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'interchange',
        version: API_VERSION,
        description:
          'Clinical records interchange: sign-in for systems, FHIR R4 at the boundary, and a trace of every access. ' +
          'Outside this base address: /.well-known/jwks.json (public keys of access tokens), /healthz and /readyz.',
      },
      servers: [{ url: new URL(publicBaseUrl).pathname }],
      components: {
        securitySchemes: {
          accessToken: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'From POST /auth/login.',
          },
        },
      },
    },
  };
}
