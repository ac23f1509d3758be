/** Replaying and skipping held deliveries: one, many, or by filter (design 3.6, "Review"). */
import type { Pool } from '../platform/db/database.ts';
import { conflict, notFound } from '../platform/http/errors.ts';
import { isUuid } from '../platform/uuid.ts';
import { isOneLine } from '../tenancy/name.ts';
import type { OrganisationScope } from '../tenancy/scope.ts';
import type { DeliveryFilter } from './delivery.ts';
import { type Decision, decide, heldDeliveries, knownDeliveries } from './review.store.ts';

export interface ReviewRequest {
  filter: DeliveryFilter;
  decision: Decision;
  /** Only say what would be done. */
  dryRun: boolean;
}

export interface ReviewOutcome {
  dryRun: boolean;
  count: number;
  /** The first thousand. */
  deliveryIds: string[];
}

const MAX_LISTED = 1_000;

/** Why something is skipped: it is read on terminals. */
export function isReason(text: string): boolean {
  return text.trim() !== '' && isOneLine(text);
}

/** Throws 404 when a delivery named by id is not there, and 409 when one is not held; nothing is done then. */
export async function reviewDeliveries(
  db: Pool,
  scope: OrganisationScope,
  { filter, decision, dryRun }: ReviewRequest,
): Promise<ReviewOutcome> {
  if (filter.ids !== undefined) await requireHeld(db, scope, { ...filter, ids: filter.ids });
  const found = dryRun
    ? await heldDeliveries(db, scope, filter)
    : await decide(db, scope, { filter, decision });
  return { dryRun, count: found.length, deliveryIds: found.slice(0, MAX_LISTED) };
}

async function requireHeld(
  db: Pool,
  scope: OrganisationScope,
  { ids, facilityId }: DeliveryFilter & { ids: readonly string[] },
): Promise<void> {
  if (!ids.every(isUuid)) throw notFound('A delivery');
  const wanted = ids.map((id) => id.toLowerCase());
  const known = await knownDeliveries(db, scope, { ids: wanted, facilityId });
  if (!wanted.every((id) => known.has(id))) throw notFound('A delivery');
  const held = new Set(await heldDeliveries(db, scope, { ids: wanted, facilityId }));
  if (!wanted.every((id) => held.has(id)))
    throw conflict(
      'A delivery named is not held, so there is nothing to decide. Look at it first.',
      'not_held',
    );
}
