/**
 * SQL of FHIR servers. They belong to the operator: of one organisation, or of all (organisation_id null).
 * Contract: PUB-11, PUB-12.
 */
import type { SealedSecret } from '../../outbound/sealed-secret.ts';
import type { SealedFor } from '../../platform/crypto/key-ring.ts';
import type { SealedTable } from '../../platform/crypto/sealed-table.ts';
import { ADVISORY_LOCKS } from '../../platform/db/advisory-locks.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { FhirServer, FhirServerSettings } from './fhir-server.ts';

type FhirServerRow = Omit<FhirServer, 'secret'> & { secretId: string | null; sealedSecret: Buffer | null };

/** The column of each setting. */
const SETTING_COLUMNS: Readonly<Record<keyof FhirServerSettings, string>> = {
  name: 'name',
  base: 'base',
  auth: 'auth',
  authHeader: 'auth_header',
  authUser: 'auth_user',
  contentType: 'content_type',
  idPolicy: 'id_policy',
  referencePolicy: 'reference_policy',
  allowLocalCodes: 'allow_local_codes',
  timeoutMs: 'timeout_ms',
  maxInFlight: 'max_in_flight',
};
const SETTINGS = Object.entries(SETTING_COLUMNS) as [keyof FhirServerSettings, string][];

const SELECT = `
  select t.id, t.organisation_id as "organisationId", t.is_default as "isDefault", t.disabled_at is null as enabled,
    t.version, t.ids_generation as "idsGeneration", t.created_at as "createdAt", t.secret_id as "secretId",
    t.sealed_secret as "sealedSecret",
    ${SETTINGS.map(([name, column]) => `t.${column} as "${name}"`).join(', ')}
  from publish_target t`;

/**
 * The server of that name, or the default one when `name` is null; the organisation's own comes before that of
 * all. Disabled ones are found too.
 */
export async function findFhirServer(
  db: Queryable,
  { organisationId }: OrganisationScope,
  name: string | null,
): Promise<FhirServer | undefined> {
  const { rows } = await db.query<FhirServerRow>({
    name: 'publish-target-find',
    text: `
      ${SELECT}
      where (t.organisation_id = $1 or t.organisation_id is null)
        and t.removed_at is null
        and case when $2::text is null then t.is_default else t.name = $2 end
      order by t.organisation_id nulls last
      limit 1`,
    values: [organisationId, name],
  });
  return rows.map(toFhirServer)[0];
}

/**
 * Exactly that server: of the organisation, or of all when it is null. `lock`: nobody else changes it before the
 * transaction ends.
 */
export async function fhirServerNamed(
  db: Queryable,
  { organisationId, name }: Pick<FhirServer, 'organisationId' | 'name'>,
  lock = false,
): Promise<FhirServer | undefined> {
  const { rows } = await db.query<FhirServerRow>({
    text: `
      ${SELECT}
      where t.organisation_id is not distinct from $1
        and t.removed_at is null
        and t.name = $2
      ${lock ? 'for update' : ''}`,
    values: [organisationId, name],
  });
  return rows.map(toFhirServer)[0];
}

/** FHIR servers that an organisation can use; all of them without one. */
export async function listFhirServers(
  db: Queryable,
  organisationId: string | undefined,
): Promise<FhirServer[]> {
  const { rows } = await db.query<FhirServerRow>({
    text: `
      ${SELECT}
      where t.removed_at is null
        and ($1::uuid is null or t.organisation_id = $1 or t.organisation_id is null)
      order by t.organisation_id nulls first, t.name`,
    values: [organisationId ?? null],
  });
  return rows.map(toFhirServer);
}

/** Until the transaction ends, others wait who make a server, rename one or make one the default. */
export async function lockFhirServers(db: Queryable): Promise<void> {
  await db.query({ text: 'select pg_advisory_xact_lock($1)', values: [ADVISORY_LOCKS.publishTargets] });
}

