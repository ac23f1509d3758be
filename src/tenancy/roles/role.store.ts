/** SQL of roles: a name and permissions, in one organisation. */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../scope.ts';

export interface Role {
  id: string;
  name: string;
  permissions: string[];
  /** Its people need a second factor at the console. */
  requiresSecondFactor: boolean;
}

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

/** The roles of an organisation, or the one with `name`. */
export async function listRoles(
  db: Queryable,
  { organisationId }: OrganisationScope,
  name: string | null = null,
): Promise<Role[]> {
  const { rows } = await db.query<Role>({
    text: `
      select id, name, permissions, requires_second_factor as "requiresSecondFactor"
      from role
      where organisation_id = $1
        and ($2::text is null or name = $2)
      order by name`,
    values: [organisationId, name],
  });
  return rows;
}

/** The id of the role; undefined when there is none of that name. Without a word on second factors they stay as they are. */
export async function replacePermissions(
  db: Queryable,
  { organisationId }: OrganisationScope,
  change: { name: string; permissions: readonly string[]; requiresSecondFactor: boolean | undefined },
): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>({
    text: `
      update role
      set permissions = $3, requires_second_factor = coalesce($4, requires_second_factor)
      where organisation_id = $1
        and name = $2
      returning id`,
    values: [organisationId, change.name, change.permissions, change.requiresSecondFactor ?? null],
  });
  return rows[0]?.id;
}
