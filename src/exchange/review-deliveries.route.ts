/** POST /exchange/deliveries/replay and …/skip: decide about held deliveries (design 3.6, "Review"). */
import Type, { type Static } from 'typebox';
import type { Pool } from '../platform/db/database.ts';
import { badRequest } from '../platform/http/errors.ts';
import type { Reply, Route } from '../platform/http/route.ts';
import { isUuid } from '../platform/uuid.ts';
import { type Access, type FacilityContext, facilityRoute } from '../tenancy/access.ts';
import { ReviewOutcomeSchema } from './delivery.schema.ts';
import { instant } from './list-deliveries.route.ts';
import { isReason, reviewDeliveries } from './review-deliveries.ts';

const selection = {
  deliveryIds: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 1_000 })),
  connectionId: Type.Optional(Type.String()),
  patientId: Type.Optional(Type.String()),
  heldReason: Type.Optional(Type.String({ description: 'such as retries_exhausted or refused_422' })),
  since: Type.Optional(Type.String()),
  until: Type.Optional(Type.String()),
  dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Only say what would be done.' })),
};
/** A filter that is not known would otherwise be none: everything that is held. */
const closed = { additionalProperties: false };
const Selection = Type.Object(selection, closed);
const SkipBody = Type.Object(
  { ...selection, reason: Type.String({ minLength: 1, maxLength: 1_000 }) },
  closed,
);

const ACCESS = {
  permissions: ['exchange.deliveries.replay'],
  module: 'exchange',
  purposeOfUse: 'none',
} as const;
const responses = {
  200: { description: 'What was done, or would be.', schema: ReviewOutcomeSchema },
  404: { description: 'A delivery named is not one of this facility.' },
  409: { description: 'A delivery named is not held.' },
};

export function replayDeliveriesRoute(deps: { db: Pool }): Route<Access> {
  return facilityRoute(ACCESS, {
    docs: {
      operationId: 'replayDeliveries',
      summary: 'Try held deliveries again',
      description:
        'By ids or by filter; the original envelopes, in their old places. Without either: all that are held.',
      tag: 'Exchange',
    },
    body: Selection,
    responses,
    handle: async ({ body }, context) =>
      review(deps.db, body, { ...context, action: 'replay', reason: null }),
  });
}

export function skipDeliveriesRoute(deps: { db: Pool }): Route<Access> {
  return facilityRoute(ACCESS, {
    docs: {
      operationId: 'skipDeliveries',
      summary: 'Give up held deliveries',
      description:
        'The lanes go on with what is behind them. The delivery stays in the ledger with the reason.',
      tag: 'Exchange',
    },
    body: SkipBody,
    responses,
    handle: async ({ body }, context) => {
      if (!isReason(body.reason)) throw badRequest('reason must be one line of text.', 'bad_reason');
      return review(deps.db, body, { ...context, action: 'skip', reason: body.reason });
    },
  });
}

async function review(
  db: Pool,
  body: Static<typeof Selection>,
  { scope, caller, action, reason }: FacilityContext & { action: 'replay' | 'skip'; reason: string | null },
): Promise<Reply> {
  const { deliveryIds, connectionId, patientId, heldReason, since, until, dryRun = false } = body;
  if (![connectionId, patientId].every((id) => id === undefined || isUuid(id)))
    throw badRequest('connectionId and patientId must be UUIDs.');
  const filter = {
    ids: deliveryIds,
    connectionId,
    patientId,
    heldReason,
    facilityId: scope.facilityId,
    since: instant('since', since, scope.timeZone),
    until: instant('until', until, scope.timeZone),
  };
  const decision = { action, reason, accountId: caller.accountId };
  return { body: await reviewDeliveries(db, scope, { filter, decision, dryRun }) };
}
