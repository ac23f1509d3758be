/** SQL that reads what decides about the discipline of an order: what it says itself, and what it led to. */

import type { Discipline } from '../../../clinical/resources/discipline.ts';
import type { CodeableConcept } from '../../../fhir/coded.ts';
import { rowById } from '../../../platform/db/by-key.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';

export interface OrderEvidence {
  id: string;
  /** As it is stored. */
  discipline: Discipline;
  category: CodeableConcept[] | null;
  code: CodeableConcept | null;
  hasSpecimen: boolean;
  /** That of its first report that has one, else imaging where it has studies, else the kind of its first result. */
  ofParts: Discipline | null;
}

/** Evidence about these orders, but not about made-up ones. */
export async function orderEvidence(
  db: Queryable,
  scope: FacilityScope,
  orderIds: readonly string[],
): Promise<OrderEvidence[]> {
  const { rows } = await db.query<OrderEvidence>({
    name: 'import-order-evidence',
    text: `
      select o.id, o.discipline, o.category, o.code, o.specimen is not null as "hasSpecimen",
        coalesce(
          (
            select r.discipline
            from investigation_report r
            where r.organisation_id = $1
              and r.facility_id = $2
              and r.order_id = o.id
              and r.discipline <> 'other'
            order by r.issued_at, r.id
            limit 1
          ),
          (
            select 'imaging'
            from imaging_study s
            where s.organisation_id = $1
              and s.facility_id = $2
              and s.order_id = o.id
            limit 1
          ),
          (
            select b.kind
            from observation b
            where b.organisation_id = $1
              and b.facility_id = $2
              and b.order_id = o.id
              and b.kind in ('laboratory', 'imaging')
            order by b.effective_at, b.id
            limit 1
          )
        ) as "ofParts"
      from unnest($3::uuid[]) as asked (id)
      -- By its whole key: see src/investigations/grouping.store.ts.
      cross join ${rowById('investigation_order', 'o', 'asked.id', '*')} o
      where not o.made_up`,
    values: [scope.organisationId, scope.facilityId, orderIds],
  });
  return rows;
}
