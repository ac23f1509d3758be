/** SQL of the records of an organisation that its clinical records point at. */
import { parseFhirJson } from '../../fhir/json.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export interface DirectoryIds {
  practitioners: readonly string[];
  organisations: readonly string[];
  locations: readonly string[];
}

export interface DirectoryRow {
  resourceType: 'Practitioner' | 'Organization' | 'Location';
  id: string;
  /** Elements of the resource; absent ones are left out. */
  content: Record<string, unknown>;
}

/** The identifiers of a record aliased `r`, as FHIR. */
function identifiers(resourceType: DirectoryRow['resourceType']): string {
  return `(
    select json_agg(json_strip_nulls(json_build_object(
      'use', i.use, 'type', i.type, 'system', i.system, 'value', i.value,
      'period', case when coalesce(i.period_start, i.period_end) is not null
        then json_build_object('start', i.period_start, 'end', i.period_end) end
    )) order by i.position)
    from directory_identifier i
    where i.organisation_id = $1
      and i.resource_type = '${resourceType}'
      and i.record_id = r.id
  )`;
}

const FIND = `
  select 'Practitioner' as resource_type, r.id, json_strip_nulls(json_build_object(
    'identifier', ${identifiers('Practitioner')}, 'active', r.active, 'name', r.name, 'telecom', r.telecom,
    'address', r.address, 'gender', r.gender, 'birthDate', r.birth_date, 'qualification', r.qualification
  ))::text as content
  from practitioner r
  where r.organisation_id = $1
    and r.id = any($2::uuid[])
  union all
  select 'Organization', r.id, json_strip_nulls(json_build_object(
    'identifier', ${identifiers('Organization')}, 'active', r.active, 'type', r.type, 'name', r.name,
    'telecom', r.telecom, 'address', r.address
  ))::text
  from provider_organisation r
  where r.organisation_id = $1
    and r.id = any($3::uuid[])
  union all
  select 'Organization', o.id, json_build_object('name', o.name)::text
  from organisation o
  where o.id = $1
    and o.id = any($3::uuid[])
    and not exists (
      select 1
      from provider_organisation p
      where p.organisation_id = $1
        and p.id = o.id
    )
  union all
  select 'Location', r.id, json_strip_nulls(json_build_object(
    'identifier', ${identifiers('Location')}, 'status', r.status, 'name', r.name, 'type', r.type,
    'telecom', r.telecom, 'address', r.address,
    'position', case when r.longitude is not null and r.latitude is not null
      then json_build_object('longitude', r.longitude, 'latitude', r.latitude) end,
    'managingOrganization', case when r.managing_organisation_id is not null
      then json_build_object('reference', 'Organization/' || r.managing_organisation_id) end
  ))::text
  from location r
  where r.organisation_id = $1
    and r.id = any($4::uuid[])`;

export async function findDirectory(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { practitioners, organisations, locations }: DirectoryIds,
): Promise<DirectoryRow[]> {
  const { rows } = await db.query<{
    resource_type: DirectoryRow['resourceType'];
    id: string;
    content: string;
  }>({
    name: 'publish-directory-find',
    text: FIND,
    values: [organisationId, practitioners, organisations, locations],
  });
  return rows.map(({ resource_type: resourceType, id, content }) => ({
    resourceType,
    id,
    content: parseFhirJson(content) as Record<string, unknown>,
  }));
}
