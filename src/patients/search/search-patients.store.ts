/**
 * SQL of the patient search: one page of a facility's patients, ordered by name.
 * Contract: PAT-2, PAT-4, PAT-5, PAT-11, PAT-14.
 */

import { hash } from 'node:crypto';
import { keepTexts } from '../../clinical/kept/kept-texts.store.ts';
import type { SearchTerms } from '../../clinical/resources/search-key.ts';
import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import { rowByKey } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { DEFAULT_LIMIT, type Slice } from '../../platform/http/paging.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { patientSummaryJson } from '../kept/patient-text.fhir.ts';
import { PATIENT_TEXTS } from '../kept/patient-texts.store.ts';
import { mayBeNamed } from '../replacement.store.ts';
import { foundAmong, patientsWith, survives } from './found-patients.ts';
import { isEmpty, type Match, matchOf, startsWith } from './match.ts';
import { LARGE_AT_ONCE, pageOf, readPage, type SelectedPage } from './page.store.ts';
import { createWalker, type Walker } from './walk-together.store.ts';

export type PatientPosition = readonly [sortName: string, id: string];

export interface PatientSearch extends Slice<PatientPosition> {
  /** Undefined: every patient of the facility. */
  readonly terms: SearchTerms | undefined;
  /** Patients who refuse it are left out. */
  readonly purposeOfUse: PurposeOfUse;
}

export interface FoundPatient {
  id: string;
  /** What a list shows, as JSON text. */
  summary: string;
  position: PatientPosition;
}

export interface FoundPatients {
  patients: FoundPatient[];
  /** More follow, although these are fewer than were asked for: some are very large. */
  isCut: boolean;
}

export type PatientSearcher = (scope: FacilityScope, search: PatientSearch) => Promise<FoundPatients>;

interface FoundPage {
  patients: FoundPatient[];
  /** Some are not among them, because of their size. */
  lacksLarge: boolean;
}

/** How many patients are few at first. */
const FEW = 1_000;
/** Entries that are read beyond a page at first: some patients have two names that start so, and some are not shown. */
const BEYOND = 5;
/** Entries that are read of the names after that, past patients of other facilities. */
const DEPTHS = [200, 500];

/**
 * A page comes from the names that start with a word, each read in the order of the page (`walk-names.ts`). That ends
 * early, unless there are very many such names, or nearly all of these patients are not to be shown. Then it comes from
 * the patients with a key that is searched for, or from those of the facility, or from all names in their order until it
 * is full. Which of these ends first is not known before, and the database may have no statistics.
 *
 * Few patients with a key are asked for by one statement that is planned once. Else each source is taken if it ends within
 * a few patients; if none does, four times as many are few. All rounds together read a small multiple of what the shortest
 * source has, however large the others are. Each round begins anew: its answer is that of one statement.
 */
export function createPatientSearcher(db: Queryable): PatientSearcher {
  const walk = createWalker(db);
  return async (scope, search) => {
    if (search.terms !== undefined && isEmpty(search.terms)) return { patients: [], isCut: false };
    const page = await find({ db, scope, search }, walk);
    if (!page.lacksLarge) return { patients: page.patients, isCut: false };
    // So few that they fit whatever their size.
    const { patients } = await find({ db, scope, search: { ...search, limit: LARGE_AT_ONCE + 1 } }, walk);
    return { patients: patients.slice(0, LARGE_AT_ONCE), isCut: patients.length > LARGE_AT_ONCE };
  };
}

async function find(work: Work, walk: Walker): Promise<FoundPage> {
  const { terms } = work.search;
  const found = terms && (await searched(work, walk, terms));
  if (found !== undefined) return found;
  for (let few = FEW; ; few *= 4) {
    const page = await taken(work, await selected(work.db, searchStatement(work, few)));
    if (typeof page !== 'string') return page;
  }
}

/** From the names, or from the few patients with a key; undefined where neither ends soon. */
async function searched(work: Work, walk: Walker, terms: SearchTerms): Promise<FoundPage | undefined> {
  const { scope, search } = work;
  for (const depth of [search.limit + BEYOND, ...DEPTHS]) {
    const walked = await taken(work, await walk({ ...search, scope, terms }, depth));
    if (walked === 'no source') break;
    if (walked !== 'not enough') return walked;
  }
  const matched = await taken(work, await selected(work.db, matchedStatement(work, terms)));
  return typeof matched === 'string' ? undefined : matched;
}

