/** SQL of the patient search: one page of a facility's patients, ordered by name. */

import type { PurposeOfUse } from '../fhir/purpose-of-use.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { PATIENT_COLUMNS, type PatientRow, toPatient } from './patient.store.ts';
import type { PatientRecord } from './patient.ts';
import type { SearchTerms } from './search-key.ts';

/** Where a page ended. */
export interface PatientPosition {
  readonly sortName: string;
  readonly id: string;
}

export interface PatientSearch {
  /** Undefined: every patient of the facility. */
  readonly terms: SearchTerms | undefined;
  /** Patients who refuse it are left out. */
  readonly purposeOfUse: PurposeOfUse;
  readonly after: PatientPosition | undefined;
  /** Patients on the page at most. */
  readonly limit: number;
}

export interface PatientPage {
  patients: PatientRecord[];
  /** Where the next page goes on; undefined when there is none. */
  next: PatientPosition | undefined;
}

export async function searchPatientPage(
  db: Queryable,
  scope: FacilityScope,
  search: PatientSearch,
): Promise<PatientPage> {
  const { text, values } = searchStatement(scope, search);
  if (text === undefined) return { patients: [], next: undefined };
  // Not a named statement: the planner must see the terms, to choose between walking the names in order and
  // collecting the matches of a rare term.
  const { rows } = await db.query<PatientRow & { sort_name: string }>({ text, values });
  const shown = rows.slice(0, search.limit);
  const last = shown.at(-1);
  return {
    patients: shown.map((row) => toPatient(scope.organisationId, row)),
    next: rows.length > search.limit && last ? { sortName: last.sort_name, id: last.id } : undefined,
  };
}

function searchStatement(
  scope: FacilityScope,
  { terms, purposeOfUse, after, limit }: PatientSearch,
): { text: string | undefined; values: unknown[] } {
  const values: unknown[] = [scope.organisationId, scope.facilityId, purposeOfUse, limit + 1];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const position =
    after === undefined
      ? ''
      : `and (p.sort_name, p.id) > (${parameter(after.sortName)}, ${parameter(after.id)}::uuid)`;
  const branches = terms === undefined ? [''] : matches(terms, parameter);
  // Signs alone are no part of any name or number.
  if (branches.length === 0) return { text: undefined, values };
  const pages = branches.map((match) => `(${candidates(`${position} ${match}`)})`);
  const text = `
    with page as (
      select sort_name, id
      from (${pages.join(' union ')}) matched
      order by sort_name, id
      limit $4
    )
    select page.sort_name, ${PATIENT_COLUMNS}
    from page
    join patient p
      on p.organisation_id = $1
      and p.id = page.id
    order by page.sort_name, page.id`;
  return { text, values };
}

/** One page of the facility's patients that meet a condition; each branch can stop at the page's size. */
function candidates(condition: string): string {
  return `
    select p.sort_name, p.id
    from patient p
    join patient_registration r
      on r.organisation_id = $1
      and r.facility_id = $2
      and r.patient_id = p.id
    where p.organisation_id = $1
      and p.sort_name >= ''
      and not $3 = any(p.refused_purposes)
      ${condition}
    order by p.sort_name, p.id
    limit $4`;
}

/** Two ways to match: every word starts a name part, or the whole text is an identifier, phone or email. */
function matches(terms: SearchTerms, parameter: (value: unknown) => string): string[] {
  const hasKey = (condition: string) => `
      and exists (
        select
        from patient_search_key k
        where k.organisation_id = $1
          and k.patient_id = p.id
          and ${condition}
      )`;
  const byName = terms.nameStarts.map((start) => {
    return hasKey(`k.kind = 'name' and k.key like ${parameter(`${escapeLike(start)}%`)}`);
  });
  const whole = (['identifier', 'phone', 'email'] as const).filter((kind) => terms[kind] !== '');
  const byWhole = whole.map((kind) => hasKey(`k.kind = '${kind}' and k.key = ${parameter(terms[kind])}`));
  return [...(byName.length === 0 ? [] : [byName.join('')]), ...byWhole];
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
