/** How deliveries look over HTTP and with `--json`. */

import type { Static } from 'typebox';
import { named } from '../../platform/http/named-schema.ts';
import { Instant, Nullable, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';

/** Where a delivery stands; it follows from the head of its lane (docs/adr/0020). */
export const DELIVERY_STATUSES = ['queued', 'held', 'delivered', 'skipped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const Time = Instant('ISO 8601 UTC.');

const ID = '01a1fc08-424a-7d97-b9c6-c8abb2ae8675';
const HELD_AT = '2026-01-10T08:00:02.120Z';
export const DELIVERY_EXAMPLE = {
  id: ID,
  organisationId: '0c7d2a90-8b1f-4f5e-9a36-d4e5f6a7b8c9',
  organisationName: 'Lagos Clinics',
  facilityId: '1ad45065-64ba-4128-b0b5-1666625efdaf',
  connectionId: '906fa990-12a1-4f92-a7c1-2daa3aaee448',
  connectionName: 'Lagos HIE',
  connectionEnabled: true,
  patientId: 'b8a1f6d2-54c7-4e0b-8f19-2c3d4e5f6a7b',
  sequence: 2,
  event: 'patient.updated',
  occurredAt: '2026-01-10T08:00:01.040Z',
  hasPayload: true,
  status: 'held',
  heldAt: HELD_AT,
  heldReason: 'refused_422',
  nextAttemptAt: null,
  waitReason: null,
  waitsForId: null,
  lastAttempt: { startedAt: '2026-01-10T08:00:02.020Z', outcome: 'refused', status: 422, failure: null },
  confirmation: null,
  lastReview: null,
};

const ReviewSchema = named(
  'DeliveryReview',
  Type.Object({
    action: Type.String({ enum: ['replay', 'skip'] }),
    reason: Nullable(Type.String({ description: 'Also null if the patient refuses the purpose.' })),
    accountId: Nullable(
      Type.String({ description: 'The account that decided. null: an operator at the command line.' }),
    ),
    decidedAt: Time,
  }),
);
type Review = Static<typeof ReviewSchema>;

export const DeliverySchema = named(
  'Delivery',
  Type.Object(
    {
      id: Type.String(),
      organisationId: Type.String(),
      organisationName: Type.String(),
      facilityId: Type.String(),
      connectionId: Type.String(),
      connectionName: Type.String(),
      connectionEnabled: Type.Boolean(),
      patientId: Nullable(Type.String({ description: 'null if the patient refuses the purpose.' })),
      sequence: Type.Integer(),
      event: Type.String(),
      occurredAt: Time,
      hasPayload: Type.Boolean({
        description: 'false: the payload was removed, because it is kept for a limited time.',
      }),
      status: Type.String({ enum: [...DELIVERY_STATUSES] }),
      heldAt: Nullable(Time),
      heldReason: NullableText(),
      nextAttemptAt: Nullable(Time),
      waitReason: NullableText('earlier_delivery, held_delivery, connection_disabled or module_disabled'),
      waitsForId: NullableText(
        'The delivery of the same patient that comes first, if it is of this facility.',
      ),
      lastAttempt: Nullable(
        named(
          'LastDeliveryAttempt',
          Type.Object({
            startedAt: Time,
            outcome: Type.String(),
            status: Nullable(Type.Integer()),
            failure: Nullable(Type.String({ description: 'Why there was no answer.' })),
          }),
        ),
      ),
      confirmation: Nullable(
        named(
          'DeliveryConfirmation',
          Type.Object(
            { status: Type.String(), assignedId: NullableText() },
            { description: 'null if the patient refuses the purpose.' },
          ),
        ),
      ),
      lastReview: Nullable(ReviewSchema),
    },
    { examples: [DELIVERY_EXAMPLE] },
  ),
);
export type DeliveryView = Static<typeof DeliverySchema>;

/** A delivery as it is stored. */
interface Stored {
  patientId: string;
  /** Of the patient. */
  refusedPurposes: string[];
}
export type Delivery = DeliveryView & Stored;

const AttemptSchema = named(
  'DeliveryAttempt',
  Type.Object({
    startedAt: Time,
    durationMs: Type.Integer(),
    outcome: Type.String({ description: 'delivered, failed, refused, withheld or unsent' }),
    status: Nullable(Type.Integer({ description: 'HTTP status of the answer.' })),
    failure: Nullable(Type.String({ description: 'Why there was no answer.' })),
    nonce: Type.String({
      description: 'Nonce of the request. It is also the correlation id in the access log.',
    }),
    responseHash: Nullable(Type.String({ description: 'SHA-256 of the body of the answer, in hex.' })),
    counted: Type.Boolean({
      description: 'false if the try did not count as a failure, because the exchange was down.',
    }),
  }),
);
export const DeliveryDetailSchema = named(
  'DeliveryDetail',
  Type.Intersect(
    [
      DeliverySchema,
      Type.Object({
        attempts: Type.Array(AttemptSchema),
        reviews: Type.Array(ReviewSchema),
      }),
    ],
    {
      examples: [
        {
          ...DELIVERY_EXAMPLE,
          attempts: [
            {
              ...DELIVERY_EXAMPLE.lastAttempt,
              durationMs: 38,
              nonce: 'c1f3ab1e-7a0f-4a6c-9a5e-0e6b8a4c2f17',
              responseHash: null,
              counted: true,
            },
          ],
          reviews: [],
        },
      ],
    },
  ),
);
export type DeliveryDetailView = Static<typeof DeliveryDetailSchema>;
export type DeliveryDetail = DeliveryDetailView & Stored;
export const ReviewOutcomeSchema = named(
  'ReviewOutcome',
  Type.Object(
    {
      dryRun: Type.Boolean(),
      count: Type.Integer(),
      deliveryIds: Type.Array(Type.String(), { description: 'The first 1,000 ids.' }),
      heldAgain: Type.Optional(Type.Integer({ description: 'Of `count`: facility_not_covered again.' })),
    },
    { examples: [{ dryRun: true, count: 1, deliveryIds: [ID] }] },
  ),
);
export type ReviewOutcome = Static<typeof ReviewOutcomeSchema>;
export const EnvelopeSchema = named(
  'DeliveryEnvelope',
  Type.Object(
    { deliveryId: Type.String() },
    {
      additionalProperties: true,
      examples: [
        {
          deliveryId: ID,
          event: DELIVERY_EXAMPLE.event,
          occurredAt: DELIVERY_EXAMPLE.occurredAt,
          organisationId: DELIVERY_EXAMPLE.organisationId,
          facilityId: DELIVERY_EXAMPLE.facilityId,
          connectionId: DELIVERY_EXAMPLE.connectionId,
          sequence: DELIVERY_EXAMPLE.sequence,
          resource: { resourceType: 'Patient', id: DELIVERY_EXAMPLE.patientId, active: true },
        },
      ],
    },
  ),
);
export const DeliveryParams = Type.Object({
  deliveryId: Type.String({ description: 'UUID of the delivery.' }),
});

/** Without what concerns the patient, unless it may be shown. */
export function deliveryView(delivery: Delivery, mayShow: boolean): DeliveryView {
  const { refusedPurposes: _refusedPurposes, ...view } = delivery;
  if (mayShow) return view;
  const { lastReview } = view;
  return {
    ...view,
    patientId: null,
    confirmation: null,
    lastReview: lastReview && withoutReason(lastReview),
  };
}

/** The reason is free text, and may name the patient. */
function withoutReason(review: Review): Review {
  return { ...review, reason: null };
}

export function deliveryDetailView(
  { attempts, reviews, ...delivery }: DeliveryDetail,
  mayShow: boolean,
): DeliveryDetailView {
  return {
    ...deliveryView(delivery, mayShow),
    attempts,
    reviews: mayShow ? reviews : reviews.map(withoutReason),
  };
}
