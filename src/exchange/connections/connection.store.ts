/** SQL of connections: the settings, the facilities covered, and where an id leads. */

import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { probeNow } from '../queue/connection-state.store.ts';
import { covers } from '../queue/covers.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import type { Connection, ConnectionSettings, SecretStatus } from './connection.schema.ts';

/** The column of each setting; the facilities have a table. */
const SETTING_COLUMNS: Readonly<Record<Exclude<keyof ConnectionSettings, 'facilityIds'>, string>> = {
  name: 'name',
  address: 'address',
  clientId: 'client_id',
  callbackHeader: 'callback_header',
  identifierSystem: 'identifier_system',
  purposeOfUse: 'purpose_of_use',
  maxInFlight: 'max_in_flight',
  timeoutMs: 'timeout_ms',
};
const SETTINGS = Object.entries(SETTING_COLUMNS) as [keyof typeof SETTING_COLUMNS, string][];

/** The organisation of a connection; undefined when there is no such connection. */
export async function organisationOfConnection(db: Queryable, id: string): Promise<string | undefined> {
  const { rows } = await db.query<{ organisation_id: string }>({
    name: 'exchange-connection-organisation',
    text: `
      select organisation_id
      from exchange_connection_directory
      where connection_id = $1`,
    values: [id],
  });
  return rows[0]?.organisation_id;
}

/** Organisations that have connections. */
export async function organisationsWithConnections(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ organisation_id: string }>({
    text: `
      select distinct organisation_id
      from exchange_connection_directory
      order by organisation_id`,
  });
  return rows.map((row) => row.organisation_id);
}

export async function insertConnection(
  db: Queryable,
  { organisationId, connectionId }: ConnectionKey,
  settings: ConnectionSettings & { operatorAddress: boolean },
): Promise<void> {
  await db.query({
    text: 'insert into exchange_connection_directory (connection_id, organisation_id) values ($1, $2)',
    values: [connectionId, organisationId],
  });
  await db.query({
    text: `
      insert into exchange_connection (organisation_id, id, all_facilities, operator_address,
        ${SETTINGS.map(([, column]) => column).join(', ')})
      values ($1, $2, $3, $4, ${SETTINGS.map((_, index) => `$${index + 5}`).join(', ')})`,
    values: [
      organisationId,
      connectionId,
      settings.facilityIds === null,
      settings.operatorAddress,
      ...SETTINGS.map(([name]) => settings[name]),
    ],
  });
  await db.query({
    text: 'insert into exchange_circuit (organisation_id, connection_id) values ($1, $2)',
    values: [organisationId, connectionId],
  });
  await insertFacilities(db, { organisationId, connectionId }, settings.facilityIds ?? []);
}

async function insertFacilities(
  db: Queryable,
  { organisationId, connectionId }: ConnectionKey,
  facilityIds: readonly string[],
): Promise<void> {
  await db.query({
    text: `
      insert into exchange_connection_facility (organisation_id, connection_id, facility_id)
      select $1, $2, unnest($3::uuid[])`,
    values: [organisationId, connectionId, facilityIds],
  });
}

/** Changes of a connection follow each other: who takes it sees what the one before did with the next statement. */
export async function lockConnection(
  db: Queryable,
  { organisationId, connectionId }: ConnectionKey,
): Promise<void> {
  await db.query({
    text: `
      select
      from exchange_connection
      where organisation_id = $1
        and id = $2
      for no key update`,
    values: [organisationId, connectionId],
  });
}

/**
 * Change settings; those that are undefined stay. A new address is an operator's only when it says so. Workers load the
 * connection anew, and an exchange that is taken for down is probed as soon as a delivery is due.
 */
export async function updateConnection(
  db: Queryable,
  { organisationId, connectionId }: ConnectionKey,
  changes: Partial<ConnectionSettings> & { operatorAddress?: boolean; disabled?: boolean },
): Promise<void> {
  const { facilityIds, disabled, address, operatorAddress = false } = changes;
  await probeNow(db, { organisationId, connectionId });
  if (disabled !== undefined) await switchConnection(db, { organisationId, connectionId }, disabled);
  await db.query({
    text: `
      update exchange_connection
      set all_facilities = coalesce($3, all_facilities),
          operator_address = coalesce($4, operator_address),
          ${SETTINGS.map(([, column], index) => `${column} = coalesce($${index + 5}, ${column})`).join(', ')},
          version = version + 1
      where organisation_id = $1
        and id = $2`,
    values: [
      organisationId,
      connectionId,
      facilityIds === undefined ? undefined : facilityIds === null,
      address === undefined ? undefined : operatorAddress,
      ...SETTINGS.map(([name]) => changes[name]),
    ],
  });
  if (facilityIds === undefined) return;
  await db.query({
    text: `
      delete from exchange_connection_facility
      where organisation_id = $1
        and connection_id = $2`,
    values: [organisationId, connectionId],
  });
  await insertFacilities(db, { organisationId, connectionId }, facilityIds ?? []);
}

