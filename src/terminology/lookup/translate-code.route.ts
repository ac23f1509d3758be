/** GET /terminology/maps/$translate (R4, "ConceptMap", operation translate). Contract: TERM-15. */

import { FHIR_JSON, FORMAT_PARAMETER, requireFhirJson } from '../../fhir/media-type.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { READING_MAPS } from '../maps/map.schema.ts';
import { lookUpCode, translateParameters } from './look-up-code.ts';

const ParametersSchema = named(
  'Parameters',
  Type.Object(
    {
      resourceType: Type.Literal('Parameters'),
      parameter: Type.Array(named('Parameter', Type.Object({ name: Type.String() })), {
        description: '`result`, a `message` if it is false, and a `match` for each standard system.',
      }),
    },
    {
      examples: [
        {
          resourceType: 'Parameters',
          parameter: [
            { name: 'result', valueBoolean: true },
            {
              name: 'match',
              part: [
                { name: 'equivalence', valueCode: 'equivalent' },
                { name: 'concept', valueCoding: { system: 'http://loinc.org', code: '2345-7' } },
              ],
            },
          ],
        },
      ],
    },
  ),
);

export function translateCodeRoute(deps: { db: Queryable }): Route<Access> {
  return facilityRoute(READING_MAPS, {
    docs: {
      operationId: 'translateCode',
      summary: 'Look a local code up in the terminology maps',
      description: 'Entries of the facility of the call win over entries of its organisation.',
      tag: 'Terminology',
    },
    query: Type.Object({
      system: Type.Optional(
        Type.String({ description: 'System of the local code. Leave it out if the code has none.' }),
      ),
      code: Type.String({ minLength: 1, description: 'The local code.' }),
      targetsystem: Type.Optional(Type.String({ description: 'Only codes of this standard system.' })),
      _format: FORMAT_PARAMETER,
    }),
    responses: {
      200: {
        description: 'FHIR Parameters.',
        schema: ParametersSchema,
        mediaType: 'application/fhir+json',
      },
    },
    handle: async ({ query }, { scope, headers }) => {
      requireFhirJson(headers, query._format);
      const { system = '', code, targetsystem: targetSystem } = query;
      const answer = await lookUpCode(deps.db, scope, { system, code, targetSystem });
      return { contentType: FHIR_JSON, body: translateParameters(answer) };
    },
  });
}
