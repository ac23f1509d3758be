/**
 * Connections as an administrator of facilities sees and changes them (permission
 * `exchange.connections.manage`), and their lists for the operator.
 * Contract: EXC-49, SEC-25.
 */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import type { Pool, Queryable } from '../../platform/db/database.ts';
import { requireStillHeld } from '../../tenancy/administration/administer.ts';
import { authorOf } from '../../tenancy/administration/author.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { facilityRefused } from '../errors.ts';
import {
  type ConnectionChanges,
  type ConnectionScope,
  changeConnection,
  type RequireRight,
  readConnection,
} from './change-connection.ts';
import type { Connection, CreatedConnection, RotatedSecrets } from './connection.schema.ts';
import { hasOtherFacilities, listConnections, organisationsWithConnections } from './connection.store.ts';
import { type AddressSettings, overHttp } from './connection.ts';
import { createConnection, type NewConnection } from './create-connection.ts';
import {
  activateSecret,
  DEFAULT_OVERLAP_SECONDS,
  rotateSecret,
  type SecretRotation,
} from './rotate-secret.ts';

export interface ManageDependencies {
  db: Pool;
  keys: KeyRing;
  publicBaseUrl: string;
  config: { delivery: AddressSettings };
}

/** Ids of the facilities that the caller may use. */
type OwnFacilities = Pick<ReadonlySet<string>, 'has' | 'keys'>;

type Context = Pick<FacilityContext, 'scope' | 'caller' | 'now' | 'databaseTime' | 'correlationId'>;

/** Over HTTP those that cover the facility of the call, for the operator all of an organisation. */
export function listCovering(db: Queryable, scope: ConnectionScope): Promise<Connection[]> {
  return listConnections(db, scope, { facilityId: scope.facilityId });
}

/** For the operator, those of all organisations. */
export async function listEveryConnection(db: Queryable): Promise<Connection[]> {
  const found: Connection[] = [];
  for (const organisationId of await organisationsWithConnections(db))
    found.push(...(await listCovering(db, { organisationId })));
  return found;
}

/** Without facilities named, it covers the facility of the call. */
export async function createCovering(
  deps: ManageDependencies,
  context: Context,
  input: Omit<NewConnection, 'facilityIds'> & { facilityIds?: string[] },
): Promise<CreatedConnection> {
  const { scope, caller, now } = context;
  const facilityIds = input.facilityIds ?? [scope.facilityId];
  requireFacilities(caller.facilities, facilityIds);
  const author = overHttp(deps.config.delivery, authorOf(context));
  return createConnection({ ...deps, now, author }, scope, { ...input, facilityIds });
}

/** Change settings, or enable and disable. Returns the connection as it is then. */
export async function changeManagedConnection(
  deps: ManageDependencies,
  context: Context,
  id: string,
  changes: ConnectionChanges,
): Promise<Connection> {
  const { key, address: standing } = await manageable(deps, context, id);
  const next = changes.facilityIds ?? [];
  requireFacilities(context.caller.facilities, next);
  const { address, ...rest } = changes;
  const author = overHttp(deps.config.delivery, authorOf(context));
  // An address that stays is not set anew: one of the operator's remains that.
  const given = address === undefined || isSameAddress(address, standing) ? rest : changes;
  const requireRight = stillManageable(context, id, next);
  return changeConnection(deps.db, key, { changes: given, author, requireRight });
}

export async function rotateManaged(
  deps: ManageDependencies,
  context: Context,
  id: string,
  { overlapSeconds = DEFAULT_OVERLAP_SECONDS, ...rotation }: Partial<SecretRotation>,
): Promise<RotatedSecrets> {
  const { key } = await manageable(deps, context, id);
  const by = { by: authorOf(context), requireRight: stillManageable(context, id) };
  const { now, databaseTime } = context;
  return rotateSecret({ ...deps, ...by, now, databaseTime }, key, { ...rotation, overlapSeconds });
}

/** Let the new outbound secret sign. 409 when none waits for it. Returns the connection as it is then. */
export async function activateManaged(
  deps: ManageDependencies,
  context: Context,
  id: string,
): Promise<Connection> {
  const { key } = await manageable(deps, context, id);
  const requireRight = stillManageable(context, id);
  await activateSecret(deps.db, key, { by: authorOf(context), requireRight });
  return readConnection(deps.db, context.scope, id);
}

/** 404 unless it covers the facility of the call, 403 when it also covers one that the caller may not use. */
export async function manageable(
  deps: { db: Queryable },
  context: Context,
  id: string,
  own: OwnFacilities = context.caller.facilities,
) {
  const found = await readConnection(deps.db, context.scope, id);
  const { id: connectionId, organisationId, facilityIds, address } = found;
  if (facilityIds !== null) requireFacilities(own, facilityIds);
  else if (await hasOtherFacilities(deps.db, { organisationId }, [...own.keys()])) throw facilityRefused();
  return { key: { organisationId, connectionId }, address };
}

/**
 * Asked once more behind the lock. The change that this one waited for may have added facilities to the connection, and
 * the caller may have lost some. `next`: the facilities that it is to cover.
 */
function stillManageable(context: Context, id: string, next: readonly string[] = []): RequireRight {
  const { facilityId } = context.scope;
  return async (client) => {
    const { facilityIds } = await requireStillHeld(client, context.scope, {
      author: authorOf(context),
      permission: 'exchange.connections.manage',
      facilityIds: [facilityId, ...next],
      module: { name: 'exchange', facilityId },
    });
    await manageable({ db: client }, context, id, facilityIds);
  };
}

function isSameAddress(given: string, standing: string): boolean {
  return given === standing || URL.parse(given)?.href === URL.parse(standing)?.href;
}

function requireFacilities(own: OwnFacilities, ids: readonly string[]): void {
  if (!ids.every((id) => own.has(id.toLowerCase()))) throw facilityRefused();
}
