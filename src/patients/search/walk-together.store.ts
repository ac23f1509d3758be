/**
 * Reading a page from the names that start with a word: searches that arrive together share a round trip, as those of
 * Encounters do (docs/adr/0007). To begin a statement with so many parts costs PostgreSQL as much as to answer a search.
 * Contract: PAT-2, PAT-4, PAT-5, PAT-11.
 */
import { hash } from 'node:crypto';
import type { SearchTerms } from '../../clinical/resources/search-key.ts';
import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import type { EarlyAnswer } from '../../platform/db/batch.ts';
import { askedRows } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { DEFAULT_LIMIT, type Slice } from '../../platform/http/paging.ts';
import { createOrganisationBatcher } from '../../tenancy/organisations/organisation-batch.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { type Match, matchOf } from './match.ts';
import { pageOf, type SelectedPage } from './page.store.ts';
import { walkedPage } from './walk-names.ts';

export interface Walk extends Slice<readonly [sortName: string, id: string]> {
  readonly scope: FacilityScope;
  readonly terms: SearchTerms;
  readonly purposeOfUse: PurposeOfUse;
}

/** Reads so many entries of the names. Undefined: there is no word. */
export type Walker = (walk: Walk, depth: number) => Promise<SelectedPage | undefined>;

/** Words of a search that shares a statement: each number of them is a statement of its own, and so is each limit. */
const MAX_SHARED_WORDS = 2;
/** Entries beyond a page of those who share one: who reads more would keep others waiting. */
const MAX_SHARED_BEYOND = 10;

export function createWalker(db: Queryable): Walker {
  /** By what makes a statement another one: there are few. */
  const shared = new Map<string, (walk: Walk) => Promise<SelectedPage | undefined>>();

  function share(walk: Walk, depth: number): (walk: Walk) => Promise<SelectedPage | undefined> {
    const shape = shapeOf(walk, depth);
    const found = shared.get(shape);
    if (found !== undefined) return found;
    const text = statementText(walk, depth);
    const name = `patient-walk-${hash('sha256', text).slice(0, 16)}`;
    const made = createOrganisationBatcher<Walk, SelectedPage | undefined>({
      load: (organisationId, walks, answer) => walkNames(db, { name, text, organisationId }, walks, answer),
      maxKeys: 32,
      maxInFlight: 2,
    });
    shared.set(shape, made);
    return made;
  }

  return async (walk, depth) => {
    if (walk.terms.nameStarts.length === 0) return undefined;
    if (isShared(walk, depth)) return share(walk, depth)(walk);
    const { organisationId } = walk.scope;
    let page: SelectedPage | undefined;
    await walkNames(db, { text: statementText(walk, depth), organisationId }, [walk], (_place, found) => {
      page = found;
    });
    return page;
  };
}

function isShared({ terms, limit }: Walk, depth: number): boolean {
  return (
    terms.nameStarts.length <= MAX_SHARED_WORDS &&
    limit === DEFAULT_LIMIT + 1 &&
    depth <= limit + MAX_SHARED_BEYOND
  );
}

function shapeOf({ terms, after, limit }: Walk, depth: number): string {
  const { nameStarts, identifier, phone, email } = terms;
  const given = [identifier, phone, email].map((whole) => whole !== '');
  return [nameStarts.length, ...given, after !== undefined, limit, depth].join();
}

/** What is asked for, as columns of a row for each search. */
const VIEWER = { facilityId: 'asked.facility_id', purposeOfUse: 'asked.purpose' };

interface Asked {
  /** Of the columns p1, p2, … */
  values: string[];
  match: Match;
  /** Empty for none. */
  word: string;
  isBehind: (place: string) => string;
}

function askedOf({ terms, after }: Walk): Asked {
  const values: string[] = [];
  const parameter = (value: string) => `asked.p${values.push(value)}`;
  const match = matchOf(terms, parameter, VIEWER);
  const position = after && `(${parameter(after[0])}, ${parameter(after[1])}::uuid)`;
  return {
    values,
    match,
    word: match.word ?? '',
    isBehind: (place) => (position === undefined ? '' : `and ${place} > ${position}`),
  };
}

/** Of all searches of one shape. */
function statementText(walk: Walk, depth: number): string {
  const { values, match, word, isBehind } = askedOf(walk);
  const columns = Object.fromEntries(values.map((_, index) => [`p${index + 1}`, 'text']));
  return `
    select asked.place::int as place, found.*
    from ${askedRows({ facility_id: 'uuid', purpose: 'text', ...columns })}
    cross join lateral (
      with recursive ${walkedPage(word, { match, depth, limit: walk.limit, isBehind })}
      ${pageOf('(select few from walked_count)', VIEWER, walk.limit)}
    ) found`;
}

interface WalkStatement {
  /** Of a statement that is planned once. */
  name?: string;
  text: string;
  organisationId: string;
}

/** There is a page for each walk, in any order. */
async function walkNames(
  db: Queryable,
  { name, text, organisationId }: WalkStatement,
  walks: readonly Walk[],
  answer: EarlyAnswer<SelectedPage>,
): Promise<undefined> {
  const asked = walks.map((walk) => askedOf(walk).values);
  await db.query<SelectedPage & { place: number }>({
    ...(name !== undefined && { name }),
    text,
    values: [
      organisationId,
      walks.map(({ scope }) => scope.facilityId),
      walks.map(({ purposeOfUse }) => purposeOfUse),
      ...(asked[0] ?? []).map((_, column) => asked.map((values) => values[column])),
    ],
    onRow: ({ place, ...page }) => answer(place - 1, page),
  });
}
