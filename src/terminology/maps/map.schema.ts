/** Shapes of terminology maps in requests and answers. */

import type { Static, TSchema } from 'typebox';
import { named } from '../../platform/http/named-schema.ts';
import { Choice, Instant, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import type { MapScope } from './map.store.ts';
import { EQUIVALENCES } from './map-entry.ts';

/** What a call needs that reads maps, or that changes them. */
export const READING_MAPS = {
  permissions: ['terminology.maps.read', 'terminology.maps.manage'],
  purposeOfUse: 'none',
} as const;
export const CHANGING_MAPS = { permissions: ['terminology.maps.manage'], purposeOfUse: 'none' } as const;

const EquivalenceSchema = named(
  'Equivalence',
  Choice(
    EQUIVALENCES,
    'How the standard code relates to the local code (FHIR R4 ConceptMapEquivalence). The service sends the standard code only for equal, equivalent, wider and subsumes. unmatched means that there is no standard code.',
  ),
);

export const MAP_EXAMPLE = {
  id: 'fd1f1f4b-de7e-4dfd-a060-eedf7bfa9071',
  facilityId: null,
  localSystem: 'http://hospital.example/lab',
  localCode: 'GLU',
  localDisplay: 'Glucose',
  targetSystem: 'http://loinc.org',
  targetCode: '2345-7',
  targetDisplay: 'Glucose [Mass/volume] in Serum or Plasma',
  equivalence: 'equivalent',
  comment: null,
  version: 1,
  updatedAt: '2026-01-10T08:00:00.000Z',
  updatedBy: '4303826b-527a-4add-96a0-fba711adc287',
};

export const MapItemSchema = named(
  'MapEntry',
  Type.Object(
    {
      id: Type.String(),
      facilityId: NullableText(
        'The facility that the entry belongs to. null: it belongs to the organisation. Entries of a facility win.',
      ),
      localSystem: Type.String({ description: 'Empty for codes without a system.' }),
      localCode: Type.String(),
      localDisplay: NullableText('Text of the local code.'),
      targetSystem: Type.String({ description: 'URI of the standard system, such as `http://loinc.org`.' }),
      targetCode: NullableText('null if equivalence is unmatched.'),
      targetDisplay: NullableText('Text of the standard code.'),
      equivalence: EquivalenceSchema,
      comment: NullableText('Required if equivalence is narrower or inexact.'),
      version: Type.Integer({ description: 'Increases with every change.' }),
      updatedAt: Instant('UTC instant.'),
      updatedBy: NullableText(
        'The account that last changed the entry. null: an operator at the command line.',
      ),
    },
    { examples: [MAP_EXAMPLE] },
  ),
);

/** An entry as it is kept, and as it is shown. */
export type StoredEntry = Static<typeof MapItemSchema>;

/** A file of terminology maps as FHIR has it; more of it is in docs/terminology.md. */
export const ConceptMapSchema = Type.Object(
  { resourceType: Type.Literal('ConceptMap') },
  {
    title: 'ConceptMap',
    additionalProperties: true,
    description: 'FHIR R4 ConceptMap.',
    examples: [
      {
        resourceType: 'ConceptMap',
        status: 'active',
        group: [
          {
            source: MAP_EXAMPLE.localSystem,
            target: MAP_EXAMPLE.targetSystem,
            element: [{ code: 'GLU', target: [{ code: '2345-7', equivalence: 'equivalent' }] }],
          },
        ],
      },
    ],
  },
);

const KEPT = 'Ignored, so that an entry can be sent back as it was answered.';
const Kept = (schema: TSchema) => Type.Optional(Type.Unsafe<unknown>({ ...schema, description: KEPT }));

export const PutMapBody = named(
  'MapEntryToPut',
  Type.Object(
    {
      facilityId: Type.Optional(
        NullableText(
          'The facility of the call, for an entry of that facility only. Otherwise absent or null.',
        ),
      ),
      localSystem: Type.Optional(NullableText('Absent, null or empty for codes without a system.')),
      localCode: Type.String(),
      localDisplay: Type.Optional(NullableText('Text of the local code.')),
      targetSystem: Type.String({ description: 'Absolute URI, e.g. `http://loinc.org`.' }),
      targetCode: Type.Optional(
        NullableText('The service checks the check digit of LOINC codes and the grammar of UCUM units.'),
      ),
      targetDisplay: Type.Optional(NullableText('Text of the standard code.')),
      equivalence: Type.Optional(EquivalenceSchema),
      comment: Type.Optional(NullableText('Required if equivalence is narrower or inexact.')),
      id: Kept(Type.String()),
      version: Kept(Type.Integer()),
      updatedAt: Kept(Type.String()),
      updatedBy: Kept(NullableText()),
    },
    { additionalProperties: false },
  ),
);

export const LEVELS = ['organisation', 'facility'] as const;
export type Level = (typeof LEVELS)[number];
export const LevelParameter = (description: string) => Type.Optional(Choice(LEVELS, description));

/** The map that a call means: the organisation's unless it asks for its facility's. */
export function mapScope({ scope }: Pick<FacilityContext, 'scope'>, level: Level | undefined): MapScope {
  return { organisationId: scope.organisationId, facilityId: level === 'facility' ? scope.facilityId : null };
}
