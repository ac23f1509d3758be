/**
 * SQL of the patient search: one page of a facility's patients, ordered by name.
 * Contract: PAT-2, PAT-4, PAT-5, PAT-11.
 */

import type { SearchTerms } from '../clinical/resources/search-key.ts';
import type { PurposeOfUse } from '../fhir/purpose-of-use.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { Slice } from '../platform/http/paging.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { PATIENT_COLUMNS, type PatientRow, toPatient } from './patient.store.ts';
import type { PatientRecord } from './patient.ts';
import { mayBeNamed, REPLACEMENTS } from './replacement.store.ts';

export type PatientPosition = readonly [sortName: string, id: string];

export interface PatientSearch extends Slice<PatientPosition> {
  /** Undefined: every patient of the facility. */
  readonly terms: SearchTerms | undefined;
  /** Patients who refuse it are left out. */
  readonly purposeOfUse: PurposeOfUse;
}

export interface FoundPatient {
  record: PatientRecord;
  position: PatientPosition;
}

export async function searchPatientPage(
  db: Queryable,
  scope: FacilityScope,
  search: PatientSearch,
): Promise<FoundPatient[]> {
  const { text, values } = searchStatement(scope, search);
  if (text === undefined) return [];
  // Not a named statement: the planner must see the terms, to choose between walking the names in order and
  // collecting the matches of a rare term.
  const { rows } = await db.query<PatientRow & { sort_name: string }>({ text, values });
  return rows.map(({ sort_name, ...row }) => ({
    record: toPatient(scope.organisationId, row),
    position: [sort_name, row.id],
  }));
}

function searchStatement(
  scope: FacilityScope,
  { terms, purposeOfUse, after, limit }: PatientSearch,
): { text: string | undefined; values: unknown[] } {
  const values: unknown[] = [scope.organisationId, scope.facilityId, purposeOfUse, limit];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const position =
    after === undefined
      ? ''
      : `and (p.sort_name, p.id) > (${parameter(after[0])}, ${parameter(after[1])}::uuid)`;
  const meets = terms === undefined ? undefined : matches(terms, parameter);
  // Signs alone are no part of any name or number.
  if (meets?.length === 0) return { text: undefined, values };
  const branches = meets === undefined ? [''] : [...meets.map((meet) => `and ${meet('p')}`), IS_SURVIVOR];
  const pages = branches.map((match) => `(${candidates(`${position} ${match}`)})`);
  const text = `
    with recursive ${meets === undefined ? '' : `${survivors(meets)}, `}page as (
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

const IS_SURVIVOR = 'and p.id in (select s.id from survivor s)';

/**
 * Who replaces the patients that meet one of the conditions, and who replaces these in turn. A patient whom the search
 * would not show leads nowhere, neither first nor in between.
 */
function survivors(meets: readonly Condition[]): string {
  // One select for each condition: each is planned from its rarer side, the matches or the links.
  const first = meets.map(
    (meet) => `
      select x.survivor_id
      from ${REPLACEMENTS} x
      join patient_registration r
        on r.organisation_id = $1
        and r.facility_id = $2
        and r.patient_id = x.replaced_id
      join patient m
        on m.organisation_id = $1
        and m.id = x.replaced_id
      where not $3 = any(m.refused_purposes)
        and ${meet('m')}`,
  );
  return `survivor (id) as (
      (${first.join(' union ')})
      union
      select x.survivor_id
      from survivor s
      join ${REPLACEMENTS} x on x.replaced_id = s.id
      where ${mayBeNamed('s.id', { facilityId: '$2', purposeOfUse: '$3' })}
    )`;
}

/** SQL that is true for a patient with this alias. */
type Condition = (alias: string) => string;

/** Two ways to match: every word starts a name part, or the whole text is an identifier, phone or email. */
function matches(terms: SearchTerms, parameter: (value: unknown) => string): Condition[] {
  const hasKey =
    (condition: string): Condition =>
    (alias) =>
      `
      exists (
        select
        from patient_search_key k
        where k.organisation_id = $1
          and k.patient_id = ${alias}.id
          and ${condition}
      )`;
  const byName = terms.nameStarts.map((start) => {
    return hasKey(`k.kind = 'name' and k.key like ${parameter(`${escapeLike(start)}%`)}`);
  });
  const whole = (['identifier', 'phone', 'email'] as const).filter((kind) => terms[kind] !== '');
  const byWhole = whole.map((kind) => hasKey(`k.kind = '${kind}' and k.key = ${parameter(terms[kind])}`));
  const everyName: Condition = (alias) => `(${byName.map((one) => one(alias)).join(' and ')})`;
  return [...(byName.length === 0 ? [] : [everyName]), ...byWhole];
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
