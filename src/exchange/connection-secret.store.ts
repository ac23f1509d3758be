/** SQL of the sealed secrets of connections. */
import type { ResealedRow } from '../platform/crypto/sealed-table.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { SealedSecret, SecretDirection } from './connection-secret.ts';
import type { ConnectionKey } from './lane.store.ts';

export async function insertSecret(
  db: Queryable,
  key: ConnectionKey,
  secret: SealedSecret,
  createdAt: Date,
): Promise<void> {
  await db.query({
    text: `
      insert into exchange_secret (organisation_id, connection_id, id, direction, sealed, created_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [key.organisationId, key.connectionId, secret.id, secret.direction, secret.sealed, createdAt],
  });
}

/** Let the secrets of a direction end at `goodUntil`; those that end sooner stay so. */
export async function endSecrets(
  db: Queryable,
  key: ConnectionKey,
  end: { direction: SecretDirection; goodUntil: Date },
): Promise<void> {
  await db.query({
    text: `
      update exchange_secret
      set good_until = least(good_until, $4)
      where organisation_id = $1
        and connection_id = $2
        and direction = $3`,
    values: [key.organisationId, key.connectionId, end.direction, end.goodUntil],
  });
}

/** Secrets of a direction that are good at `now`, newest first. */
export async function goodSecrets(
  db: Queryable,
  key: ConnectionKey,
  good: { direction: SecretDirection; now: Date },
): Promise<SealedSecret[]> {
  const { rows } = await db.query<SealedSecret>({
    name: 'exchange-secret-good',
    text: `
      select id, direction, sealed
      from exchange_secret
      where organisation_id = $1
        and connection_id = $2
        and direction = $3
        and (good_until is null or good_until > $4)
      order by created_at desc, id`,
    values: [key.organisationId, key.connectionId, good.direction, good.now],
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

/** Of every connection of every organisation. */
export async function listSecrets(db: Queryable): Promise<(ConnectionKey & SealedSecret)[]> {
  const { rows } = await db.query<ConnectionKey & SealedSecret>({
    text: `
      select organisation_id as "organisationId", connection_id as "connectionId", id, direction, sealed
      from exchange_secret
      order by organisation_id`,
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
