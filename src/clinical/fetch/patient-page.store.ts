/** SQL of one page of a patient's records, in one statement with what the patient refuses. Contract: FETCH-20. */

import { rowByKey } from '../../platform/db/by-key.ts';

/** `$1`: the organisation. `$2`: the facility. `$3`: the patient. No row: no such patient at the facility. */
export function patientPageSql(page: string, order: string): string {
  return `
      select p.refused_purposes, page.*
      from patient_registration g
      cross join ${rowByKey('patient', 'p', { id: 'g.patient_id' }, 'p.refused_purposes')} p
      left join lateral (
        ${page}
      ) page on true
      where g.organisation_id = $1
        and g.facility_id = $2
        and g.patient_id = $3
      order by ${order}`;
}

/** A row of it. The only row of an empty page has no id. */
export interface PatientPageRow {
  refused_purposes: string[];
  id: string | null;
}

/** Undefined: no such patient at the facility. */
export function readPatientPage<Row extends PatientPageRow>(
  rows: readonly Row[],
): { refusedPurposes: readonly string[]; found: (Row & { id: string })[] } | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const found = rows.filter((row): row is Row & { id: string } => row.id !== null);
  return { refusedPurposes: first.refused_purposes, found };
}
