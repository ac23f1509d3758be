/** SQL of the sealed secrets of connections. */
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
