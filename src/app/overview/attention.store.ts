/**
 * SQL of what somebody should look at, at one facility. Each statement stops counting at `MOST`, so that a facility in
 * trouble is answered as fast as any other. Contract: ADM-53.
 */
import { rowsByIndex } from '../../platform/db/by-key.ts';
import { oneRow, type Queryable } from '../../platform/db/database.ts';
import type { UserType } from '../../sign-in/accounts/account.store.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';

/** Counted at most. */
export const MOST = 1_000;

async function countUpTo(db: Queryable, text: string, values: unknown[]): Promise<number> {
  const counting = `select count(*)::integer as count from (${text} limit ${MOST + 1}) found`;
  return (await oneRow<{ count: number }>(db, { text: counting, values })).count;
}

export function countHeldDeliveries(db: Queryable, scope: FacilityScope): Promise<number> {
  const text = `
    select 1
    from exchange_head h
    cross join ${rowsByIndex('exchange_delivery', 'd', { first: { connection_id: 'h.connection_id', patient_id: 'h.patient_id' }, column: 'sequence', value: 'h.sequence' }, 'd.facility_id')} d
    where h.organisation_id = $1
      and h.held_at is not null
      and d.facility_id = $2`;
  return countUpTo(db, text, [scope.organisationId, scope.facilityId]);
}

/** Connections that cover the facility and whose exchange is down. */
export function countOpenBreakers(db: Queryable, scope: FacilityScope): Promise<number> {
  const text = `
    select 1
    from exchange_circuit k
    join exchange_connection c
      on c.organisation_id = $1
      and c.id = k.connection_id
    where k.organisation_id = $1
      and k.opened_at is not null
      and c.disabled_at is null
      and (c.all_facilities or exists (
        select
        from exchange_connection_facility f
        where f.organisation_id = $1
          and f.connection_id = c.id
          and f.facility_id = $2
      ))`;
  return countUpTo(db, text, [scope.organisationId, scope.facilityId]);
}

/** As the states of an account are told apart: without a password, there is none to change yet. */
const WAITING = {
  'password-change': 'a.must_change_password and not a.requires_password_setup',
  'password-setup': 'a.requires_password_setup',
};

/** Enabled accounts of the facility that somebody waits for: to set or to change a password. */
export async function countAccounts(
  db: Queryable,
  scope: FacilityScope,
  { userType, waitsFor }: { userType: UserType; waitsFor: keyof typeof WAITING },
): Promise<number> {
  const text = `
    select 1
    from account a
    join account_facility f
      on f.organisation_id = $1
      and f.account_id = a.id
    where a.organisation_id = $1
      and f.facility_id = $2
      and a.disabled_at is null
      and a.user_type = $3
      and ${WAITING[waitsFor]}`;
  return countUpTo(db, text, [scope.organisationId, scope.facilityId, userType]);
}

/** Imports of the last seven days that rejected something, or did not come to their end. */
export function countRejectedImports(db: Queryable, scope: FacilityScope): Promise<number> {
  const text = `
    select 1
    from import_run r
    where r.organisation_id = $1
      and r.facility_id = $2
      and r.started_at > now() - interval '7 days'
      and (r.state in ('rejected', 'failed')
        or (r.state = 'running' and r.alive_at < clock_timestamp() - interval '1 minute'))`;
  return countUpTo(db, text, [scope.organisationId, scope.facilityId]);
}
