/**
 * SQL of a page that is read in its order: the first patients of each name that starts with the word (docs/adr/0152).
 * Contract: PAT-2, PAT-4, PAT-5, PAT-11.
 */
import { foundAmong, namedPatient, patientsWith, survives } from './found-patients.ts';
import { type Match, startsWith } from './match.ts';

/** Different names that start with the word, at most. */
const MAX_NAMES = 256;
/** Patients found otherwise, by a whole key, at most. */
const MAX_OTHERS = 200;

/** As the index says it. */
const NAMES = "k.kind in ('name', 'replaced')";

export interface WalkedPage {
  match: Match;
  /** Entries that are read of each name, and of all of them together. */
  depth: number;
  limit: number;
  /** SQL that is true behind the position of the page, of a row with this alias. */
  isBehind: (alias: string) => string;
}

/**
 * `page`, and `walked_count`, whose `few` says whether the page is all that follows; null if there are too many names. The
 * page ends before the `horizon`, the last entry that was read: of its patient there may be others.
 *
 * A patient who replaces another has the names of that one too. Whether its links lead to a patient who meets the search,
 * by way of patients whom the search would show, is looked up.
 */
export function walkedPage(word: string, { match, depth, limit, isBehind }: WalkedPage): string {
  const nextKey = (from: string) => `(
          select k.key
          from patient_search_key k
          where k.organisation_id = $1
            and ${NAMES}
            and ${startsWith(word)}
            ${from}
          order by k.key using ~<~
          limit 1
        )`;
  const others = match.whole.map((key) => patientsWith(key, MAX_OTHERS));
  return `name_key (key) as (
      select ${nextKey('')}
      union all
      select ${nextKey('and k.key ~>~ last.key')}
      from name_key last
      where last.key is not null
    ), names (key) as materialized (
      select key
      from name_key
      where key is not null
      limit ${MAX_NAMES + 1}
    ), matched (id) as materialized (
      ${others.join(' union all ')}
    ), matched_count (few) as materialized (
      select (select count(*) from names) <= ${MAX_NAMES}
        and (select count(*) from matched) <= ${MAX_OTHERS}
    ), ${foundAmong(match)}, walked (sort_name, id, own) as materialized (
      select first.sort_name, first.patient_id, first.kind = 'name'
      from names
      cross join lateral (
        select k.sort_name, k.patient_id, k.kind
        from patient_search_key k
        where k.organisation_id = $1
          and ${NAMES}
          and k.key = names.key
          ${isBehind('(k.sort_name, k.patient_id)')}
        order by k.sort_name, k.patient_id
        limit ${depth}
      ) first
      where (select few from matched_count)
      order by first.sort_name, first.patient_id
      limit ${depth}
    ), horizon as materialized (
      select w.sort_name, w.id
      from walked w
      order by w.sort_name, w.id
      offset ${depth - 1}
    ), walked_count (few) as materialized (
      select case when few then (select count(*) from walked) < ${depth} end
      from matched_count
    ), page (sort_name, id) as (
      (
        select w.sort_name, w.id
        from (
          select w.sort_name, w.id, bool_or(w.own) as own
          from walked w
          where ${isBeforeHorizon('w')}
          group by w.sort_name, w.id
          order by w.sort_name, w.id
        ) w
        cross join ${namedPatient('w.id', match.viewer)} p
        where ${match.suffices ? 'w.own' : match.meets('w.id')}
          or ${survives('w.id', match)}
        order by w.sort_name, w.id
        limit ${limit}
      )
      union
      select f.sort_name, f.id
      from found f
      where ${isBeforeHorizon('f')}
        ${isBehind('(f.sort_name, f.id)')}
      order by 1, 2
      limit ${limit}
    )`;
}

function isBeforeHorizon(alias: string): string {
  return `((${alias}.sort_name, ${alias}.id) < (select h.sort_name, h.id from horizon h)) is not false`;
}
