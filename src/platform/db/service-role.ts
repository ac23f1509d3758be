/** What the service's role is and may do in a database, against what grants.sql gives it. Contract: OPS-7, OPS-35. */
import { readFile } from 'node:fs/promises';
import { oneRow, type Queryable } from './database.ts';
import { SERVICE_ROLE } from './migrate.ts';

const GRANTS = new URL('../../../migrations/grants.sql', import.meta.url);

/** Why the service cannot work with its role; undefined when it can. */
export type RoleFault = 'missing' | 'not usable' | 'no rights';

/** A dump carries no roles, and a restore may leave out their rights. Looks at the role, and whether it reads anything. */
export async function findRoleFault(owner: Queryable): Promise<RoleFault | undefined> {
  const role = await oneRow<{ present: boolean; usable: boolean; reads: boolean }>(owner, {
    text: `
      select
        r.oid is not null as present,
        coalesce(pg_has_role(current_user, r.oid, 'member'), false) as usable,
        coalesce(has_table_privilege(r.oid, to_regclass('public.organisation'), 'select'), false) as reads
      from (values (to_regrole($1)::oid)) r (oid)`,
    values: [SERVICE_ROLE],
  });
  if (!role.present) return 'missing';
  if (!role.usable) return 'not usable';
  return role.reads ? undefined : 'no rights';
}

const FAULTS: Readonly<Record<RoleFault, string>> = {
  missing: `The database role ${SERVICE_ROLE} is missing, as after the restore of a dump, which carries no roles.`,
  'not usable': `The user of DATABASE_URL may not act as the database role ${SERVICE_ROLE}.`,
  'no rights': `The database role ${SERVICE_ROLE} has no rights in this database, as after a restore that left them out.`,
};

export function roleFaultText(fault: RoleFault): string {
  return FAULTS[fault];
}

/** One right on one table or sequence. */
export interface Right {
  object: string;
  right: string;
}

export interface RoleRights {
  /** Given by grants.sql, and not held. */
  missing: Right[];
  /** Held, and not given by grants.sql. */
  excess: Right[];
  /** Attributes of the role that lift it above rights: superuser and the like. */
  attributes: string[];
}

/** Rights that matter, as PostgreSQL names them. */
const TABLE_RIGHTS = ['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger'];
const SEQUENCE_RIGHTS = ['usage', 'select', 'update'];

/** The role must be there. */
export async function readRoleRights(owner: Queryable): Promise<RoleRights> {
  const given = parseGrants(await readFile(GRANTS, 'utf8'));
  const { rows } = await owner.query<{ object: string; kind: Kind; right: string; held: boolean }>({
    text: RIGHTS,
    values: [SERVICE_ROLE, TABLE_RIGHTS, SEQUENCE_RIGHTS],
  });
  const wrong = rows.filter(({ object, kind, right, held }) => given({ object, kind }).has(right) !== held);
  const plain = ({ object, right }: Right): Right => ({ object, right });
  return {
    missing: wrong.filter(({ held }) => !held).map(plain),
    excess: wrong.filter(({ held }) => held).map(plain),
    attributes: await roleAttributes(owner, SERVICE_ROLE),
  };
}

/**
 * What lifts a role above rights that it was given: attributes, tables of its own, and roles other than the service's. Of a
 * membership that comes by another one it says by which. A superuser counts as a member of every
 * role, so that its memberships tell nothing more.
 */
export async function roleAttributes(db: Queryable, role: string): Promise<string[]> {
  const { rows } = await db.query<{ attributes: string[] }>({
    text: `
      select array_remove(array[
        case when u.rolsuper then 'superuser' end,
        case when u.rolbypassrls then 'bypassrls' end,
        case when u.rolcreaterole then 'createrole' end,
        case when u.rolcreatedb then 'createdb' end,
        case when u.rolreplication then 'replication' end,
        (
          select 'owner of ' || min(c.relname)
          from pg_class c
          where c.relowner = u.oid
            and c.relnamespace = 'public'::regnamespace
        ),
        (
          select 'member of ' || string_agg(
            r.rolname || case when r.oid = any(g.ids) then '' else coalesce(' (by ' || (
              select min(d.rolname)
              from pg_roles d
              where d.oid = any(g.ids)
                and pg_has_role(d.oid, r.oid, 'member')
            ) || ')', '') end,
            ' and ' order by r.rolname
          )
          from pg_roles r
          cross join (select array(select roleid from pg_auth_members where member = u.oid) as ids) g
          where not u.rolsuper
            and r.oid not in (u.oid, coalesce(to_regrole($2)::oid, 0))
            and pg_has_role(u.oid, r.oid, 'member')
        )
      ], null) as attributes
      from pg_roles u
      where u.rolname = $1`,
    values: [role, SERVICE_ROLE],
  });
  return rows[0]?.attributes ?? [];
}

/** `part`: a partition of the access log, or one that was archived and kept. */
type Kind = 'table' | 'part' | 'sequence';

// Pieces of a distributed table, which have its name and a number, belong to Citus.
const RIGHTS = `
  with object as (
    select c.oid, c.relname::text as name,
      case
        when c.relkind = 'S' then 'sequence'
        when c.relname ~ '^access_log_archived_\\d' or exists (
          select from pg_inherits
          where inhrelid = c.oid
            and inhparent = 'access_log'::regclass
        ) then 'part'
        else 'table'
      end as kind
    from pg_class c
    where c.relnamespace = 'public'::regnamespace
      and c.relkind in ('r', 'p', 'S')
      and c.relname !~ '_\\d{6,}$'
      and not exists (
        select from pg_depend
        where classid = 'pg_class'::regclass
          and objid = c.oid
          and deptype = 'e'
      )
  )
  select o.name as object, o.kind, r.name as right,
    case o.kind
      when 'sequence' then has_sequence_privilege($1, o.oid, r.name)
      else has_table_privilege($1, o.oid, r.name)
    end as held
  from object o
  cross join unnest(case o.kind when 'sequence' then $3::text[] else $2::text[] end) as r (name)
  order by o.name, r.name`;

type RightsOf = (object: { object: string; kind: Kind }) => ReadonlySet<string>;

/** What the statements of grants.sql come to, in their order. Parts of the access log are reached through it only. */
function parseGrants(sql: string): RightsOf {
  const statements = [...sql.matchAll(/^(grant|revoke) ([a-z, ]+) on ([^;]+?) (?:to|from) \w+;$/gm)].map(
    ([, verb = '', rights = '', objects = '']) => ({ verb, rights: rights.split(', '), objects }),
  );
  return ({ object, kind }) => {
    const held = new Set<string>();
    if (kind === 'part') return held;
    const names = [`all ${kind}s in schema public`, object];
    for (const { verb, rights, objects } of statements)
      if (objects.split(', ').some((name) => names.includes(name)))
        for (const right of rights) held[verb === 'grant' ? 'add' : 'delete'](right);
    return held;
  };
}