interface Work {
  db: Queryable;
  scope: FacilityScope;
  search: PatientSearch;
}

interface Statement {
  name?: string;
  text: string;
  values: unknown[];
}

async function selected(db: Queryable, statement: Statement): Promise<SelectedPage | undefined> {
  const { rows } = await db.query<SelectedPage>(statement);
  return rows[0];
}

/** `not enough`: no source is few enough, and the page is not full. `no source`: more would not be enough either. */
async function taken(
  { db, scope: { organisationId }, search: { limit } }: Work,
  page: SelectedPage | undefined,
): Promise<FoundPage | 'not enough' | 'no source'> {
  if (page === undefined || page.whole === null) return 'no source';
  if (page.found < limit && !page.whole) return 'not enough';
  const { patients: read, fresh } = readPage(page, organisationId);
  await keepTexts(db, PATIENT_TEXTS, organisationId, fresh);
  const patients = read.map(
    (patient): FoundPatient => ({
      id: patient.id,
      summary: patientSummaryJson(patient),
      position: [patient.sortName, patient.id],
    }),
  );
  return { patients, lacksLarge: patients.length < page.found };
}

const VIEWER = { facilityId: '$2', purposeOfUse: '$3' };

/** What every statement of one search has, with its parameters. */
function parametersOf({ scope, search: { purposeOfUse, after } }: Work): {
  values: unknown[];
  parameter: (value: string) => string;
  isBehind: (place: string) => string;
} {
  const values: unknown[] = [scope.organisationId, scope.facilityId, purposeOfUse];
  const parameter = (value: string): string => `$${values.push(value)}`;
  const position = after === undefined ? '' : `(${parameter(after[0])}, ${parameter(after[1])}::uuid)`;
  return { values, parameter, isBehind: (place) => (position === '' ? '' : `and ${place} > ${position}`) };
}

/** Words of a search that is planned once at most: each number of them is a statement of its own, and so is each limit. */
const MAX_PLANNED_WORDS = 2;

function planned({ text, values }: Statement, { limit, terms }: PatientSearch): Statement {
  const isPlanned = (terms?.nameStarts ?? []).length <= MAX_PLANNED_WORDS && limit === DEFAULT_LIMIT + 1;
  return { ...(isPlanned && { name: `patient-search-${hash('sha256', text).slice(0, 16)}` }), text, values };
}

/** The page of the patients with a key that is searched for, if they are few. */
function matchedStatement(work: Work, terms: SearchTerms): Statement {
  const { values, parameter, isBehind } = parametersOf(work);
  const text = `
    with recursive ${matchedBy(matchOf(terms, parameter, VIEWER), FEW)}, page as (
      select p.sort_name, p.id
      from found p
      where true
        ${isBehind('(p.sort_name, p.id)')}
      order by p.sort_name, p.id
      limit ${work.search.limit}
    )
    ${pageOf('(select few from matched_count)', VIEWER, work.search.limit)}`;
  return planned({ text, values }, work.search);
}

/**
 * What each patient must meet is looked up by whole keys, in scalar selects: a join could be planned the other way round.
 * Where neither source is few, the page is that of the first few names.
 */
function searchStatement(work: Work, few: number): Statement {
  const { search } = work;
  const { values, parameter, isBehind } = parametersOf(work);
  const match = search.terms && matchOf(search.terms, parameter, VIEWER);
  const position = isBehind('(p.sort_name, p.id)');
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
        cross join ${rowByKey('patient', 'p', { id: 'source.id' })} p`;
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
    ${pageOf(`${match === undefined ? '' : `${matchedFew} or `}${hereFew}`, VIEWER, search.limit)}`;
  return { text, values };
}

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

/** Some of the patients with a key that is searched for, and whether that is all of them; if it is, those who are found. */
function matchedBy(match: Match, few: number): string {
  const keys = [
    ...(match.word === undefined ? [] : [`k.kind = 'name' and ${startsWith(match.word)}`]),
    ...match.whole,
  ];
  // All rows count: a patient may have several of the keys, and each limit is one of rows.
  return `matched (id) as materialized (
      ${keys.map((key) => patientsWith(key, few)).join(' union all ')}
    ), matched_count (few) as materialized (
      select count(*) <= ${few}
      from matched
    ), ${foundAmong(match)}`;
}
