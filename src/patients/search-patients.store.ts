/**
 * SQL of the patient search: one page of a facility's patients, ordered by name.
 * Contract: PAT-2, PAT-4, PAT-5, PAT-11.
 */

import { hash } from 'node:crypto';
import type { SearchTerms } from '../clinical/resources/search-key.ts';
import type { PurposeOfUse } from '../fhir/purpose-of-use.ts';
import type { Queryable } from '../platform/db/database.ts';
import { DEFAULT_LIMIT, type Slice } from '../platform/http/paging.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { patientColumns, SUMMARY_MEMBERS, type SummaryRow, toSummary } from './patient.store.ts';
import type { PatientSummary } from './patient.ts';
import { mayBeNamed, replacementsOf } from './replacement.store.ts';

export type PatientPosition = readonly [sortName: string, id: string];

export interface PatientSearch extends Slice<PatientPosition> {
  /** Undefined: every patient of the facility. */
  readonly terms: SearchTerms | undefined;
  /** Patients who refuse it are left out. */
  readonly purposeOfUse: PurposeOfUse;
}

export interface FoundPatient {
  record: PatientSummary;
  position: PatientPosition;
}

/** How many patients are few at first. */
const FEW = 1_000;

/**
 * A page comes from the patients with a key that is searched for, or from those of the facility, or from all names in
 * their order until it is full. Which of these ends first is not known before, and the database may have no statistics.
 *
 * Nearly every search has few patients with a key: they are asked for first, by a statement that is planned once. Else
 * each source is taken if it ends within a few patients; if none does, four times as many are few. All rounds together
 * read a small multiple of what the shortest source has, however large the others are. Each round begins anew: its answer
 * is that of one statement.
 */
export async function searchPatientPage(
  db: Queryable,
  scope: FacilityScope,
  search: PatientSearch,
): Promise<FoundPatient[]> {
  // Signs alone are no part of any name or number.
  if (search.terms !== undefined && isEmpty(search.terms)) return [];
  const matched = search.terms && (await taken(db, matchedStatement(scope, search, search.terms), search));
  if (matched !== undefined) return matched;
  for (let few = FEW; ; few *= 4) {
    const page = await taken(db, searchStatement(scope, search, few), search);
    if (page !== undefined) return page;
  }
}

interface Statement {
  name?: string;
  text: string;
  values: unknown[];
}

/** Undefined: no source is few enough, and the page is not full. */
async function taken(
  db: Queryable,
  statement: Statement,
  { limit }: PatientSearch,
): Promise<FoundPatient[] | undefined> {
  const { rows } = await db.query<FoundRow | NobodyRow>(statement);
  const found = rows.filter((row) => row.id !== null);
  if (found.length < limit && rows.some(({ whole }) => !whole)) return undefined;
  return found.map(({ whole: _, sort_name, ...row }) => ({
    record: toSummary(row),
    position: [sort_name, row.id],
  }));
}

/** Whether the page was taken from one of the sources as a whole. */
interface Taken {
  whole: boolean;
}

type FoundRow = SummaryRow & Taken & { sort_name: string };

/** The only row of an empty page. */
type NobodyRow = Taken & { id: null };

/** What every statement of a search has, with its parameters. */
function parametersOf(
  scope: FacilityScope,
  { purposeOfUse, after }: PatientSearch,
): { values: unknown[]; parameter: (value: unknown) => string; position: string } {
  const values: unknown[] = [scope.organisationId, scope.facilityId, purposeOfUse];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const position =
    after === undefined
      ? ''
      : `and (p.sort_name, p.id) > (${parameter(after[0])}, ${parameter(after[1])}::uuid)`;
  return { values, parameter, position };
}

/** Words of a search that is planned once at most: each number of them is a statement of its own, and so is each limit. */
const MAX_PLANNED_WORDS = 2;

/** The page of the patients with a key that is searched for, if they are few. */
function matchedStatement(scope: FacilityScope, search: PatientSearch, terms: SearchTerms): Statement {
  const { values, parameter, position } = parametersOf(scope, search);
  const text = `
    with recursive ${matchedBy(matchOf(terms, parameter), FEW)}, page as (
      select p.sort_name, p.id
      from found p
      where true
        ${position}
      order by p.sort_name, p.id
      limit ${search.limit}
    )
    ${pageOf('(select few from matched_count)')}`;
  const planned = terms.nameStarts.length <= MAX_PLANNED_WORDS && search.limit === DEFAULT_LIMIT + 1;
  return { ...(planned && { name: `patient-search-${hash('sha256', text).slice(0, 16)}` }), text, values };
}

/** The patients of `page`, and whether it is `whole`. */
function pageOf(whole: string): string {
  return `select taken.whole, page.sort_name, ${patientColumns(VIEWER, SUMMARY_MEMBERS)}
    from (select ${whole} as whole) taken
    left join (page cross join ${patientById('page.id')} p) on true
    order by page.sort_name, page.id`;
}

