/** SQL that finds a result with a local code. */
import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { HL7_SYSTEM_PREFIX, STANDARD_SYSTEMS } from '../../terminology/lookup/code-systems.ts';

/** Codes have no index: they are looked for in so many results, and the first one ends the search. */
const LOOKED_AT = 20_000;

/**
 * A result that has the code, itself or in a component, and no standard code of the source beside it. Its patient does not
 * refuse the purpose.
 */
export async function findResultWithCode(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { system, code, purposeOfUse }: { system: string; code: string; purposeOfUse: PurposeOfUse },
): Promise<{ id: string; orderId: string } | undefined> {
  const { rows } = await db.query<{ id: string; orderId: string }>({
    name: 'lab-result-with-code',
    text: `
      select o.id, o.order_id as "orderId"
      from (
        select r.id, r.order_id, r.patient_id, r.code
        from observation r
        where r.organisation_id = $1
          and r.facility_id = $2
          and r.order_id is not null
        limit ${LOOKED_AT}
      ) o
      join patient p
        on p.organisation_id = $1
        and p.id = o.patient_id
      join investigation_order i
        on i.organisation_id = $1
        and i.facility_id = $2
        and i.id = o.order_id
        and i.discipline = 'laboratory'
      where not $5 = any(p.refused_purposes)
        and exists (
          select
          from (
            select o.code
            union all
            select m.code
            from observation_component m
            where m.organisation_id = $1
              and m.facility_id = $2
              and m.observation_id = o.id
          ) whole_or_component
          where exists (
              select
              from jsonb_array_elements(code -> 'coding') c
              where c ->> 'code' = $4
                and coalesce(c ->> 'system', '') = $3
            )
            and not exists (
              select
              from jsonb_array_elements(code -> 'coding') c
              where c ->> 'code' is not null
                and (c ->> 'system' = any($6::text[]) or starts_with(c ->> 'system', $7))
            )
        )
      limit 1`,
    values: [
      organisationId,
      facilityId,
      system,
      code,
      purposeOfUse,
      [...STANDARD_SYSTEMS],
      HL7_SYSTEM_PREFIX,
    ],
  });
  return rows[0];
}
