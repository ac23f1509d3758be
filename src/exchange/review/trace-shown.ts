/**
 * What a review shows of a patient is entered in the access log, or left out if the patient refuses the purpose
 * (docs/adr/0053).
 * Contract: LOG-7, EXC-32.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { AccessEntry, AccessLog } from '../../privacy/access-log/access-log.ts';
import { accessEntry, type Reader } from '../../privacy/authorise-access.ts';
import { allowsPurpose } from '../../privacy/decide.ts';
import { privacyError } from '../../privacy/errors.ts';
import { findRefusedPurposes } from '../../privacy/refused-purposes.store.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

/** Something about one patient, as the store gives it. */
export interface AboutPatient {
  organisationId: string;
  facilityId: string;
  patientId: string;
  refusedPurposes: string[];
}

/** Who is shown it, for which purpose, and what the access log calls that. */
export interface Review extends Omit<Reader, 'scope'> {
  action: 'delivery.list' | 'delivery.read' | 'patient.delivery-payload.read' | 'callback.list';
}

/** Who reviews: a caller at a facility, or the operator at all facilities of an organisation. */
export type Reviewer = Omit<Reader, 'scope'> & {
  readonly scope: OrganisationScope & { readonly facilityId?: string };
};

/**
 * Tells which of the items may name their patient, once one entry for each patient is durable: allowed, or refused.
 * All entries are written at once.
 */
export async function traceShown<Item extends AboutPatient>(
  accessLog: AccessLog,
  review: Review,
  items: readonly Item[],
): Promise<(item: Item) => boolean> {
  const mayShow = (item: Item) => allowsPurpose(item.refusedPurposes, review.purposeOfUse);
  const entries = new Map<string, AccessEntry>();
  for (const item of items) {
    const { patientId } = item;
    const record = { patientId, action: review.action, resourceType: 'Patient', resourceId: patientId };
    const entry = accessEntry({ ...review, scope: item }, record, mayShow(item) ? 'allowed' : 'refused');
    entries.set(`${item.facilityId}/${patientId}`, entry);
  }
  if (entries.size > 0) await accessLog.record([...entries.values()]);
  return mayShow;
}

/**
 * The patient whom somebody asks about, if registered at the facility: that nothing was found says something of the
 * patient, too.
 */
export async function patientAskedFor(
  db: Queryable,
  { organisationId, facilityId }: { organisationId: string; facilityId: string },
  patientId: string,
): Promise<AboutPatient[]> {
  const id = patientId.toLowerCase();
  const refusedPurposes = await findRefusedPurposes(db, { organisationId, facilityId }, id);
  return refusedPurposes === undefined
    ? []
    : [{ organisationId, facilityId, patientId: id, refusedPurposes }];
}

/** For a list of one patient's: 403 when the patient refuses the purpose. */
export function requireShown(mayShow: boolean): void {
  if (!mayShow) throw privacyError('purpose_refused');
}