/** The first server of its organisation (of all, when null) is the default one. */
export async function insertFhirServer(
  db: Queryable,
  { id, organisationId }: Pick<FhirServer, 'id' | 'organisationId'>,
  { settings, secret }: { settings: FhirServerSettings; secret: SealedSecret | undefined },
): Promise<void> {
  await db.query({
    text: `
      insert into publish_target (id, organisation_id, is_default, secret_id, sealed_secret,
        ${SETTINGS.map(([, column]) => column).join(', ')})
      select $1, $2,
        not exists (select 1 from publish_target where organisation_id is not distinct from $2 and is_default), $3, $4,
        ${SETTINGS.map((_, index) => `$${index + 5}`).join(', ')}`,
    values: [id, organisationId, secret?.id, secret?.sealed, ...SETTINGS.map(([name]) => settings[name])],
  });
}

export async function updateFhirServer(
  db: Queryable,
  id: string,
  {
    settings,
    secret,
    forgetsIds = false,
  }: { settings: FhirServerSettings; secret: SealedSecret | undefined; forgetsIds?: boolean },
): Promise<void> {
  const assigned = SETTINGS.map(([, column], index) => `${column} = $${index + 5}`).join(', ');
  const values = SETTINGS.map(([name]) => settings[name]);
  await change(db, id, {
    set: `secret_id = $2, sealed_secret = $3, ids_generation = ids_generation + $4::boolean::integer, ${assigned}`,
    values: [secret?.id, secret?.sealed, forgetsIds, ...values],
  });
}

/** Make this the default of its organisation (of all, when null), in place of the one before. */
export async function setDefault(
  db: Queryable,
  { id, organisationId }: Pick<FhirServer, 'id' | 'organisationId'>,
): Promise<void> {
  await db.query({
    text: `
      update publish_target
      set is_default = false, version = version + 1
      where organisation_id is not distinct from $1
        and is_default
        and id <> $2`,
    values: [organisationId, id],
  });
  await change(db, id, { set: 'is_default = true', values: [] });
}

export function setEnabled(db: Queryable, id: string, enabled: boolean, now: Date): Promise<void> {
  const set = 'disabled_at = case when $2 then null else coalesce(disabled_at, $3) end';
  return change(db, id, { set, values: [enabled, now] });
}

/** Take it out of use and erase its secret; what was published to it stays on record. */
export function markRemoved(db: Queryable, id: string, now: Date): Promise<void> {
  const set = 'removed_at = $2, is_default = false, secret_id = null, sealed_secret = null';
  return change(db, id, { set, values: [now] });
}

/** Every change moves the version, so that processes notice it. `$1` is the id; `values` begin with `$2`. */
async function change(
  db: Queryable,
  id: string,
  { set, values }: { set: string; values: unknown[] },
): Promise<void> {
  await db.query({
    text: `
      update publish_target
      set ${set}, version = version + 1
      where id = $1
        and removed_at is null`,
    values: [id, ...values],
  });
}

/** What the secret of a FHIR server is sealed for. */
export function secretSealedFor(fhirServerId: string, id: string): SealedFor {
  return { purpose: 'publish-secret', context: `${fhirServerId}/${id}` };
}

/** Where a rotation of the master key finds the secrets (docs/adr/0086). */
export const SEALED_FHIR_SERVER_SECRETS: SealedTable = {
  name: 'secrets of targets',
  table: 'publish_target',
  async list(db) {
    const { rows } = await db.query<SealedSecret & { fhirServerId: string }>({
      text: `
        select id as "fhirServerId", secret_id as id, sealed_secret as sealed
        from publish_target
        where secret_id is not null
        order by id`,
    });
    return rows.map(({ fhirServerId, id, sealed }) => ({
      id: [fhirServerId, id],
      sealedFor: secretSealedFor(fhirServerId, id),
      sealed,
    }));
  },
  /** The same secrets, sealed anew: no change that processes must notice. `id` is server, secret. */
  async replace(db, rows) {
    await db.query({
      text: `
        update publish_target t
        set sealed_secret = r.resealed
        from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[]) r (id, secret_id, sealed, resealed)
        where t.id = r.id
          and t.secret_id = r.secret_id
          and t.sealed_secret = r.sealed`,
      values: [
        rows.map(({ id }) => id[0]),
        rows.map(({ id }) => id[1]),
        rows.map(({ sealed }) => sealed),
        rows.map(({ resealed }) => resealed),
      ],
    });
  },
};

function toFhirServer({ secretId, sealedSecret, ...server }: FhirServerRow): FhirServer {
  const secret =
    secretId === null || sealedSecret === null ? undefined : { id: secretId, sealed: sealedSecret };
  return { ...server, secret };
}
