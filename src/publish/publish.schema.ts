/** What a publish, a dry run and the history of a record answer, as schemas and as types. */
import type { Static } from 'typebox';
import { PurposeOfUseSchema } from '../fhir/purpose-of-use.ts';
import { named } from '../platform/http/named-schema.ts';
import { Choice, Nullable, NullableText } from '../platform/http/schema.ts';
import { Type } from '../platform/json-schema.ts';

const METHODS = ['PUT', 'POST'] as const;
const OUTCOMES = ['done', 'failed', 'interrupted', 'running'] as const;
/** Which faults a dry run tells; the codes stay when the words change. */
export const PLANNED_FAULTS = ['code-refused', 'code-allowed', 'sent-later', 'not-sent'] as const;

const target = Type.String({ examples: ['national'] });

const PublishedResourceSchema = named(
  'PublishedResource',
  Type.Object(
    {
      resourceType: Type.String(),
      localId: Type.String({ description: 'Id of the record in this service.' }),
      id: Type.String({ minLength: 1, description: 'Id of the resource at the target.' }),
      versionId: NullableText('Version of the resource at the target. null if the target does not say.'),
      method: Choice(METHODS),
      status: Type.Integer({ description: 'HTTP status that the target answered.' }),
      publishedAt: Type.String({ format: 'date-time' }),
    },
    {
      examples: [
        {
          resourceType: 'Observation',
          localId: '3c2b36d2-f424-47bb-a427-a2bfa9576f64',
          id: '3c2b36d2-f424-47bb-a427-a2bfa9576f64',
          versionId: '1',
          method: 'PUT',
          status: 201,
          publishedAt: '2026-01-10T11:00:00.250Z',
        },
      ],
    },
  ),
);
/** A resource as it was at the server after a publish (docs/publish.md). */
export type PublishedResource = Static<typeof PublishedResourceSchema>;

const NotSentSchema = named(
  'NotSent',
  Type.Object(
    {
      element: Type.String({
        description: 'The element that names the record.',
        examples: ['Observation.focus'],
      }),
      resourceType: Type.String({ examples: ['Patient'] }),
      localId: Type.String({
        description: 'Id of the record in this service.',
        examples: ['b8a1f6d2-54c7-4e0b-8f19-2c3d4e5f6a7b'],
      }),
      reason: Choice(
        ['refused', 'unavailable'],
        'refused: the patient refuses this purpose of use. unavailable: the record belongs to another facility, or does not exist.',
      ),
    },
    {
      description:
        'A record of another patient that is named, but not sent: the target gets only our identifier.',
    },
  ),
);
export type NotSent = Static<typeof NotSentSchema>;

const notSent = Type.Optional(Type.Array(NotSentSchema, { description: 'Absent if there are none.' }));

/** Beside the id of the record. */
export const PublishedSchema = Type.Object({
  target,
  published: Type.Array(PublishedResourceSchema),
  notSent,
});
export type Published = Static<typeof PublishedSchema>;

/** An answer with the id of its record. That is not the id of the call where another order replaced the one of the call. */
export type OfRecord<Answer> = Answer & { recordId: string };

/** Member of an answer; left out where nothing was withheld. */
export type SaysNotSent = Pick<Published, 'notSent'>;

const PlannedSchema = named(
  'PlannedRequest',
  Type.Object({
    resourceType: Type.String(),
    localId: Type.String(),
    id: NullableText('Id of the resource at the target. null if the target has not assigned one yet.'),
    method: Choice(METHODS),
    url: Type.String(),
    step: Type.Integer({
      description: 'Number of the step. Requests of one step are sent at the same time.',
    }),
    resource: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'The body. Absent if the caller may not read that record with another call.',
        },
      ),
    ),
  }),
);

/** Beside the id of the record, too. Ids that the server has yet to give stand as ours in bodies. */
export const PlanSchema = Type.Object({
  target,
  dryRun: Type.Literal(true),
  requests: Type.Array(PlannedSchema),
  unmapped: Type.Array(
    named(
      'PublishUnmappedCode',
      Type.Object({
        resourceType: Type.String(),
        localId: Type.String(),
        system: NullableText('The system of the local code.'),
        code: Type.String(),
      }),
    ),
  ),
  faults: Type.Array(
    named(
      'PublishFault',
      Type.Object({
        resourceType: Type.String(),
        localId: Type.String(),
        code: Choice(PLANNED_FAULTS, 'Which fault it is; it stays when the words of `fault` change.'),
        reference: NullableText('The record that it refers to, as Type/id. null: it is about a code.'),
        fault: Type.String(),
      }),
    ),
  ),
  notSent,
});
export type PublishPlan = Static<typeof PlanSchema>;
export type PlannedRequest = PublishPlan['requests'][number];
export type PlannedFault = PublishPlan['faults'][number];

export const RunSchema = named(
  'PublishRun',
  Type.Object({
    id: Type.String({ examples: ['01a1fc08-7c3e-7b0d-a2a4-9f1d60a8e5c3'] }),
    target,
    startedAt: Type.String({ format: 'date-time', examples: ['2026-01-10T11:00:00.100Z'] }),
    finishedAt: Nullable(
      Type.String({ format: 'date-time', examples: ['2026-01-10T11:00:00.300Z'] }),
      'null while it runs. Also null once it is interrupted, until the record is published to the target again.',
    ),
    outcome: Choice(
      OUTCOMES,
      'interrupted: the process ended before the publish did. The next publish continues.',
    ),
    failure: NullableText('The error message, if the publish failed.'),
    accountId: Type.String({ examples: ['4303826b-527a-4add-96a0-fba711adc287'] }),
    purposeOfUse: PurposeOfUseSchema,
    correlationId: Type.String({ examples: ['68203135-2e36-4fe2-9f7b-a8708c7c5b44'] }),
    published: Type.Array(PublishedResourceSchema),
  }),
);
export type PublishRun = Static<typeof RunSchema>;
