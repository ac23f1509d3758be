/**
 * SQL of FHIR servers. They belong to the operator: of one organisation, or of all (organisation_id null).
 * Contract: PUB-11, PUB-12, PUB-55.
 */
import type { SealedSecret } from '../../outbound/sealed-secret.ts';
import type { ResealedRow } from '../../platform/crypto/sealed-table.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { FhirServer, FhirServerSettings } from './fhir-server.ts';

/** A FHIR server with its secret as it is stored. */
export interface StoredFhirServer extends FhirServer {
  secret: SealedSecret | undefined;
}

type FhirServerRow = Omit<FhirServer, 'hasSecret'> & { secretId: string | null; sealedSecret: Buffer | null };

const COLUMNS = `t.id, t.organisation_id as "organisationId", t.name, t.base, t.auth, t.auth_header as "authHeader",
  t.auth_user as "authUser", t.content_type as "contentType", t.id_policy as "idPolicy",
  t.reference_policy as "referencePolicy", t.allow_local_codes as "allowLocalCodes", t.timeout_ms as "timeoutMs",
  t.max_in_flight as "maxInFlight", t.is_default as "isDefault", t.disabled_at is null as enabled, t.version,
  t.created_at as "createdAt", t.secret_id as "secretId", t.sealed_secret as "sealedSecret"`;

/**
 * The server of that name, or the default one when `name` is null; the organisation's own comes before that of
 * all. Disabled ones are found too.
 */
export async function findFhirServer(
  db: Queryable,
  { organisationId }: OrganisationScope,
  name: string | null,
): Promise<StoredFhirServer | undefined> {
  const { rows } = await db.query<FhirServerRow>({
    name: 'publish-target-find',
    text: `
      select ${COLUMNS}
      from publish_target t
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
): Promise<StoredFhirServer | undefined> {
  const { rows } = await db.query<FhirServerRow>({
    text: `
      select ${COLUMNS}
      from publish_target t
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
): Promise<StoredFhirServer[]> {
  const { rows } = await db.query<FhirServerRow>({
    text: `
      select ${COLUMNS}
      from publish_target t
      where t.removed_at is null
        and ($1::uuid is null or t.organisation_id = $1 or t.organisation_id is null)
      order by t.organisation_id nulls first, t.name`,
    values: [organisationId ?? null],
  });
  return rows.map(toFhirServer);
}

/** Whether a default server of the organisation (of all, when null) is set. */
export async function hasDefault(db: Queryable, organisationId: string | null): Promise<boolean> {
  const { rowCount } = await db.query({
    text: 'select 1 from publish_target where organisation_id is not distinct from $1 and is_default',
    values: [organisationId],
  });
  return rowCount === 1;
}

export async function insertFhirServer(
  db: Queryable,
  { id, organisationId, isDefault }: Pick<FhirServer, 'id' | 'organisationId' | 'isDefault'>,
  { settings, secret }: { settings: FhirServerSettings; secret: SealedSecret | undefined },
): Promise<void> {
  await db.query({
    text: `
      insert into publish_target (id, organisation_id, is_default, name, base, auth, auth_header, auth_user,
        content_type, id_policy, reference_policy, allow_local_codes, timeout_ms, max_in_flight, secret_id,
        sealed_secret)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    values: [id, organisationId, isDefault, ...settingValues(settings), secret?.id, secret?.sealed],
  });
}

export async function updateFhirServer(
  db: Queryable,
  id: string,
  { settings, secret }: { settings: FhirServerSettings; secret: SealedSecret | undefined },
): Promise<void> {
  await db.query({
    text: `
      update publish_target
      set name = $2, base = $3, auth = $4, auth_header = $5, auth_user = $6, content_type = $7, id_policy = $8,
        reference_policy = $9, allow_local_codes = $10, timeout_ms = $11, max_in_flight = $12, secret_id = $13,
        sealed_secret = $14, version = version + 1
      where id = $1
        and removed_at is null`,
    values: [id, ...settingValues(settings), secret?.id, secret?.sealed],
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
  await db.query({
    text: 'update publish_target set is_default = true, version = version + 1 where id = $1 and removed_at is null',
    values: [id],
  });
}

/** Of every server that has one. */
export async function listFhirServerSecrets(
  db: Queryable,
): Promise<(SealedSecret & { fhirServerId: string })[]> {
  const { rows } = await db.query<SealedSecret & { fhirServerId: string }>({
    text: `
      select id as "fhirServerId", secret_id as id, sealed_secret as sealed
      from publish_target
      where secret_id is not null
      order by id`,
  });
  return rows;
}

/** The same secrets, sealed anew: no change that processes must notice. `id` is server, secret. */
export async function replaceFhirServerSecrets(db: Queryable, rows: readonly ResealedRow[]): Promise<void> {
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
}

export async function setEnabled(db: Queryable, id: string, enabled: boolean, now: Date): Promise<void> {
  await db.query({
    text: `
      update publish_target
      set disabled_at = case when $2 then null else coalesce(disabled_at, $3) end, version = version + 1
      where id = $1
        and removed_at is null`,
    values: [id, enabled, now],
  });
}

/** Take it out of use and erase its secret; what was published to it stays on record. */
export async function markRemoved(db: Queryable, id: string, now: Date): Promise<void> {
  await db.query({
    text: `
      update publish_target
      set removed_at = $2, is_default = false, secret_id = null, sealed_secret = null, version = version + 1
      where id = $1
        and removed_at is null`,
    values: [id, now],
  });
}

/** Recorded ids of one server. Organisation by organisation, because that is how the ids are kept. */
const RECORDED_IDS = `
  organisation_id in (select id from organisation where $2::uuid is null or id = $2)
    and target_id = $1
    and server_id is not null`;

export async function hasRecordedIds(
  db: Queryable,
  { id, organisationId }: Pick<FhirServer, 'id' | 'organisationId'>,
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `select 1 from publish_resource where ${RECORDED_IDS} limit 1`,
    values: [id, organisationId],
  });
  return rowCount === 1;
}

/** What was stored under them is searched for by our identifier before it is created anew (docs/adr/0050). */
export async function forgetRecordedIds(
  db: Queryable,
  { id, organisationId }: Pick<FhirServer, 'id' | 'organisationId'>,
): Promise<void> {
  await db.query({
    text: `
      update publish_resource
      set server_id = null, version_id = null, content_hash = null, chain_id = null
      where ${RECORDED_IDS}`,
    values: [id, organisationId],
  });
}

function settingValues(settings: FhirServerSettings): unknown[] {
  return [
    settings.name,
    settings.base,
    settings.auth,
    settings.authHeader,
    settings.authUser,
    settings.contentType,
    settings.idPolicy,
    settings.referencePolicy,
    settings.allowLocalCodes,
    settings.timeoutMs,
    settings.maxInFlight,
  ];
}

function toFhirServer({ secretId, sealedSecret, ...server }: FhirServerRow): StoredFhirServer {
  const secret =
    secretId === null || sealedSecret === null ? undefined : { id: secretId, sealed: sealedSecret };
  return { ...server, secret, hasSecret: secret !== undefined };
}
