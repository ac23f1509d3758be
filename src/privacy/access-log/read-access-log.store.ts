/** SQL of reading a patient's access log. */
import type { Queryable } from '../../platform/db/database.ts';
import { instantFromTimestamp, timestampFromDate } from '../../platform/db/timestamp.ts';
import type { Slice } from '../../platform/http/paging.ts';
import { addressOfAccount } from '../../tenancy/callers/account-address.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { AccessEntry } from './access-log.ts';

/** The time as PostgreSQL writes it, the writer and its sequence number. */
export type AccessLogPosition = readonly [occurredAt: string, writerId: string, sequence: number];

export interface AccessLogFilter {
  readonly from: Date | undefined;
  /** Exclusive. */
  readonly before: Date | undefined;
  readonly accountId: string | undefined;
  readonly accountEmail: string | undefined;
  readonly action: string | undefined;
  readonly outcome: AccessEntry['outcome'] | undefined;
}

export interface AccessLogPageKey extends Slice<AccessLogPosition> {
  readonly patientId: string;
  readonly filter: AccessLogFilter;
}

/** An entry as it is shown. */
export type ShownEntry = Pick<
  AccessEntry,
  'accountId' | 'action' | 'resourceType' | 'resourceId' | 'purposeOfUse' | 'outcome' | 'correlationId'
> & {
  /** UTC instant. */
  occurredAt: string;
  /** Null for the operator, for a connection, and for an account that is gone from the directory. */
  accountEmail: string | null;
  /** Of the connection that a delivery was for; null for everything else. */
  connectionName: string | null;
};

export interface FoundEntry {
  entry: ShownEntry;
  position: AccessLogPosition;
}

type FoundRow = Omit<ShownEntry, 'occurredAt'> & { occurredText: string; writerId: string; sequence: number };

const PAGE = `
  select l.occurred_at::text as "occurredText", l.writer_id as "writerId", l.sequence, l.account_id as "accountId",
    d.email as "accountEmail", (
      select name
      from exchange_connection c
      where c.organisation_id = $1
        and c.id = l.account_id
    ) as "connectionName", l.action, l.resource_type as "resourceType", l.resource_id as "resourceId",
    l.purpose_of_use as "purposeOfUse", l.outcome, l.correlation_id as "correlationId"
  from access_log l
  left join ${addressOfAccount('l.account_id')} d
    on true
  where l.organisation_id = $1
    and l.facility_id = $2
    and l.patient_id = $3
    and l.occurred_at >= $4::timestamptz
    and l.occurred_at < $5::timestamptz
    and ($6::uuid is null or l.account_id = $6)
    and ($7::text is null or l.action = $7)
    and ($8::text is null or l.outcome = $8)
    and ($13::text is null or lower(d.email) = lower($13))
    and (l.occurred_at, l.writer_id, l.sequence) < ($9::timestamptz, $10::uuid, $11::bigint)
  order by l.occurred_at desc, l.writer_id desc, l.sequence desc
  limit $12`;

const BEFORE_ALL: AccessLogPosition = [
  'infinity',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  Number.MAX_SAFE_INTEGER,
];

/** What was done at this facility with one patient's data, newest first. */
export async function loadAccessLogPage(
  db: Queryable,
  scope: FacilityScope,
  { patientId, filter, after = BEFORE_ALL, limit }: AccessLogPageKey,
): Promise<FoundEntry[]> {
  const { rows } = await db.query<FoundRow>({
    text: PAGE,
    values: [
      scope.organisationId,
      scope.facilityId,
      patientId,
      filter.from === undefined ? '-infinity' : timestampFromDate(filter.from),
      filter.before === undefined ? 'infinity' : timestampFromDate(filter.before),
      filter.accountId ?? null,
      filter.action ?? null,
      filter.outcome ?? null,
      ...after,
      limit,
      filter.accountEmail ?? null,
    ],
  });
  return rows.map(({ occurredText, writerId, sequence, ...entry }) => ({
    entry: { occurredAt: instantFromTimestamp(occurredText), ...entry },
    position: [occurredText, writerId, sequence],
  }));
}
