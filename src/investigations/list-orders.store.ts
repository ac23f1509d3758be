/** SQL of the lists of orders: one page of one patient, newest first. */

import {
  BEFORE_ALL,
  type PatientPage,
  type PatientPageKey,
  type PatientPageRow,
  patientPageSql,
  readPatientPage,
} from '../clinical/fetch/patient-page.store.ts';
import type { Discipline } from '../clinical/resources/discipline.ts';
import type { CodeableConcept } from '../fhir/coded.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityScope } from '../tenancy/scope.ts';

export interface ListedOrder {
  id: string;
  encounterId: string | null;
  status: string;
  code: CodeableConcept | null;
  /** As PostgreSQL writes it; `-infinity` when it is not known. */
  sortText: string;
  /** The FHIR date or time that `sortText` is of; null when it is of a part of the order. */
  written: string | null;
}

/** Undefined: no such patient at the facility. */
export async function listOrderPage(
  db: Queryable,
  scope: FacilityScope,
  { discipline, patientId, after = BEFORE_ALL, limit }: PatientPageKey & { discipline: Discipline },
): Promise<PatientPage<ListedOrder> | undefined> {
  const { rows } = await db.query<PatientPageRow & Omit<ListedOrder, 'id'>>({
    name: 'investigation-list',
    text: patientPageSql(
      `select o.id, o.encounter_id as "encounterId", o.status, o.code, o.sort_at, o.sort_at::text as "sortText",
          coalesce(o.authored_source, o.occurrence_start, o.occurrence_end) as written
        from investigation_order o
        where o.organisation_id = $1
          and o.facility_id = $2
          and o.patient_id = $3
          and o.discipline = $4
          and (o.sort_at, o.id) < ($5::timestamptz, $6::uuid)
        order by o.sort_at desc, o.id desc
        limit $7`,
      'page.sort_at desc, page.id desc',
    ),
    values: [scope.organisationId, scope.facilityId, patientId, discipline, ...after, limit],
  });
  return readPatientPage(rows, (row) => row);
}
