/**
 * SQL of the encounter search: one page of one patient, many searches in one round trip (docs/adr/0007).
 * Contract: ENC-17, ENC-18, ENC-19, ENC-22, ENC-24, ENC-40.
 */

import { BEFORE_ALL, type TimePosition } from '../clinical/fetch/patient-page.store.ts';
import {
  type InPlaceOfText,
  selectTexts,
  TEXT_END,
  textStatements,
} from '../clinical/kept/packed-texts.store.ts';
import type { EncounterStatus } from '../clinical/resources/encounter.fhir.ts';
import type { PurposeOfUse } from '../fhir/purpose-of-use.ts';
import { survivorOf } from '../patients/replacement.store.ts';
import type { EarlyAnswer } from '../platform/db/batch.ts';
import { rowByKey } from '../platform/db/by-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import { timestampFromDate } from '../platform/db/timestamp.ts';
import type { Slice } from '../platform/http/paging.ts';
import { createOrganisationBatcher } from '../tenancy/organisations/organisation-batch.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import type { RenderedEncounter } from './encounter.fhir.ts';
import { ENCOUNTERS, type PackedEncounter, toEncounter } from './encounter.store.ts';

/** The part of time that an encounter must touch (docs/encounters.md, "Dates"). */
export interface DateFilter {
  /** It ends at this instant or after it. */
  readonly endsFrom?: Date;
  /** It starts before this instant. */
  readonly startsBefore?: Date;
}

export interface EncounterPageKey extends Slice<TimePosition> {
  readonly scope: FacilityScope;
  readonly patientId: string;
  /** Who refuses it is not named as the one who replaces the patient. */
  readonly purposeOfUse: PurposeOfUse;
  /** Of the one encounter that is looked for; what is no UUID finds none. */
  readonly id?: string | undefined;
  readonly status: EncounterStatus | undefined;
  readonly date: DateFilter | undefined;
}

export interface EncounterPage {
  refusedPurposes: readonly string[];
  /** The patient who must be used in place of this one, and may be named to the caller; null for none. */
  replacedBy: string | null;
  encounters: { encounter: RenderedEncounter; position: TimePosition }[];
  /** More follow, although these are fewer than were asked for: they are very large. */
  isCut: boolean;
}

interface PageRow {
  place: number;
  refused_purposes: string[];
  replaced_by: string | null;
  /** Encounters in their order; null for none. */
  packed: string | null;
  /** Null for none. */
  is_cut: boolean | null;
}

/**
 * Bytes of text after which a page takes no further Encounter. One may have 16 MB, and a hundred of those are more than
 * PostgreSQL and Node.js hold in one value.
 */
const PAGE_BYTES = 16 * 1024 ** 2;
/** A hundred texts of so many bytes, as many as a page has at most, need no look at their sizes. */
const SMALL_BYTES = PAGE_BYTES / 100;
const NEWEST_FIRST = 'e.sort_start desc, e.id desc';

/**
 * The Encounters `e` of one page as one value. To add their sizes up costs a fifth of the statement, so the first statement
 * gives small texts only; a page with a large one is selected again, by the second.
 */
const pageSql: Record<InPlaceOfText, (rows: string) => string> = {
  nothing: (rows) => `
    select string_agg(
        ${ENCOUNTERS.sql('nothing', `octet_length(e.rendered) <= ${SMALL_BYTES}`)}, ${TEXT_END.sql} order by ${NEWEST_FIRST}
      ) as packed, false as is_cut
    from (${rows}) e`,
  columns: (rows) => `
    select string_agg(${ENCOUNTERS.sql('columns')}, ${TEXT_END.sql} order by ${NEWEST_FIRST})
        filter (where e.bytes_before < ${PAGE_BYTES}) as packed,
      bool_or(e.bytes_before >= ${PAGE_BYTES}) as is_cut
    from (
      select e.*, coalesce(sum(octet_length(e.rendered)) over (
        order by ${NEWEST_FIRST}
        rows between unbounded preceding and 1 preceding
      ), 0) as bytes_before
      from (${rows}) e
    ) e`,
};

