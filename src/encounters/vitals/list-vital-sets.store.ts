/** SQL of the list of vital sets: one page of one patient, newest first. */

import { parts, readRow } from '../../clinical/content/document.ts';
import {
  BEFORE_ALL,
  type PatientPage,
  type PatientPageKey,
  type PatientPageRow,
  patientPageSql,
  readPatientPage,
} from '../../clinical/fetch/patient-page.store.ts';
import { JOINED_CODES } from '../../clinical/observations/blood-pressure.fhir.ts';
import { type ObservationRecord, PRESSURE_FIELDS } from '../../clinical/resources/observation.fhir.ts';
import { rowsByIndex } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { LOINC } from '../../terminology/lookup/code-systems.ts';

export interface ListedVitalSet {
  id: string;
  encounterId: string | null;
  /** `taken_at` as PostgreSQL writes it. */
  sortText: string;
  /** Observations of the sources. */
  signs: number;
  /** Those of them that may go out as part of another one. */
  pressures: ObservationRecord[];
}

interface VitalSetRow extends PatientPageRow, Pick<ListedVitalSet, 'encounterId' | 'sortText' | 'signs'> {
  pressures: unknown[][] | null;
}

const SIGNS = `${rowsByIndex('observation', 'b', { first: { facility_id: '$2' }, column: 'vital_set_id', value: 'v.id' })} b`;

/** By their LOINC codes, or by local ones that a map may lead to these. One with components is a whole pressure. */
const PRESSURES = parts(
  'pressures',
  PRESSURE_FIELDS('b'),
  `from ${SIGNS}
          where b.patient_id = v.patient_id
            and b.order_id is null
            and exists (
              select
              from jsonb_array_elements(b.code -> 'coding') coding
              where coding ->> 'system' is distinct from '${LOINC}'
                or coding ->> 'code' in (${JOINED_CODES.map((code) => `'${code}'`).join(', ')})
            )
            and not exists (
              select
              from observation_component c
              where c.organisation_id = $1
                and c.facility_id = $2
                and c.observation_id = b.id
            )`,
  'b.effective_at, b.issued_at, b.id',
);

/** Undefined: no such patient at the facility. */
export async function listVitalSetPage(
  db: Queryable,
  scope: FacilityScope,
  { patientId, after = BEFORE_ALL, limit }: PatientPageKey,
): Promise<PatientPage<ListedVitalSet> | undefined> {
  const { rows } = await db.query<VitalSetRow>({
    name: 'vital-set-list',
    text: patientPageSql(
      `select v.id, v.encounter_id as "encounterId", v.taken_at, v.taken_at::text as "sortText",
          (
            select count(*)::int
            from ${SIGNS}
            where b.patient_id = v.patient_id
          ) as signs,
          ${PRESSURES.sql} as pressures
        from vital_set v
        where v.organisation_id = $1
          and v.facility_id = $2
          and v.patient_id = $3
          and (v.taken_at, v.id) < ($4::timestamptz, $5::uuid)
        order by v.taken_at desc, v.id desc
        limit $6`,
      'page.taken_at desc, page.id desc',
    ),
    values: [scope.organisationId, scope.facilityId, patientId, ...after, limit],
  });
  return readPatientPage(rows, (row) => ({
    ...row,
    pressures: (readRow([PRESSURES], [row.pressures]) as Pick<ListedVitalSet, 'pressures'>).pressures ?? [],
  }));
}
