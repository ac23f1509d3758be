/** SQL of the list of unmapped codes. Contract: TERM-16. */
import { rowsByIndex } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Slice } from '../../platform/http/paging.ts';
import { type RetentionRule, removeOverdue } from '../../tenancy/organisations/retention.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

/** A local code that was met without a standard one. */
export interface MetCode {
  facilityId: string;
  /** Empty when the code came without a system. */
  localSystem: string;
  localCode: string;
  localDisplay: string | null;
  /** What it was met in, such as `lab.result`. */
  place: string;
  count: number;
}

export interface ListedCode extends Omit<MetCode, 'place'> {
  firstMetAt: Date;
  lastMetAt: Date;
  places: { place: string; count: number }[];
}

/** Count, facility, local system, local code. */
export type UnmappedPosition = readonly [
  count: number,
  facilityId: string,
  localSystem: string,
  localCode: string,
];

/** Add to the counts, in one statement. Each facility, code and place at most once. */
export async function addMetCodes(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { met, now }: { met: readonly MetCode[]; now: Date },
): Promise<void> {
  await db.query({
    name: 'terminology-met',
    text: `
      insert into terminology_unmapped as known (organisation_id, facility_id, local_system, local_code, place,
        local_display, met_count, first_met_at, last_met_at)
      select $1, given.*, $8, $8
      from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[]) as given
      order by 2, 3, 4, 5
      on conflict (organisation_id, facility_id, local_system, local_code, place) do update
      set met_count = known.met_count + excluded.met_count,
        local_display = coalesce(excluded.local_display, known.local_display),
        last_met_at = greatest(known.last_met_at, excluded.last_met_at)`,
    values: [
      organisationId,
      met.map((code) => code.facilityId),
      met.map((code) => code.localSystem),
      met.map((code) => code.localCode),
      met.map((code) => code.place),
      met.map((code) => code.localDisplay),
      met.map((code) => code.count),
      now,
    ],
  });
}

/** The entries of the local code of `code`. */
function mapsOf(alias: string, code: string): string {
  const index = {
    first: { local_system: `${code}.local_system` },
    column: 'local_code',
    value: `${code}.local_code`,
  };
  return rowsByIndex('terminology_map', alias, index);
}

/**
 * Codes that were met and that no map covers now, those met most often first. A map covers a code when the
 * entry that counts for the facility gives a standard code for it, or says that there is none.
 */
export async function listUnmapped(
  db: Queryable,
  scope: OrganisationScope,
  page: Slice<UnmappedPosition> & { facilityId: string | null; place?: string | undefined },
): Promise<ListedCode[]> {
  const { rows } = await db.query<ListedCode>({
    name: 'terminology-unmapped',
    text: `
      with met as (
        select unmapped.facility_id, unmapped.local_system, unmapped.local_code,
          max(unmapped.local_display) as local_display,
          sum(unmapped.met_count)::bigint as met_count,
          min(unmapped.first_met_at) as first_met_at,
          max(unmapped.last_met_at) as last_met_at,
          json_agg(json_build_object('place', unmapped.place, 'count', unmapped.met_count)
            order by unmapped.met_count desc, unmapped.place) as places
        from terminology_unmapped unmapped
        where unmapped.organisation_id = $1
          and ($2::uuid is null or unmapped.facility_id = $2)
          and ($3::text is null or unmapped.place = $3)
          and not exists (
            select
            from ${mapsOf('map', 'unmapped')} map
            where (map.facility_id is null or map.facility_id = unmapped.facility_id)
              and map.equivalence in ('equal', 'equivalent', 'wider', 'subsumes', 'unmatched')
              and not exists (
                select
                from ${mapsOf('own', 'map')} own
                where map.facility_id is null
                  and own.target_system = map.target_system
                  and own.facility_id = unmapped.facility_id
              )
          )
        group by unmapped.facility_id, unmapped.local_system, unmapped.local_code
      )
      select facility_id as "facilityId", local_system as "localSystem", local_code as "localCode",
        local_display as "localDisplay", met_count as count, places, first_met_at as "firstMetAt",
        last_met_at as "lastMetAt"
      from met
      where $4::bigint is null
        or met_count < $4
        or (met_count = $4 and (facility_id, local_system, local_code) > ($5::uuid, $6, $7))
      order by met_count desc, facility_id, local_system, local_code
      limit $8`,
    values: [
      scope.organisationId,
      page.facilityId,
      page.place,
      ...(page.after ?? [null, null, null, null]),
      page.limit,
    ],
  });
  return rows;
}

/** Forgets codes that were not met for so many days. One that is met again is counted anew. */
export function unmappedRetentionRule(days: number): RetentionRule {
  const key = ['facility_id', 'local_system', 'local_code', 'place'];
  return removeOverdue({
    name: 'unmapped codes',
    days,
    table: 'terminology_unmapped',
    key,
    isOver: 't.last_met_at < $2',
  });
}
