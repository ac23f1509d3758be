/** `_format` (FHIR R4, "RESTful API", general parameters), of every route that answers FHIR. */
import { Type } from '../platform/json-schema.ts';

export const FORMAT_PARAMETER = Type.Optional(
  Type.String({
    description:
      'Media type of the answer; it wins over `Accept`. One of `json`, `application/json`, `application/fhir+json` and `application/json+fhir`.',
  }),
);
