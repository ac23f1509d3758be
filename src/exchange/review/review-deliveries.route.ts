/** POST /exchange/deliveries/replay and …/skip: decide about held deliveries. Contract: EXC-29. */

import type { Static } from 'typebox';
import { badRequest } from '../../platform/http/errors.ts';
import { requireUuid } from '../../platform/http/input.ts';
import { named } from '../../platform/http/named-schema.ts';
import type { Reply, Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { authorOf } from '../../tenancy/administration/author.ts';
import { type Access, type FacilityContext, facilityRoute } from '../../tenancy/callers/access.ts';
import { isOneLine } from '../../tenancy/organisations/name.ts';
import { ReviewOutcomeSchema } from './delivery.schema.ts';
import { parseInstant } from './list-deliveries.route.ts';
import type { ReadDependencies } from './read-delivery.ts';
import { reviewDeliveries } from './review-deliveries.ts';

const dryRun = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'If true, the answer says what would be done, and nothing is changed.',
  }),
);
const selection = {
  deliveryIds: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 1_000 })),
  connectionId: Type.Optional(Type.String()),
  patientId: Type.Optional(Type.String()),
  heldReason: Type.Optional(
    Type.String({
      description: 'Why the deliveries are held, such as retries_exhausted or refused_422.',
    }),
  ),
  since: Type.Optional(Type.String()),
  until: Type.Optional(Type.String()),
  dryRun,
};
/** Other calls take `dryRun` as a parameter. Were it ignored here, deliveries would be sent. */
const Query = Type.Object({ dryRun });
/** A filter that is not known would otherwise be none: everything that is held. */
const closed = { additionalProperties: false };
const Selection = named('DeliverySelection', Type.Object(selection, closed));
const SkipBody = named(
  'DeliverySkip',
  Type.Object({ ...selection, reason: Type.String({ minLength: 1, maxLength: 1_000 }) }, closed),
);

const ACCESS = {
  permissions: ['exchange.deliveries.replay'],
  module: 'exchange',
  purposeOfUse: 'default',
} as const;
const responses = {
  200: { description: 'What was done; with dryRun, what would be done.', schema: ReviewOutcomeSchema },
  404: { description: 'A named delivery does not exist at this facility.' },
  409: {
    description: 'A named delivery is not held, or does not match the other filters. Nothing was changed.',
  },
};

export function replayDeliveriesRoute(deps: ReadDependencies): Route<Access> {
  return facilityRoute(ACCESS, {
    docs: {
      operationId: 'replayDeliveries',
      summary: 'Try held deliveries again',
      description:
        'Choose deliveries by id or by filter; without both, all held ones are tried again. The service sends the original envelopes, in the original order.',
      tag: 'Exchange',
    },
    query: Query,
    body: Selection,
    bodyExample: { deliveryIds: ['5f0c9b1e-3d57-4c1a-9d0e-7a1f0b6c2d43'], dryRun: true },
    responses,
    handle: async (call, context) => review(deps, call, { ...context, action: 'replay', reason: null }),
  });
}

export function skipDeliveriesRoute(deps: ReadDependencies): Route<Access> {
  return facilityRoute(ACCESS, {
    docs: {
      operationId: 'skipDeliveries',
      summary: 'Give up held deliveries',
      description:
        'The service then sends the next delivery of the same patient. The skipped delivery and the reason stay on record.',
      tag: 'Exchange',
    },
    query: Query,
    body: SkipBody,
    bodyExample: {
      deliveryIds: ['5f0c9b1e-3d57-4c1a-9d0e-7a1f0b6c2d43'],
      reason: 'Sent by hand.',
      dryRun: true,
    },
    responses,
    handle: async (call, context) => {
      const { reason } = call.body;
      if (!isOneLine(reason))
        throw badRequest(
          {
            en: 'reason must be one line of text that is not empty.',
            fr: 'reason doit être une seule ligne de texte, non vide.',
          },
          'bad_reason',
        );
      return review(deps, call, { ...context, action: 'skip', reason });
    },
  });
}

async function review(
  deps: ReadDependencies,
  { query, body }: { query: Static<typeof Query>; body: Static<typeof Selection> },
  context: FacilityContext & { action: 'replay' | 'skip'; reason: string | null },
): Promise<Reply> {
  const { scope, action, reason } = context;
  const { deliveryIds, connectionId, patientId, heldReason, since, until } = body;
  requireUuid('connectionId', connectionId);
  requireUuid('patientId', patientId);
  const filter = {
    ids: deliveryIds,
    connectionId,
    patientId,
    heldReason,
    since: parseInstant('since', since, scope.timeZone),
    until: parseInstant('until', until, scope.timeZone),
  };
  const dryRun = query.dryRun === true || body.dryRun === true;
  const request = { filter, decision: { action, reason }, author: authorOf(context), dryRun };
  return { body: await reviewDeliveries(deps, context, request) };
}
