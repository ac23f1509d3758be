/** Replaying and skipping held deliveries: one, many, or by filter. Contract: EXC-29, EXC-30, EXC-59, ADM-35. */
import type { Client, Pool } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { Operator } from '../../privacy/access-log/operator-log.ts';
import { requireStillHeld } from '../../tenancy/administration/administer.ts';
import { type Author, OPERATOR } from '../../tenancy/administration/author.ts';
import { recordChange } from '../../tenancy/audit/audit.ts';
import { notFound } from '../../tenancy/errors.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { exchangeError } from '../errors.ts';
import type { ReviewOutcome } from './delivery.schema.ts';
import { type DeliveryFilter, listDeliveries } from './delivery.store.ts';
import {
  type EachAnswer,
  eachOrganisation,
  findDeliveries,
  type OperatorFilter,
  organisations,
} from './each-organisation.ts';
import type { ReadDependencies } from './read-delivery.ts';
import { countUncovered, type Decision, decide, heldDeliveries, knownDeliveries } from './review.store.ts';
import {
  type AboutPatient,
  patientAskedFor,
  type Reviewer,
  requireShown,
  traceShown,
} from './trace-shown.ts';

export interface ReviewRequest {
  filter: Omit<DeliveryFilter, 'facilityId'>;
  decision: Pick<Decision, 'action' | 'reason'>;
  author: Author;
  /** If true, the answer says what would be done, and nothing is changed. */
  dryRun: boolean;
}

/** Of the ids in an answer. */
const MAX_LISTED = 1_000;

/**
 * Throws 404 when a delivery named by id is not there, 409 when one is not held or not what the rest of the filter
 * says, and 403 when the filter names a patient who refuses the purpose; nothing is done then.
 */
export async function reviewDeliveries(
  { db, accessLog }: ReadDependencies,
  reviewer: Reviewer,
  request: ReviewRequest,
): Promise<ReviewOutcome> {
  const { decision, author, dryRun } = request;
  const { scope } = reviewer;
  const { facilityId } = scope;
  const filter = { ...request.filter, facilityId };
  const accountId = author.kind === 'account' ? author.accountId : null;
  if (filter.ids !== undefined) await requireKnown(db, scope, { ...filter, ids: filter.ids });
  // Whether anything of one patient is held says who is a patient here (docs/adr/0053).
  if (filter.patientId !== undefined) {
    const about = await aboutPatient(db, scope, { ...filter, patientId: filter.patientId });
    requireShown(about.every(await traceShown(accessLog, { ...reviewer, action: 'delivery.list' }, about)));
  }
  const found = dryRun
    ? await heldDeliveries(db, scope, filter)
    : await decide(db, scope, { filter, decision: { ...decision, accountId } }, async (client, decided) => {
        requireHeld(filter, decided);
        if (decided.length === 0) return;
        await requireStillHeld(client, scope, {
          author,
          permission: 'exchange.deliveries.replay',
          // The operator asks of all facilities at once.
          ...(facilityId === undefined
            ? { facilityIds: [] }
            : { facilityIds: [facilityId], module: { name: 'exchange', facilityId } }),
        });
        await recordReview(client, scope, { ...request, filter }, decided.length);
      });
  if (dryRun) requireHeld(filter, found);
  const heldAgain = decision.action === 'replay' ? await countUncovered(db, scope, found) : 0;
  return {
    dryRun,
    count: found.length,
    deliveryIds: found.slice(0, MAX_LISTED),
    ...(heldAgain > 0 ? { heldAgain } : {}),
  };
}

/**
 * The same for the operator, in each organisation that has some of what is meant. What is named may be refused: it is
 * before anything is changed. `failed`: ids of the organisations that the database refused.
 */
