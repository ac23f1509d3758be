/**
 * The OpenAPI 3.1 document, made from the routes. `npm run openapi` writes it to openapi.json.
 * Contract: HTTP-25.
 */
import { sharedComponents } from './open-api-answers.ts';
import { operationOf } from './open-api-operation.ts';
import { createSchemaComponents, type Json } from './open-api-schemas.ts';
import { shareRepeated } from './open-api-sharing.ts';
import type { RouteEntry } from './register-route.ts';

export const API_VERSION = '1.0.0';

const TAGS: Readonly<Record<string, string>> = {
  'Sign-in': 'Sessions of integration accounts: docs/sign-in.md.',
  Console: 'Sessions of people at the console, which a cookie proves: docs/sign-in.md.',
  Encounters: 'The FHIR read interface: docs/encounters.md.',
  'Vital signs': 'Vital sets as FHIR: docs/vitals.md.',
  Investigations: 'Laboratory and imaging orders as FHIR: docs/lab.md, docs/imaging.md.',
  'FHIR resources': 'Single resources of fetched Bundles, where their fullUrl leads: docs/fhir-mapping.md.',
  Publishing: 'Publishing records to an external FHIR server: docs/publish.md.',
  Patients: 'Patients, their privacy setting and their access log: docs/patients.md.',
  Exchange: 'Connections to health information exchanges, deliveries and callbacks: docs/exchange.md.',
  Overview: 'What needs attention at a facility, and how much happens there: docs/operations.md.',
  Records: 'Import of FHIR records: docs/import.md.',
  Administration: 'Accounts, roles, facilities, and who changed them: docs/administration.md.',
  Terminology: 'Maps from local codes to standard codes: docs/terminology.md.',
};

/**
 * Routes come with their paths below the base address, or below the address of the console's calls. Below `fhirPath`
 * errors may be OperationOutcomes. Throws for a tag that is not declared.
 */
export function openApiDocument(
  routes: readonly RouteEntry[],
  { publicBaseUrl, fhirPath }: { publicBaseUrl: string; fhirPath: string },
): Json {
  const schemas = createSchemaComponents();
  const paths: Record<string, Json> = {};
  const consolePath = new URL('../../console/api', `${publicBaseUrl}/`).pathname;
  for (const { method, path, route, atConsole = false } of routes) {
    if (TAGS[route.docs.tag] === undefined) throw new Error(`no such tag: ${route.docs.tag}`);
    const address = path.replaceAll(/:(\w+)/g, '{$1}');
    const fhir = path.startsWith(`${fhirPath}/`);
    paths[address] = {
      ...paths[address],
      [method.toLowerCase()]: {
        ...operationOf({ route, fhir }, schemas),
        ...(atConsole ? { servers: [{ url: consolePath }] } : {}),
      },
    };
  }
  const shared = sharedComponents(schemas);
  shareRepeated(paths, shared);
  // As JSON, so that what is undefined is not there.
  return JSON.parse(
    JSON.stringify({
      openapi: '3.1.0',
      info: information(),
      servers: [{ url: new URL(publicBaseUrl).pathname }],
      security: [{ accessToken: [] }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths,
      components: {
        ...withoutUnused(shared, JSON.stringify(paths)),
        schemas: schemas.all(),
        securitySchemes: { accessToken: accessToken(), consoleSession: consoleSession() },
      },
    }),
  );
}

function information(): Json {
  return {
    title: 'interchange',
    version: API_VERSION,
    description: [
      'Exchange of clinical records: sign-in for systems, FHIR R4 resources, and a log of every access.',
      'These paths are outside the base address: /.well-known/jwks.json (public keys of access tokens), /healthz and /readyz.',
      'Every call takes the headers `x-correlation-id` and `accept-language` (CorrelationId and AcceptLanguage among the parameters). Every answer has the headers `x-correlation-id`, `cache-control: no-store` and `x-content-type-options: nosniff`. HEAD works wherever GET does.',
      'An error that has no answer of its own at a call is described as its `default`. Any call may also be answered 405 (with `allow`), 408, 417 or 431, in the shape of Error: docs/http.md.',
    ].join('\n\n'),
    contact: { name: 'The interchange project' },
    license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
  };
}

function accessToken(): Json {
  return { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'From POST /auth/login.' };
}

function consoleSession(): Json {
  return {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-interchange-session',
    description:
      'From POST /session, below /console/api. The other calls are there too. Each but GET and HEAD needs the header `x-interchange-console: 1`. A page that reads again and again by itself sends `x-interchange-console: background` with these reads: they are answered as others are, and do not move the idle end of the session.',
  };
}

/** Only the error answers that some operation names. */
function withoutUnused(shared: Record<string, Json>, paths: string): Json {
  const used = Object.entries(shared.responses ?? {}).filter(([name]) =>
    paths.includes(`"#/components/responses/${name}"`),
  );
  return { ...shared, responses: Object.fromEntries(used) };
}
