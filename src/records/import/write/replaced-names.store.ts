/**
 * SQL of the names that patients inherit from those whom they replace (docs/adr/0152): a search finds a patient by them in
 * the order of its page. A name may stay when a link has gone; the search looks at the links too. None may be missing.
 * Contract: PAT-11.
 */
import type { Client } from '../../../platform/db/database.ts';
import type { OrganisationScope } from '../../../tenancy/scope.ts';

/**
 * After patients or their links were written. Two transactions that write patients of one chain of links wait for each
 * other here, so that the second one sees the names and the links of the first.
 */
export async function inheritNames(
  client: Client,
  { organisationId }: OrganisationScope,
  patientIds: readonly string[],
): Promise<void> {
  let linked = await linkedTo(client, organisationId, patientIds);
  const locked = new Set<string>();
  while (linked.some((id) => !locked.has(id))) {
    await lockPatients(client, organisationId, linked);
    for (const id of linked) locked.add(id);
    linked = await linkedTo(client, organisationId, linked);
  }
  if (linked.length > 0) await addNames(client, organisationId, linked);
}

/** Lateral look-ups of the links of a patient, from either end: `offset 0` keeps them from being joins of all. */
function linksOf(end: 'survivor_id' | 'replaced_id', id: string): string {
  return `lateral (
        select l.survivor_id, l.replaced_id
        from patient_link l
        where l.organisation_id = $1
          and l.${end} = ${id}
          and l.replaced_id is not null
        offset 0
      )`;
}

/** Those of the patients who replace others or are replaced, and all whom links lead to from there. */
async function linkedTo(
  client: Client,
  organisationId: string,
  patientIds: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'import-linked-patients',
    text: `
      with recursive linked (id) as (
        select unnest(array[l.survivor_id, l.replaced_id])
        from (
          select l.survivor_id, l.replaced_id
          from patient_link l
          where l.organisation_id = $1
            and l.survivor_id = any($2::uuid[])
            and l.replaced_id is not null
          union all
          select l.survivor_id, l.replaced_id
          from patient_link l
          where l.organisation_id = $1
            and l.replaced_id = any($2::uuid[])
        ) l
        union
        select unnest(array[l.survivor_id, l.replaced_id])
        from linked
        cross join lateral (
          select * from ${linksOf('survivor_id', 'linked.id')} replaces
          union all
          select * from ${linksOf('replaced_id', 'linked.id')} replaced
        ) l
      )
      select id
      from linked
      order by id`,
    values: [organisationId, patientIds],
  });
  return rows.map(({ id }) => id);
}

async function lockPatients(
  client: Client,
  organisationId: string,
  patientIds: readonly string[],
): Promise<void> {
  await client.query({
    name: 'import-lock-linked-patients',
    text: `
      select
      from patient
      where organisation_id = $1
        and id = any($2::uuid[])
      order by id
      for no key update`,
    values: [organisationId, patientIds],
  });
}

async function addNames(
  client: Client,
  organisationId: string,
  patientIds: readonly string[],
): Promise<void> {
  await client.query({
    name: 'import-inherit-names',
    text: `
      with recursive chain (survivor_id, replaced_id) as (
        select l.survivor_id, l.replaced_id
        from unnest($2::uuid[]) as asked (id)
        cross join ${linksOf('survivor_id', 'asked.id')} l
        union
        select chain.survivor_id, l.replaced_id
        from chain
        cross join ${linksOf('survivor_id', 'chain.replaced_id')} l
      )
      insert into patient_search_key (organisation_id, patient_id, kind, key, sort_name)
      select distinct $1::uuid, chain.survivor_id, 'replaced', k.key, p.sort_name
      from chain
      cross join lateral (
        select p.sort_name
        from patient p
        where p.organisation_id = $1
          and p.id = chain.survivor_id
        offset 0
      ) p
      cross join lateral (
        select k.key
        from patient_search_key k
        where k.organisation_id = $1
          and k.patient_id = chain.replaced_id
          and k.kind = 'name'
        offset 0
      ) k
      on conflict do nothing`,
    values: [organisationId, patientIds],
  });
}
