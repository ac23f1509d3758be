/** Data types of FHIR R4 in the OpenAPI document, as far as answers spell them out. */

import { named } from '../../platform/http/named-schema.ts';
import { Type } from '../../platform/json-schema.ts';

export const ReferenceSchema = named(
  'Reference',
  Type.Object({
    reference: Type.Optional(Type.String()),
    display: Type.Optional(Type.String()),
  }),
);

export const CodingSchema = named(
  'Coding',
  Type.Object({
    system: Type.Optional(Type.String()),
    code: Type.Optional(Type.String()),
    display: Type.Optional(Type.String()),
  }),
);

export const CodeableConceptSchema = named(
  'CodeableConcept',
  Type.Object({
    coding: Type.Optional(Type.Array(CodingSchema)),
    text: Type.Optional(Type.String()),
  }),
);

export const PeriodSchema = named(
  'Period',
  Type.Object({ start: Type.Optional(Type.String()), end: Type.Optional(Type.String()) }),
);

/** Of an Identifier, without its assigner. */
export const IDENTIFIER_MEMBERS = {
  use: Type.Optional(Type.String()),
  type: Type.Optional(CodeableConceptSchema),
  system: Type.Optional(Type.String()),
  value: Type.Optional(Type.String()),
  period: Type.Optional(PeriodSchema),
};