/**
 * What each patient must meet is looked up by whole keys, in scalar selects: a join could be planned the other way round.
 * Where neither source is few, the page is that of the first few names.
 */
function searchStatement(scope: FacilityScope, search: PatientSearch, few: number): Statement {
  const { values, parameter, position } = parametersOf(scope, search);
  const match = search.terms && matchOf(search.terms, parameter);
  const page = (source: string, condition: string) => `(
        select p.sort_name, p.id
        from ${source}
        where ${condition}
          ${position}
        order by p.sort_name, p.id
        limit ${search.limit}
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
  const here = `here source
        cross join ${patientById('source.id')} p`;
  const pages = [
    page(here, `${common} ${hereFew} and not $3 = any(p.refused_purposes) ${shown}`),
    page(names, `${common} not ${hereFew} and ${mayBeNamed('p.id', VIEWER)} ${shown}`),
    ...(match === undefined ? [] : [page('found p', 'true')]),
  ];
  const text = `
    with recursive ${match === undefined ? '' : `${matchedBy(match, few)}, `}${facility(few)}, page as (
      select sort_name, id
      from (${pages.join(' union ')}) candidate
      order by sort_name, id
      limit ${search.limit}
    )
    ${pageOf(`${match === undefined ? '' : `${matchedFew} or `}${hereFew}`)}`;
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

/** A lateral look-up of the sort name of a patient who may be named to the viewer: {@link mayBeNamed}. */
function namedPatient(id: string): string {
  return `lateral (
        select named.sort_name
        from patient_registration here
        join patient named
          on named.organisation_id = $1
          and named.id = here.patient_id
        where here.organisation_id = $1
          and here.facility_id = $2
          and here.patient_id = ${id}
          and not $3 = any(named.refused_purposes)
        offset 0
      )`;
}

/**
 * Some of the patients with a key that is searched for, and whether that is all of them. If it is, those of them who meet
 * the search are found, and who replaces these, and who replaces them in turn. A patient whom the search would not show
 * leads nowhere, neither first nor in between.
 */
function matchedBy({ keys, suffices, meets }: Match, few: number): string {
  const some = keys.map(
    (key) => `select unnest(array(
        select k.patient_id
        from patient_search_key k
        where k.organisation_id = $1
          and ${key}
        limit ${few + 1}
      ))`,
  );
  // An array is ten rows to the planner, whatever it knows of the table, so that it keeps the plan.
  // All rows count: a patient may have several of the keys, and each limit is one of rows.
  return `matched (id) as materialized (
      ${some.join(' union all ')}
    ), matched_count (few) as materialized (
      select count(*) <= ${few}
      from matched
    ), found (id, sort_name) as (
      select m.id, p.sort_name
      from matched m
      cross join ${namedPatient('m.id')} p
      where (select few from matched_count)
        ${suffices ? '' : `and ${meets('m.id')}`}
      union
      select x.survivor_id, p.sort_name
      from found f
      cross join ${replacementsOf('f.id')} x
      cross join ${namedPatient('x.survivor_id')} p
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
  /** Whether each patient with one of the keys is searched for. */
  suffices: boolean;
  /** Whether the patient with this id is searched for. */
  meets(patientId: string): string;
}

/** What a whole text may be. */
const WHOLE_KINDS = ['identifier', 'phone', 'email'] as const;

function isEmpty(terms: SearchTerms): boolean {
  return terms.nameStarts.length === 0 && WHOLE_KINDS.every((kind) => terms[kind] === '');
}

/** Two ways to match: every word starts a name part, or the whole text is an identifier, phone or email. */
function matchOf(terms: SearchTerms, parameter: (value: unknown) => string): Match {
  const whole = WHOLE_KINDS.filter((kind) => terms[kind] !== '').map(
    (kind) => `k.kind = '${kind}' and k.key = ${parameter(terms[kind])}`,
  );
  // The longest word is the rarest.
  const words = terms.nameStarts.toSorted((one, other) => other.length - one.length).map(parameter);
  const starts = words.map((word) => `k.kind = 'name' and starts_with(k.key, ${word})`);
  const rarest = words
    .slice(0, 1)
    // The range of `like`, which only a plan for one word looks up in the index. No name has the last of all characters.
    .map((word) => `k.kind = 'name' and k.key ~>=~ ${word} and k.key ~<~ (${word} || chr(1114111))`);
  const names = starts.map((start) => `bool_or(${start})`).join(' and ');
  const either = [...(names === '' ? [] : [`(${names})`]), ...whole.map((one) => `bool_or(${one})`)];
  return {
    keys: [...rarest, ...whole],
    suffices: words.length <= 1,
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
