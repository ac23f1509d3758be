/**
 * SQL of the patients of a page as they are kept: one value, however many there are. What other records say of them stands
 * beside it (docs/adr/0117). Contract: PAT-8, PAT-11, PAT-12, PAT-14.
 */
import type { FreshText } from '../../clinical/kept/kept-texts.store.ts';
import { packing, TEXT_END } from '../../clinical/kept/packed-texts.store.ts';
import type { Identifier } from '../../fhir/coded.ts';
import { rowByKey } from '../../platform/db/by-key.ts';
import { type ListedPatient, summarySection } from '../kept/patient-text.fhir.ts';
import { PATIENT_TEXTS, SUMMARY_SECTION } from '../kept/patient-texts.store.ts';
import { ASSIGNED_IDENTIFIER, ASSIGNED_ORDER } from '../patient.store.ts';
import { mayBeNamed, type Viewer } from '../replacement.store.ts';

const PATIENTS = packing(
  PATIENT_TEXTS,
  { id: 'page.id', sortName: 'to_json(page.sort_name)' },
  SUMMARY_SECTION,
);

/** What {@link pageOf} selects: one row. */
export interface SelectedPage {
  /** Whether the page was taken from one of the sources as a whole; null where there is none. */
  whole: boolean | null;
  /** How many patients the page has. `patients` are fewer where some are large. */
  found: number;
  /** Null for none. */
  patients: string | null;
  /** Pairs of a patient and an identifier that an exchange gave it. */
  assigned: [patientId: string, identifier: Identifier][] | null;
  links: [replacedId: string, survivorId: string][] | null;
}

/** A hundred texts of megabytes are more than PostgreSQL and Node.js hold in one value. */
const LARGE_BYTES = 256 * 1024;
/** So many of any size fit into one value, with the one that tells of a next page. */
export const LARGE_AT_ONCE = 2;

/**
 * The patients of `page`, and whether it is `whole`. A page of more than {@link LARGE_AT_ONCE} and one leaves large patients
 * out. Who is on the page may be named to the viewer, so only the other end of a link is looked up.
 */
export function pageOf(whole: string, viewer: Viewer, limit: number): string {
  const packed = PATIENTS.sql('columns');
  // A kept text is measured without reading it. offset: the columns of one that is not kept are read once.
  const fitting = `
        select case when octet_length(given.text) <= ${LARGE_BYTES} then given.text end as text
        from (
          select case when (octet_length(p.rendered) > ${LARGE_BYTES}) is not true then ${packed} end as text
          offset 0
        ) given`;
  const link = (end: string, other: string) => `
        select l.replaced_id, l.survivor_id
        from patient_link l
        where l.organisation_id = $1
          and l.${end} = any(shown.ids)
          and l.replaced_id is not null
          and ${mayBeNamed(`l.${other}`, viewer)}`;
  return `select (select ${whole}) as whole, shown.found, shown.patients, (
        select json_agg(json_build_array(s.patient_id, ${ASSIGNED_IDENTIFIER}) order by ${ASSIGNED_ORDER})
        from patient_assigned_identifier s
        where s.organisation_id = $1
          and s.patient_id = any(shown.ids)
      ) as assigned, (
        select json_agg(json_build_array(l.replaced_id, l.survivor_id) order by l.replaced_id, l.survivor_id)
        from (${link('replaced_id', 'survivor_id')}
        union ${link('survivor_id', 'replaced_id')}
        ) l
      ) as links
    from (
      select array_agg(page.id) as ids, count(*)::integer as found,
        string_agg(packed.text, ${TEXT_END.sql} order by page.sort_name, page.id) as patients
      from page
      cross join ${rowByKey('patient', 'p', { id: 'page.id' })} p
      cross join lateral (${limit > LARGE_AT_ONCE + 1 ? fitting : `select ${packed} as text`}) packed
    ) shown`;
}

export interface SelectedPatient extends ListedPatient {
  sortName: string;
}

/** What was selected. `fresh` are texts that were rendered just now, to be kept. */
export function readPage(
  { patients: selected, assigned, links }: SelectedPage,
  organisationId: string,
): { patients: SelectedPatient[]; fresh: FreshText[] } {
  const identifiers = Map.groupBy(assigned ?? [], ([patientId]) => patientId);
  const survivors = Map.groupBy(links ?? [], ([replacedId]) => replacedId);
  const replaced = Map.groupBy(links ?? [], ([, survivorId]) => survivorId);
  const { texts = [], fresh = [] } = PATIENTS.read(selected, { organisationId }) ?? {};
  const patients = texts.map(({ id, sortName, text }) => ({
    id,
    sortName: JSON.parse(sortName) as string,
    summary: summarySection(text),
    assignedIdentifiers: identifiers.get(id)?.map(([, identifier]) => identifier) ?? [],
    replacedBy: survivors.get(id)?.[0]?.[1] ?? null,
    replaces: replaced.get(id)?.map(([replacedId]) => replacedId) ?? [],
  }));
  return { patients, fresh };
}
