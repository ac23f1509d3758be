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
import { mayBeNamed, replacementsOf } from './replacement.store.ts';

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

/** How many patients are few at first. */
const FEW = 1_000;

/**
 * A page comes from the patients with a key that is searched for, or from those of the facility, or from all names in
 * their order until it is full. Which of these ends first is not known before, and the database may have no statistics.
 * So each is taken if it ends within a few patients; if none does, four times as many are few. All rounds together read a
 * small multiple of what the shortest of the three has, however large the others are. Each round begins anew: its answer
 * is that of one statement.
 */
export async function searchPatientPage(
  db: Queryable,
  scope: FacilityScope,
  search: PatientSearch,
): Promise<FoundPatient[]> {
  for (let few = FEW; ; few *= 4) {
    const { text, values } = searchStatement(scope, search, few);
    if (text === undefined) return [];
    const { rows } = await db.query<FoundRow | NobodyRow>({ text, values });
    const found = rows.filter((row) => row.id !== null);
    if (found.length < search.limit && rows.some(({ whole }) => !whole)) continue;
    return found.map(({ whole: _, sort_name, ...row }) => ({
      record: toPatient(scope.organisationId, row),
      position: [sort_name, row.id],
    }));
  }
}

/** Whether the page was taken from one of the sources as a whole. */
interface Taken {
  whole: boolean;
}

type FoundRow = PatientRow & Taken & { sort_name: string };

/** The only row of an empty page. */
type NobodyRow = Taken & { id: null };

/**
 * What each patient must meet is looked up by whole keys, in scalar selects: a join could be planned the other way round.
 * Where neither source is few, the page is that of the first few names.
 */
function searchStatement(
  scope: FacilityScope,
  { terms, purposeOfUse, after, limit }: PatientSearch,
  few: number,
): { text: string | undefined; values: unknown[] } {
  const values: unknown[] = [scope.organisationId, scope.facilityId, purposeOfUse, limit];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const position =
    after === undefined
      ? ''
      : `and (p.sort_name, p.id) > (${parameter(after[0])}, ${parameter(after[1])}::uuid)`;
  const match = terms === undefined ? undefined : matchOf(terms, parameter);
  // Signs alone are no part of any name or number.
  if (match?.keys.length === 0) return { text: undefined, values };
  const page = (source: string, condition: string) => `(
        select p.sort_name, p.id
        from ${source}
        where ${condition}
          ${position}
        order by p.sort_name, p.id
        limit $4
      )`;
  const names = `(
          select p.sort_name, p.id
          from patient p
          where p.organisation_id = $1
            and p.sort_name >= ''
            ${position}
          order by p.sort_name, p.id
          limit ${few}
        ) p`;
  const shown = match === undefined ? '' : `and (${match.meets('p.id')} or ${survives('p.id', match)})`;
  const [matchedFew, hereFew] = ['(select few from matched_count)', '(select few from here_count)'];
  const common = match === undefined ? '' : `not ${matchedFew} and`;
  const pages = [
    page(patientsOf('here'), `${common} ${hereFew} and not $3 = any(p.refused_purposes) ${shown}`),
    page(names, `${common} not ${hereFew} and ${mayBeNamed('p.id', VIEWER)} ${shown}`),
    ...(match === undefined ? [] : [page(patientsOf('found'), 'true')]),
  ];
  const text = `
    with recursive ${match === undefined ? '' : `${matchedBy(match, few)}, `}${facility(few)}, page as (
      select sort_name, id
      from (${pages.join(' union ')}) candidate
      order by sort_name, id
      limit $4
    )
    select taken.whole, page.sort_name, ${PATIENT_COLUMNS}
    from (select ${match === undefined ? '' : `${matchedFew} or `}${hereFew} as whole) taken
    left join (page cross join ${patientById('page.id')} p) on true
    order by page.sort_name, page.id`;
  return { text, values };
}

const VIEWER = { facilityId: '$2', purposeOfUse: '$3' };

