/** SQL of roles: a name, permissions and whether they need a second factor, in one organisation. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { OrganisationScope } from '../scope.ts';

export interface Role {
  id: string;
  name: string;
  permissions: string[];
  requiresSecondFactor: boolean;
}

export interface ListedRole extends Role {
  holders: { EHR: number; STAFF: number };
}

/** How a role is named. */
export type RoleKey = { id: string } | { name: string };

/** False when the name is taken. */
export async function insertRole(
  db: Queryable,
  { organisationId }: OrganisationScope,
  role: Role,
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `
      insert into role (organisation_id, id, name, permissions, requires_second_factor)
      values ($1, $2, $3, $4, $5)
      on conflict do nothing`,
    values: [organisationId, role.id, role.name, role.permissions, role.requiresSecondFactor],
  });
  return rowCount === 1;
}

export async function findRole(
  db: Queryable,
  { organisationId }: OrganisationScope,
  key: RoleKey,
): Promise<Role | undefined> {
  const { rows } = await db.query<Role>({
    text: `
      select id, name, permissions, requires_second_factor as "requiresSecondFactor"
      from role
      where organisation_id = $1
        and ($2::uuid is null or id = $2)
        and ($3::text is null or name = $3)`,
    values: [organisationId, 'id' in key ? key.id : null, 'name' in key ? key.name : null],
  });
  return rows[0];
}

/** By name; `search` is a part of it. */
export async function listRoles(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { after, limit, search }: Slice<readonly [name: string]> & { search?: string | undefined },
): Promise<ListedRole[]> {
  const { rows } = await db.query<Role & { ehr: number; staff: number }>({
    text: `
      select r.id, r.name, r.permissions, r.requires_second_factor as "requiresSecondFactor", h.ehr, h.staff
      from role r
      cross join lateral (
        select count(*) filter (where a.user_type = 'EHR') as ehr,
          count(*) filter (where a.user_type = 'STAFF') as staff
        from account a
        where a.organisation_id = $1
          and a.role_id = r.id
      ) h
      where r.organisation_id = $1
        and ($2::text is null or r.name > $2)
        and ($3::text is null or position(lower($3) in lower(r.name)) > 0)
      order by r.name
      limit $4`,
    values: [organisationId, after?.[0], search, limit],
  });
  return rows.map(({ ehr, staff, ...role }) => ({ ...role, holders: { EHR: ehr, STAFF: staff } }));
}

/** False when another role has the name. */
export async function updateRole(
  db: Queryable,
  { organisationId }: OrganisationScope,
  role: Role,
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `
      update role
      set name = $3, permissions = $4, requires_second_factor = $5
      where organisation_id = $1
        and id = $2
        and not exists (
          select
          from role other
          where other.organisation_id = $1
            and other.name = $3
            and other.id <> $2
        )`,
    values: [organisationId, role.id, role.name, role.permissions, role.requiresSecondFactor],
  });
  return rowCount === 1;
}

/** Links that set a password and were not used yet stop working, of every account that holds the role. */
export async function deleteSetupLinksOfHolders(
  db: Queryable,
  { organisationId }: OrganisationScope,
  roleId: string,
): Promise<void> {
  await db.query({
    text: `
      delete from password_setup_link l
      using account a
      where l.organisation_id = $1
        and l.used_at is null
        and a.organisation_id = $1
        and a.id = l.account_id
        and a.role_id = $2`,
    values: [organisationId, roleId],
  });
}

/** False when some account holds it. */
export async function deleteRole(
  db: Queryable,
  { organisationId }: OrganisationScope,
  id: string,
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `
      delete from role
      where organisation_id = $1
        and id = $2
        and not exists (
          select
          from account a
          where a.organisation_id = $1
            and a.role_id = $2
        )`,
    values: [organisationId, id],
  });
  return rowCount === 1;
}

/** Whether each account that holds the role acts at these facilities only. */
export async function holdersActWithin(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { roleId, facilityIds }: { roleId: string; facilityIds: readonly string[] },
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `
      select
      from account a
      join account_facility f
        on f.organisation_id = $1
        and f.account_id = a.id
      where a.organisation_id = $1
        and a.role_id = $2
        and f.facility_id <> all($3::uuid[])
      limit 1`,
    values: [organisationId, roleId, facilityIds],
  });
  return rowCount === 0;
}
