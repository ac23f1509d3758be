/**
 * SQL of the names that patients inherit from those whom they replace (docs/adr/0152): a search finds a patient by them in
 * the order of its page. A name may stay when a link has gone; the search looks at the links too. None may be missing.
 * Contract: PAT-11.
 */

import { lockPatients } from '../../../patients/patient.store.ts';
import { rowByKey } from '../../../platform/db/by-key.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { OrganisationScope } from '../../../tenancy/scope.ts';

/** Pairs of a patient and one whom it replaces, that a patient may be in or between. Persons have few: most have one. */
const PAIRS_AT_MOST = 400;

/**
 * After patients or their links were written. Two transactions that write patients of one chain of links wait for each
 * other here, so that the second one sees the names and the links of the first. Answers the patients with too many others
 * in their chains: each name stands with all who follow, so that a chain costs the square of its length.
 */
export async function inheritNames(
  client: Client,
  { organisationId }: OrganisationScope,
  patientIds: readonly string[],
): Promise<string[]> {
  let chains = await chainsOf(client, organisationId, patientIds);
  const locked = new Set<string>();
  for (;;) {
    const tooMany = chains.filter(
      ({ before, after }) => (before.length + 1) * (after.length + 1) > PAIRS_AT_MOST,
    );
    if (tooMany.length > 0) return tooMany.map(({ id }) => id);
    const linked = new Set(chains.flatMap(({ id, before, after }) => [id, ...before, ...after]));
    if (linked.difference(locked).size === 0) break;
    await lockPatients(client, { organisationId }, [...linked]);
    for (const id of linked) locked.add(id);
    chains = await chainsOf(client, organisationId, patientIds);
  }
  if (chains.length > 0) await addNames(client, organisationId, pairsOf(chains));
  return [];
}

/** A patient with all whom it replaces, and all who replace it, directly or by way of others. */
interface Chain {
  id: string;
  before: string[];
  after: string[];
}

/** Whom each patient of the chains replaces by way of the one that was written: other pairs have their names already. */
function pairsOf(chains: readonly Chain[]): Map<string, Set<string>> {
  const replacedBy = new Map<string, Set<string>>();
  for (const { id, before, after } of chains)
    for (const survivor of [id, ...after]) {
      const replaced = replacedBy.get(survivor) ?? new Set();
      for (const one of [id, ...before]) if (one !== survivor) replaced.add(one);
      replacedBy.set(survivor, replaced);
    }
  return replacedBy;
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

/** Of those of the patients who replace others or are replaced. */
async function chainsOf(
  client: Client,
  organisationId: string,
  patientIds: readonly string[],
): Promise<Chain[]> {
  const { rows } = await client.query<Chain>({
    name: 'import-chains-of-patients',
    text: `
      with recursive linked (id) as materialized (
        select l.survivor_id
        from patient_link l
        where l.organisation_id = $1
          and l.survivor_id = any($2::uuid[])
          and l.replaced_id is not null
        union
        select l.replaced_id
        from patient_link l
        where l.organisation_id = $1
          and l.replaced_id = any($2::uuid[])
      ), before (id, other) as (
        select id, id
        from linked
        union
        select before.id, l.replaced_id
        from before
        cross join ${linksOf('survivor_id', 'before.other')} l
      ), after (id, other) as (
        select id, id
        from linked
        union
        select after.id, l.survivor_id
        from after
        cross join ${linksOf('replaced_id', 'after.other')} l
      )
      select linked.id,
        array(select other::text from before where before.id = linked.id and other <> linked.id) as before,
        array(select other::text from after where after.id = linked.id and other <> linked.id) as after
      from linked`,
    values: [organisationId, patientIds],
  });
  return rows;
}

/**
 * `replacedBy` has the replaced patients of each survivor. Inside, only the patient is asked for: with the kind, the index
 * of all names would answer, for each patient.
 */
async function addNames(
  client: Client,
  organisationId: string,
  replacedBy: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<void> {
  const pairs = [...replacedBy].flatMap(([survivor, replaced]) =>
    [...replaced].map((one) => [survivor, one]),
  );
  await client.query({
    name: 'import-inherit-names',
    text: `
      insert into patient_search_key (organisation_id, patient_id, kind, key, sort_name)
      select distinct $1::uuid, pair.survivor_id, 'replaced', k.key, p.sort_name
      from unnest($2::uuid[], $3::uuid[]) as pair (survivor_id, replaced_id)
      cross join ${rowByKey('patient', 'p', { id: 'pair.survivor_id' }, 'p.sort_name')} p
      cross join ${rowByKey('patient_search_key', 'k', { patient_id: 'pair.replaced_id' }, 'k.kind, k.key')} k
      where k.kind = 'name'
      on conflict do nothing`,
    values: [organisationId, pairs.map(([survivor]) => survivor), pairs.map(([, replaced]) => replaced)],
  });
}
