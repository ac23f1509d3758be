/** SQL of organisations, facilities and module switches. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { OrganisationScope } from '../scope.ts';
import type { Module } from './modules.ts';

export interface Organisation {
  id: string;
  name: string;
  createdAt: Date;
}

export interface Facility {
  id: string;
  name: string;
  timeZone: string;
  modules: string[];
}

export type FacilityPosition = readonly [name: string, id: string];

/** False when the id is taken. */
export async function insertOrganisation(
  db: Queryable,
  { id, name }: { id: string; name: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: 'insert into organisation (id, name) values ($1, $2) on conflict do nothing',
    values: [id, name],
  });
  return rowCount === 1;
}

export async function findOrganisation(db: Queryable, id: string): Promise<Organisation | undefined> {
  const { rows } = await db.query<Organisation>({
    text: 'select id, name, created_at as "createdAt" from organisation where id = $1',
    values: [id],
  });
  return rows[0];
}

export async function listOrganisations(db: Queryable): Promise<Organisation[]> {
  const { rows } = await db.query<Organisation>({
    text: 'select id, name, created_at as "createdAt" from organisation order by name, id',
  });
  return rows;
}

/** False when the id is taken. */
export async function insertFacility(
  db: Queryable,
  scope: OrganisationScope,
  facility: { id: string; name: string; timeZone: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `
      insert into facility (organisation_id, id, name, time_zone)
      values ($1, $2, $3, $4)
      on conflict do nothing`,
    values: [scope.organisationId, facility.id, facility.name, facility.timeZone],
  });
  return rowCount === 1;
}

/** Some of the facilities by their name, or all. */
export async function listFacilities(
  db: Queryable,
  scope: OrganisationScope,
  page: Partial<Slice<FacilityPosition>> & { facilityIds?: readonly string[] | undefined } = {},
): Promise<Facility[]> {
  const { rows } = await db.query<Facility>({
    text: `
      select f.id, f.name, f.time_zone as "timeZone",
        array(
          select m.module
          from facility_module m
          where m.organisation_id = $1
            and m.facility_id = f.id
          order by m.module
        ) as modules
      from facility f
      where f.organisation_id = $1
        and ($2::uuid[] is null or f.id = any($2))
        and ($3::text is null or (f.name, f.id) > ($3, $4::uuid))
      order by f.name, f.id
      limit $5`,
    values: [scope.organisationId, page.facilityIds, page.after?.[0], page.after?.[1], page.limit],
  });
  return rows;
}

export async function updateFacility(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { id, name, timeZone }: Pick<Facility, 'id' | 'name' | 'timeZone'>,
): Promise<void> {
  await db.query({
    text: `
      update facility
      set name = $3, time_zone = $4
      where organisation_id = $1
        and id = $2`,
    values: [organisationId, id, name, timeZone],
  });
}

export async function isModuleOn(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { name, facilityId }: { name: Module; facilityId: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'facility-module-is-on',
    text: `
      select
      from facility_module
      where organisation_id = $1
        and facility_id = $2
        and module = $3`,
    values: [organisationId, facilityId, name],
  });
  return rowCount === 1;
}

/** Make `modules` the ones that are on. */
export async function replaceModules(
  db: Queryable,
  scope: OrganisationScope,
  { facilityId, modules }: { facilityId: string; modules: readonly Module[] },
): Promise<void> {
  await db.query({
    text: `
      delete from facility_module
      where organisation_id = $1
        and facility_id = $2
        and module <> all($3::text[])`,
    values: [scope.organisationId, facilityId, modules],
  });
  await db.query({
    text: `
      insert into facility_module (organisation_id, facility_id, module)
      select $1, $2, unnest($3::text[])
      on conflict do nothing`,
    values: [scope.organisationId, facilityId, modules],
  });
}
