/** SQL of the sealed secrets of connections. Contract: EXC-48. */

import type { SealedSecret } from '../../outbound/sealed-secret.ts';
import type { ResealedRow } from '../../platform/crypto/sealed-table.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, databaseTimeSql, readDatabaseTime } from '../../platform/db/database-time.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';

export type SecretDirection = 'outbound' | 'callback';

/** A secret of a connection as it is stored. */
export interface SealedConnectionSecret extends SealedSecret {
  direction: SecretDirection;
}

export async function insertSecret(
  db: Queryable,
  key: ConnectionKey,
  secret: SealedConnectionSecret,
  createdAt: Date,
): Promise<void> {
  await db.query({
    text: `
      insert into exchange_secret (organisation_id, connection_id, id, direction, sealed, created_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [key.organisationId, key.connectionId, secret.id, secret.direction, secret.sealed, createdAt],
  });
}

/** Let the callback secrets end at `goodUntil`; those that end sooner stay so. */
export async function endCallbackSecrets(db: Queryable, key: ConnectionKey, goodUntil: Date): Promise<void> {
  await db.query({
    text: `
      update exchange_secret
      set good_until = least(good_until, $3)
      where organisation_id = $1
        and connection_id = $2
        and direction = 'callback'`,
    values: [key.organisationId, key.connectionId, goodUntil],
  });
}

/** As PostgreSQL reads times: an ISO 8601 instant, `now` by its own clock, or `infinity` for not yet known. */
export type ActiveFrom = string;

/**
 * Put a new outbound secret in the place of the one that signs, from `activeFrom` on: until then that one goes on. One
 * that waited for its own time is removed. Tells from when the new one signs, null when that is open, and whether one
 * was removed.
 */
export async function succeedOutboundSecret(
  db: Queryable,
  key: ConnectionKey,
  {
    secret,
    createdAt,
    activeFrom,
  }: { secret: SealedConnectionSecret; createdAt: Date; activeFrom: ActiveFrom },
): Promise<{ activeFrom: Date | null; removed: boolean }> {
  const { organisationId, connectionId } = key;
  // Not the time of the transaction, which waited for its turn: what waited when it began may sign by now.
  const now = await readDatabaseTime(db);
  const from = activeFrom === 'now' ? now.toISOString() : activeFrom;
  const { rowCount } = await db.query({
    text: `
      delete from exchange_secret
      where organisation_id = $1
        and connection_id = $2
        and direction = 'outbound'
        and active_from > $3`,
    values: [organisationId, connectionId, now],
  });
  await db.query({
    text: `
      update exchange_secret
      set good_until = nullif($3::timestamptz, 'infinity')
      where organisation_id = $1
        and connection_id = $2
        and id = (
          select id
          from exchange_secret
          where organisation_id = $1
            and connection_id = $2
            and direction = 'outbound'
          order by active_from desc, created_at desc
          limit 1
        )`,
    values: [organisationId, connectionId, from],
  });
  const { rows } = await db.query<{ active_from: Date | null }>({
    text: `
      insert into exchange_secret (organisation_id, connection_id, id, direction, sealed, created_at, active_from)
      values ($1, $2, $3, 'outbound', $4, $5, $6)
      returning nullif(active_from, 'infinity') as active_from`,
    values: [organisationId, connectionId, secret.id, secret.sealed, createdAt, from],
  });
  return { activeFrom: rows[0]?.active_from ?? null, removed: rowCount === 1 };
}

/** Let the outbound secret that waits sign from now on, and the one before it end. False when none waits. */
export async function activateOutboundSecret(db: Queryable, key: ConnectionKey): Promise<boolean> {
  // As above: what waited when the transaction began may sign by now.
  const now = await readDatabaseTime(db);
  const { rowCount } = await db.query({
    text: `
      with activated as (
        update exchange_secret
        set active_from = $3
        where organisation_id = $1
          and connection_id = $2
          and direction = 'outbound'
          and active_from > $3
        returning id
      )
      update exchange_secret
      set good_until = $3
      where organisation_id = $1
        and connection_id = $2
        and direction = 'outbound'
        and (good_until is null or good_until > $3)
        and id <> all(array(select id from activated))
        and exists (select from activated)`,
    values: [key.organisationId, key.connectionId, now],
  });
  return (rowCount ?? 0) > 0;
}

/** An outbound secret that signs now, or will. */
export interface SigningSecret extends SealedConnectionSecret {
  /** Null: now, by the clock of the database. */
  activeFrom: Date | null;
}

/** The outbound secret that signs now and the one that will at a known time, the latest first. */
export async function signingSecrets(db: Queryable, key: ConnectionKey): Promise<SigningSecret[]> {
  const { rows } = await db.query<SealedConnectionSecret & { active_from: Date; active: boolean }>({
    name: 'exchange-secret-signing',
    text: `
      select id, direction, sealed, active_from, active_from <= now() as active
      from exchange_secret
      where organisation_id = $1
        and connection_id = $2
        and direction = 'outbound'
        and (good_until is null or good_until > now())
        and active_from <> 'infinity'
      order by active_from desc, created_at desc`,
    values: [key.organisationId, key.connectionId],
  });
  return rows.map(({ active, active_from, ...secret }) => ({
    ...secret,
    activeFrom: active ? null : active_from,
  }));
}

/** Callback secrets that are good now, newest first. */
export async function goodCallbackSecrets(
  db: Queryable,
  key: ConnectionKey,
  databaseTime: DatabaseTime,
): Promise<SealedConnectionSecret[]> {
  const { rows } = await db.query<SealedConnectionSecret>({
    name: 'exchange-secret-good',
    text: `
      select id, direction, sealed
      from exchange_secret
      where organisation_id = $1
        and connection_id = $2
        and direction = 'callback'
        and (good_until is null or good_until > ${databaseTimeSql(3)})
      order by created_at desc, id`,
    values: [key.organisationId, key.connectionId, databaseTime],
  });
  return rows;
}

/** Note what a secret was used for; not more often than every ten seconds. */
export async function noteSecretUse(
  db: Queryable,
  key: ConnectionKey,
  use: { secretId: string; at: Date; purpose: string },
): Promise<void> {
  await db.query({
    name: 'exchange-secret-use',
    text: `
      update exchange_secret
      set last_used_at = $4::timestamptz,
          last_used_for = $5
      where organisation_id = $1
        and connection_id = $2
        and id = $3
        and (last_used_at is null or last_used_at < $4::timestamptz - interval '10 seconds')`,
    values: [key.organisationId, key.connectionId, use.secretId, use.at, use.purpose],
  });
}

/** Of every connection of an organisation. */
export async function listSecrets(
  db: Queryable,
  { organisationId }: OrganisationScope,
): Promise<(ConnectionKey & SealedConnectionSecret)[]> {
  const { rows } = await db.query<ConnectionKey & SealedConnectionSecret>({
    name: 'exchange-secret-list',
    text: `
      select organisation_id as "organisationId", connection_id as "connectionId", id, direction, sealed
      from exchange_secret
      where organisation_id = $1`,
    values: [organisationId],
  });
  return rows;
}

/** The same secrets, sealed anew; a statement for each organisation. `id` is organisation, connection, secret. */
export async function replaceSecrets(db: Queryable, rows: readonly ResealedRow[]): Promise<void> {
  for (const [organisationId, ofOne] of Map.groupBy(rows, ({ id }) => id[0]))
    await db.query({
      name: 'exchange-secret-replace',
      text: `
        update exchange_secret s
        set sealed = r.resealed
        from unnest($2::uuid[], $3::uuid[], $4::bytea[], $5::bytea[]) r (connection_id, id, sealed, resealed)
        where s.organisation_id = $1
          and s.connection_id = r.connection_id
          and s.id = r.id
          and s.sealed = r.sealed`,
      values: [
        organisationId,
        ofOne.map(({ id }) => id[1]),
        ofOne.map(({ id }) => id[2]),
        ofOne.map(({ sealed }) => sealed),
        ofOne.map(({ resealed }) => resealed),
      ],
    });
}
