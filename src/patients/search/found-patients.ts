/**
 * SQL of the patients whom a search finds, among the tables of the organisation `$1`. Contract: PAT-5, PAT-11.
 */
import { mayBeNamed, replacementsOf, type Viewer } from '../replacement.store.ts';
import type { Match } from './match.ts';

/** A lateral look-up of the sort name of a patient who may be named to the viewer: {@link mayBeNamed}. */
export function namedPatient(id: string, viewer: Viewer): string {
  return `lateral (
        select named.sort_name
        from patient_registration here
        join patient named
          on named.organisation_id = $1
          and named.id = here.patient_id
        where here.organisation_id = $1
          and here.facility_id = ${viewer.facilityId}
          and here.patient_id = ${id}
          and not ${viewer.purposeOfUse} = any(named.refused_purposes)
        offset 0
      )`;
}

/** SQL of the patients with some keys, and one more than that many at most. */
export function patientsWith(keys: string, many: number): string {
  // An array is ten rows to the planner, whatever it knows of the table, so that it keeps the plan.
  return `select unnest(array(
        select k.patient_id
        from patient_search_key k
        where k.organisation_id = $1
          and ${keys}
        limit ${many + 1}
      ))`;
}

/**
 * Those of the patients in `matched` who meet the search, if they are `few`, and who replaces these, and who replaces them
 * in turn. A patient whom the search would not show leads nowhere, neither first nor in between.
 */
export function foundAmong({ suffices, meets, viewer }: Match): string {
  return `found (id, sort_name) as (
      select m.id, p.sort_name
      from matched m
      cross join ${namedPatient('m.id', viewer)} p
      where (select few from matched_count)
        ${suffices ? '' : `and ${meets('m.id')}`}
      union
      select x.survivor_id, p.sort_name
      from found f
      cross join ${replacementsOf('f.id')} x
      cross join ${namedPatient('x.survivor_id', viewer)} p
    )`;
}

/** Whether the patient with this id replaces one who meets the search: {@link foundAmong} from the other end. */
export function survives(patientId: string, { meets, viewer }: Match): string {
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
              where ${mayBeNamed('r.id', viewer)}
            )
            select true
            from replaced r
            where ${mayBeNamed('r.id', viewer)}
              and ${meets('r.id')}
            limit 1
          ) is true`;
}