// The rows come from encounter_by_patient, from the position on, and end after one row more than the page. Nothing is sorted,
// except that PostgreSQL 15 sorts the texts of a page. An end that came as an instant (with a T) still touches what begins at
// it. One that came as a date is kept as the first instant after that date, and does not.
const searchSql = (otherwise: InPlaceOfText) => `
  select r.place, p.refused_purposes, heir.replaced_by, page.packed, page.is_cut
  from unnest(
    $2::uuid[], $3::uuid[], $4::text[], $5::boolean[], $6::timestamptz[], $7::timestamptz[],
    $8::timestamptz[], $9::uuid[], $10::integer[], $11::text[], $12::text[]
  ) with ordinality as r (
    facility_id, patient_id, status, dated, ends_from, starts_before, after_start, after_id, row_limit, id,
    purpose_of_use, place
  )
  cross join ${rowByKey('patient_registration', 'g', { facility_id: 'r.facility_id', patient_id: 'r.patient_id' }, 'g.patient_id')} g
  cross join ${rowByKey('patient', 'p', { id: 'g.patient_id' }, 'p.refused_purposes')} p
  cross join lateral (
    select ${survivorOf('r.patient_id', { facilityId: 'r.facility_id', purposeOfUse: 'r.purpose_of_use' })} as replaced_by
    offset 0
  ) heir
  cross join lateral (${pageSql[otherwise](`
      select e.*
      from encounter e
      where e.organisation_id = $1
        and e.facility_id = r.facility_id
        and e.patient_id = r.patient_id
        and (e.sort_start, e.id) < (r.after_start, r.after_id)
        and e.sort_start < r.starts_before
        and (
          e.period_end is null
          or e.period_end > r.ends_from
          or (e.period_end = r.ends_from and coalesce(e.period_end_source like '%T%', true))
        )
        and (not r.dated or e.period_start is not null or e.period_end is not null)
        and (r.status is null or e.status = r.status)
        and (r.id is null or e.id::text = r.id)
      order by ${NEWEST_FIRST}
      limit r.row_limit
    `)}
  ) page`;

const SEARCH = textStatements('encounter-search', searchSql);

/**
 * Pages of encounters, newest first. Undefined: no such patient at the facility. A page of a patient who
 * refuses the purpose is for the caller to withhold.
 */
export function createEncounterSearcher(
  db: Queryable,
): (key: EncounterPageKey) => Promise<EncounterPage | undefined> {
  return createOrganisationBatcher<EncounterPageKey, EncounterPage | undefined>({
    load: (organisationId, keys, answer) => loadPages(db, organisationId, keys, answer),
    maxKeys: 32,
    maxInFlight: 2,
  });
}

async function loadPages(
  db: Queryable,
  organisationId: string,
  keys: readonly EncounterPageKey[],
  answer: EarlyAnswer<EncounterPage>,
): Promise<undefined> {
  const selection = {
    packing: ENCOUNTERS,
    statements: SEARCH,
    values: [
      organisationId,
      keys.map((key) => key.scope.facilityId),
      keys.map((key) => key.patientId),
      keys.map((key) => key.status ?? null),
      keys.map((key) => key.date !== undefined),
      keys.map((key) => timestampOr('-infinity', key.date?.endsFrom)),
      keys.map((key) => timestampOr('infinity', key.date?.startsBefore)),
      keys.map((key) => (key.after ?? BEFORE_ALL)[0]),
      keys.map((key) => (key.after ?? BEFORE_ALL)[1]),
      keys.map((key) => key.limit),
      keys.map((key) => key.id ?? null),
      keys.map((key) => key.purposeOfUse),
    ],
    keys,
  } as const;
  await selectTexts<PageRow, PackedEncounter>(db, selection, (row, texts) => {
    const { place, refused_purposes: refusedPurposes, replaced_by: replacedBy, is_cut: isCut } = row;
    const patientId = keys[place - 1]?.patientId ?? '';
    const encounters = texts.map((text) => ({
      encounter: toEncounter(text, patientId),
      position: [text.sortStart, text.id] as const,
    }));
    answer(place - 1, { refusedPurposes, replacedBy, encounters, isCut: isCut === true });
  });
}

function timestampOr(otherwise: string, date: Date | undefined): string {
  return date === undefined ? otherwise : timestampFromDate(date);
}
