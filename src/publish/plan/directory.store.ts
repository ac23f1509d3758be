/**
 * SQL of the practitioners, organisations and locations that records point at, as FHIR R4.
 * Contract: PUB-25.
 */
import { type Field, readRow, rowSql } from '../../clinical/content/document.ts';
import { type Description, resourceObject } from '../../clinical/description/describe.ts';
import type { DescribedType } from '../../clinical/description/r4-elements.ts';
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { LOCATION } from '../../clinical/resources/location.fhir.ts';
import { ORGANIZATION } from '../../clinical/resources/organization.fhir.ts';
import { PRACTITIONER } from '../../clinical/resources/practitioner.fhir.ts';
import { parseFhirJson } from '../../fhir/json.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export interface DirectoryIds {
  practitioners: readonly string[];
  organisations: readonly string[];
  locations: readonly string[];
}

interface Source {
  description: Description<DescribedType, { id: string }>;
  fields: readonly Field[];
  /** All that follows the select list. */
  from: string;
}

/** The organisation itself, which has no record of its own unless it was imported. */
const TENANT: Source = {
  description: ORGANIZATION,
  fields: [
    { name: 'id', sql: 'o.id' },
    { name: 'name', sql: 'o.name' },
  ],
  from: `
    from organisation o
    where o.id = $1
      and o.id = any($3::uuid[])
      and not exists (
        select 1
        from provider_organisation p
        where p.organisation_id = $1
          and p.id = o.id
      )`,
};

const SOURCES: readonly Source[] = [
  records(PRACTITIONER, '$2'),
  records(ORGANIZATION, '$3'),
  TENANT,
  records(LOCATION, '$4'),
];

function records(description: Source['description'], ids: string): Source {
  const from = `
    from ${description.table.name} r
    where r.organisation_id = $1
      and r.id = any(${ids}::uuid[])`;
  return { description, fields: description.fields('r'), from };
}

const FIND = SOURCES.map(
  ({ fields, from }, source) => `select ${source} as source, ${rowSql(fields)}::text as record ${from}`,
).join(' union all ');

/** Those that are there; the organisation itself is an Organization too. */
export async function loadDirectory(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { practitioners, organisations, locations }: DirectoryIds,
): Promise<FhirResource[]> {
  if (practitioners.length + organisations.length + locations.length === 0) return [];
  const { rows } = await db.query<{ source: number; record: string }>({
    name: 'publish-directory-find',
    text: FIND,
    values: [organisationId, practitioners, organisations, locations],
  });
  // No map says anything of what is not clinical.
  const context = { organisationId, translate: <Concept>(concept: Concept) => concept };
  return rows.flatMap(({ source, record }) => {
    const from = SOURCES[source];
    if (from === undefined) return [];
    const { description, fields } = from;
    const row = readRow(fields, parseFhirJson(record) as unknown[]) as { id: string };
    return [resourceObject(description, row, context)];
  });
}