/** A connection that is disabled already keeps the time of that. */
async function switchConnection(
  db: Queryable,
  { organisationId, connectionId }: ConnectionKey,
  disabled: boolean,
): Promise<void> {
  await db.query({
    text: `
      update exchange_connection
      set disabled_at = ${disabled ? 'now()' : 'null'}
      where organisation_id = $1
        and id = $2
        and disabled_at is ${disabled ? 'null' : 'not null'}`,
    values: [organisationId, connectionId],
  });
}

/** Connections of an organisation, by name; only those that cover a facility, or only one. */
export async function listConnections(
  db: Queryable,
  scope: OrganisationScope,
  only: { facilityId?: string | undefined; connectionId?: string } = {},
): Promise<Connection[]> {
  const { rows } = await db.query<ConnectionRow>({
    name: 'exchange-connection-list',
    text: LIST,
    values: [scope.organisationId, only.facilityId, only.connectionId],
  });
  return rows.map((row) => ({ ...row, secrets: (row.secrets ?? []).map(toSecretStatus) }));
}

/** One of them. */
export async function findConnection(
  db: Queryable,
  scope: OrganisationScope,
  only: { facilityId?: string | undefined; connectionId: string },
): Promise<Connection | undefined> {
  const [found] = await listConnections(db, scope, only);
  return found;
}

const LIST = `
  select c.id, c.organisation_id as "organisationId",
    ${SETTINGS.map(([name, column]) => `c.${column} as "${name}"`).join(', ')},
    case when not c.all_facilities then array(
      select f.facility_id
      from exchange_connection_facility f
      where f.organisation_id = $1
        and f.connection_id = c.id
      order by f.facility_id
    ) end as "facilityIds",
    c.disabled_at is null as enabled, c.created_at as "createdAt",
    (
      select opened_at
      from exchange_circuit
      where organisation_id = $1
        and connection_id = c.id
    ) as "circuitOpenSince",
    (
      select json_agg(json_build_object('id', s.id, 'direction', s.direction, 'createdAt', s.created_at,
        'activeFrom', nullif(s.active_from, 'infinity'), 'goodUntil', s.good_until, 'lastUsedAt', s.last_used_at, 'lastUsedFor', s.last_used_for)
        order by s.direction desc, s.active_from, s.created_at)
      from exchange_secret s
      where s.organisation_id = $1
        and s.connection_id = c.id
    ) as secrets
  from exchange_connection c
  where c.organisation_id = $1
    and ($2::uuid is null or ${covers('$2')})
    and ($3::uuid is null or c.id = $3)
  order by c.name, c.id`;

interface ConnectionRow extends Omit<Connection, 'secrets'> {
  secrets: { [field in keyof SecretStatus]: string | null }[] | null;
}

function toSecretStatus(secret: { [field in keyof SecretStatus]: string | null }): SecretStatus {
  const time = (text: string | null) => (text === null ? null : new Date(text));
  return {
    id: secret.id ?? '',
    direction: secret.direction === 'outbound' ? 'outbound' : 'callback',
    createdAt: new Date(secret.createdAt ?? 0),
    activeFrom: time(secret.activeFrom),
    goodUntil: time(secret.goodUntil),
    lastUsedAt: time(secret.lastUsedAt),
    lastUsedFor: secret.lastUsedFor,
  };
}

/** Every facility of the organisation that is not among `facilityIds`: is there one? */
export async function hasOtherFacilities(
  db: Queryable,
  scope: OrganisationScope,
  facilityIds: readonly string[],
): Promise<boolean> {
  const { rows } = await db.query<{ other: boolean }>({
    text: `
      select exists (
        select from facility
        where organisation_id = $1
          and id <> all($2::uuid[])
      ) as other`,
    values: [scope.organisationId, facilityIds],
  });
  return rows[0]?.other === true;
}