export async function reviewDeliveriesForOperator(
  deps: ReadDependencies,
  operator: Operator,
  request: Omit<ReviewRequest, 'author' | 'filter'> & { filter: OperatorFilter },
): Promise<{ outcome: ReviewOutcome; failed: string[] }> {
  const { filter, dryRun } = request;
  const { found: meant, failed } = await meantBy(deps.db, filter);
  const reviewIn = ({ organisationId, ids }: Meant, dryRun: boolean) => {
    const reviewer = { ...operator, scope: { organisationId } };
    return reviewDeliveries(deps, reviewer, {
      ...request,
      author: OPERATOR,
      filter: { ...filter, ids },
      dryRun,
    });
  };
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return { outcome: await reviewIn(only, dryRun), failed };
  if (filter.ids !== undefined || filter.patientId !== undefined)
    for (const one of meant) await reviewIn(one, true);
  const each = await eachOrganisation(meant, async (one) => [await reviewIn(one, dryRun)]);
  return { outcome: together(dryRun, each.found), failed: [...failed, ...each.failed] };
}

/** An organisation, and those of its deliveries that are named, if any are. */
type Meant = OrganisationScope & { ids?: string[] };

/** Of a patient, the organisations that have deliveries of the patient, and those of which that is not known. */
async function meantBy(db: Pool, filter: OperatorFilter): Promise<EachAnswer<Meant>> {
  const { ids, patientId } = filter;
  if (ids !== undefined) return { found: await findDeliveries(db, { ...filter, ids }), failed: [] };
  const among = await organisations(db, filter);
  if (patientId === undefined) return { found: among, failed: [] };
  return eachOrganisation(among, async (scope) => {
    const { length } = await listDeliveries(db, scope, { filter, limit: 1 });
    return length === 0 ? [] : [scope];
  });
}

function together(dryRun: boolean, outcomes: readonly ReviewOutcome[]): ReviewOutcome {
  const count = outcomes.reduce((sum, outcome) => sum + outcome.count, 0);
  const heldAgain = outcomes.reduce((sum, outcome) => sum + (outcome.heldAgain ?? 0), 0);
  const deliveryIds = outcomes.flatMap((outcome) => outcome.deliveryIds);
  return { dryRun, count, deliveryIds, ...(heldAgain > 0 ? { heldAgain } : {}) };
}

async function aboutPatient(
  db: Pool,
  { organisationId }: OrganisationScope,
  filter: DeliveryFilter & { patientId: string },
): Promise<AboutPatient[]> {
  const { facilityId, patientId } = filter;
  const held = await listDeliveries(db, { organisationId }, { filter, status: 'held', limit: MAX_LISTED });
  // The operator asks of all facilities at once.
  if (facilityId === undefined) return held;
  return [...held, ...(await patientAskedFor(db, { organisationId, facilityId }, patientId))];
}

type FilterOfIds = DeliveryFilter & { ids: readonly string[] };

async function requireKnown(db: Pool, scope: OrganisationScope, filter: FilterOfIds): Promise<void> {
  if (!filter.ids.every(isUuid)) throw notFound('A delivery');
  const ids = filter.ids.map((id) => id.toLowerCase());
  const known = await knownDeliveries(db, scope, { ids, facilityId: filter.facilityId });
  if (!ids.every((id) => known.has(id))) throw notFound('A delivery');
}

/** Of what is named, all is held, also where somebody else decided meanwhile. */
function requireHeld({ ids = [] }: DeliveryFilter, found: readonly string[]): void {
  const held = new Set(found);
  if (!ids.every((id) => held.has(id.toLowerCase()))) throw exchangeError('not_held');
}

/** The reason of a skip is free text and may speak of a patient: it stays with the deliveries. */
async function recordReview(
  client: Client,
  scope: OrganisationScope,
  { author, decision, filter }: ReviewRequest & { filter: DeliveryFilter },
  count: number,
): Promise<void> {
  const { ids, connectionId, patientId, facilityId, heldReason, since, until } = filter;
  await recordChange(client, scope, author, {
    action: `delivery.${decision.action}`,
    subject: { type: 'deliveries', id: connectionId ?? facilityId ?? scope.organisationId },
    facilityIds: facilityId === undefined ? null : [facilityId],
    after: { count, named: ids?.length, connectionId, patientId, heldReason, since, until },
  });
}