/** Some of the facility's patients, and whether that is all of them. */
function facility(few: number): string {
  return `here (id) as materialized (
      select r.patient_id
      from patient_registration r
      where r.organisation_id = $1
        and r.facility_id = $2
      limit ${few + 1}
    ), here_count (few) as materialized (
      select count(*) <= ${few}
      from here
    )`;
}

/** The patients whose ids a source has, as `p`. */
function patientsOf(source: string): string {
  return `${source} source
        cross join ${patientById('source.id')} p`;
}

/** A lateral look-up by the whole key. */
function patientById(id: string): string {
  return `lateral (
          select p.*
          from patient p
          where p.organisation_id = $1
            and p.id = ${id}
          offset 0
        )`;
}

/**
 * Some of the patients with a key that is searched for, and whether that is all of them. If it is, those of them who meet
 * the search are found, and who replaces these, and who replaces them in turn. A patient whom the search would not show
 * leads nowhere, neither first nor in between.
 */
function matchedBy({ keys, meets }: Match, few: number): string {
  const some = keys.map(
    (key) => `(
        select k.patient_id
        from patient_search_key k
        where k.organisation_id = $1
          and ${key}
        limit ${few + 1}
      )`,
  );
  // All rows count: a patient may have several of the keys, and each limit is one of rows.
  return `matched (id) as materialized (
      ${some.join(' union all ')}
    ), matched_count (few) as materialized (
      select count(*) <= ${few}
      from matched
    ), found (id) as (
      select m.id
      from matched m
      where (select few from matched_count)
        and ${mayBeNamed('m.id', VIEWER)}
        and ${meets('m.id')}
      union
      select x.survivor_id
      from found f
      cross join ${replacementsOf('f.id')} x
      where ${mayBeNamed('x.survivor_id', VIEWER)}
    )`;
}

/** Whether the patient with this id replaces one who meets the search: {@link matchedBy} from the other end. */
function survives(patientId: string, { meets }: Match): string {
  const replacedBy = (survivorId: string) => `lateral (
              select l.replaced_id
              from patient_link l
              where l.organisation_id = $1
                and l.survivor_id = ${survivorId}
                and l.replaced_id is not null
              offset 0
            )`;
  return `(
            with recursive replaced (id) as (
              select l.replaced_id
              from ${replacedBy(patientId)} l
              union
              select l.replaced_id
              from replaced r
              cross join ${replacedBy('r.id')} l
              where ${mayBeNamed('r.id', VIEWER)}
            )
            select true
            from replaced r
            where ${mayBeNamed('r.id', VIEWER)}
              and ${meets('r.id')}
            limit 1
          ) is true`;
}

interface Match {
  /** Conditions on a search key `k`, each of which some look-up answers; who is searched for has one of these keys. */
  keys: string[];
  /** Whether the patient with this id is searched for. */
  meets(patientId: string): string;
}

/** Two ways to match: every word starts a name part, or the whole text is an identifier, phone or email. */
function matchOf(terms: SearchTerms, parameter: (value: unknown) => string): Match {
  const whole = (['identifier', 'phone', 'email'] as const)
    .filter((kind) => terms[kind] !== '')
    .map((kind) => `k.kind = '${kind}' and k.key = ${parameter(terms[kind])}`);
  const starts = terms.nameStarts.map(
    (start) => `k.kind = 'name' and k.key like ${parameter(`${escapeLike(start)}%`)}`,
  );
  const longest = terms.nameStarts.reduce(
    (at, { length }, index, all) => (length > (all[at]?.length ?? 0) ? index : at),
    0,
  );
  const names = starts.map((start) => `bool_or(${start})`).join(' and ');
  const either = [...(names === '' ? [] : [`(${names})`]), ...whole.map((one) => `bool_or(${one})`)];
  return {
    keys: [...starts.slice(longest, longest + 1), ...whole],
    // Inside, only the patient: the index of all keys would answer the rest, for each patient.
    meets: (patientId) => `(
            select ${either.join(' or ')}
            from (
              select k.kind, k.key
              from patient_search_key k
              where k.organisation_id = $1
                and k.patient_id = ${patientId}
              offset 0
            ) k
          ) is true`,
  };
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
