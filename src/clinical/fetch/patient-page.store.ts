/** SQL of one page of a patient's records, in one statement with what the patient refuses. Contract: FETCH-20. */

import { rowByKey } from '../../platform/db/by-key.ts';
import type { Slice } from '../../platform/http/paging.ts';

/** The time that a list is ordered by, as PostgreSQL writes it with its microseconds, and the id. */
export type TimePosition = readonly [at: string, id: string];

export interface PatientPageKey extends Slice<TimePosition> {
  patientId: string;
}

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

export interface PatientPage<Item> {
  refusedPurposes: readonly string[];
  items: Item[];
}

/** Undefined: no such patient at the facility. */
export function readPatientPage<Row extends PatientPageRow, Item>(
  rows: readonly Row[],
  read: (row: Row & { id: string }) => Item,
): PatientPage<Item> | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const found = rows.filter((row): row is Row & { id: string } => row.id !== null);
  return { refusedPurposes: first.refused_purposes, items: found.map(read) };
}

/** Above every position: an instant as PostgreSQL writes it, and an id. The first page then needs no statement of its own. */
export const BEFORE_ALL = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff'] as const;
