/**
 * GET /encounters/fhir/metadata: the CapabilityStatement, open to anyone (docs/encounters.md).
 * Contract: ENC-34.
 */

import { FHIR_JSON, FORMAT_PARAMETER, requireFhirJson } from '../fhir/media-type.ts';
import { named } from '../platform/http/named-schema.ts';
import type { Route } from '../platform/http/route.ts';
import { Type } from '../platform/json-schema.ts';
import { type Access, openRoute } from '../tenancy/callers/access.ts';
import { capabilityStatement } from './capability-statement.ts';

export function encounterMetadataRoute({ publicBaseUrl }: { publicBaseUrl: string }): Route<Access> {
  const body = JSON.stringify(capabilityStatement(publicBaseUrl));
  return openRoute({
    docs: {
      operationId: 'readCapabilityStatement',
      summary: 'Show what the FHIR read interface can do',
      tag: 'Encounters',
    },
    query: Type.Object({ _format: FORMAT_PARAMETER }),
    responses: {
      200: {
        description: 'The CapabilityStatement.',
        schema: named(
          'CapabilityStatement',
          Type.Object({
            resourceType: Type.Literal('CapabilityStatement'),
            fhirVersion: Type.Literal('4.0.1'),
          }),
        ),
        mediaType: 'application/fhir+json',
      },
    },
    handle: async ({ query }, context) => {
      requireFhirJson(context.headers, query._format);
      return { contentType: FHIR_JSON, body };
    },
  });
}
