/** The keys that sign access tokens, at rest. */
import type { JWK } from 'jose';
import type { ResealedRow } from '../../platform/crypto/sealed-table.ts';
import { ADVISORY_LOCKS } from '../../platform/db/advisory-locks.ts';
import type { Client, Queryable } from '../../platform/db/database.ts';
import { type DatabaseTime, readDatabaseTime } from '../../platform/db/database-time.ts';

export interface StoredSigningKey {
  kid: string;
  publicJwk: JWK;
  sealedPrivateKey: Buffer;
  createdAt: Date;
  signsFrom: Date;
  retiredAt: Date | null;
}

/** Newest first. */
export async function readSigningKeys(db: Queryable): Promise<StoredSigningKey[]> {
  const { rows } = await db.query<StoredSigningKey>({
    name: 'signing-key-read',
    text: `
      select kid, public_jwk as "publicJwk", sealed_private_key as "sealedPrivateKey", created_at as "createdAt",
        signs_from as "signsFrom", retired_at as "retiredAt"
      from signing_key
      order by signs_from desc, kid`,
  });
  return rows;
}

/**
 * Changes of the key set take turns, so that processes that start together make one first key. Resolves to the time of
 * the database when it is this one's turn.
 */
export async function lockSigningKeys(client: Client, databaseTime: DatabaseTime): Promise<Date> {
  await client.query({
    name: 'signing-key-lock',
    text: 'select pg_advisory_xact_lock($1)',
    values: [ADVISORY_LOCKS.signingKeys],
  });
  return readDatabaseTime(client, databaseTime);
}

export async function insertSigningKey(
  db: Queryable,
  key: Omit<StoredSigningKey, 'retiredAt'>,
): Promise<void> {
  await db.query({
    name: 'signing-key-insert',
    text: `
      insert into signing_key (kid, public_jwk, sealed_private_key, created_at, signs_from)
      values ($1, $2, $3, $4, $5)`,
    values: [key.kid, JSON.stringify(key.publicJwk), key.sealedPrivateKey, key.createdAt, key.signsFrom],
  });
}

/** Every other key stops signing at `retiredAt`; those that stop earlier keep their time. */
export async function retireOtherKeys(db: Queryable, kid: string, retiredAt: Date): Promise<void> {
  await db.query({
    name: 'signing-key-retire',
    text: `
      update signing_key
      set retired_at = $2
      where kid <> $1
        and (retired_at is null or retired_at > $2)`,
    values: [kid, retiredAt],
  });
}

/** Tokens of every other key are refused from now on. */
export async function deleteOtherKeys(db: Queryable, kid: string): Promise<void> {
  await db.query({
    name: 'signing-key-delete-others',
    text: `
      delete from signing_key
      where kid <> $1`,
    values: [kid],
  });
}

/** Keys that nothing can need any more. */
export async function deleteKeysRetiredBefore(db: Queryable, before: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'signing-key-sweep',
    text: `
      delete from signing_key
      where retired_at < $1`,
    values: [before],
  });
  return rowCount ?? 0;
}

/** The same private keys, sealed anew. */
export async function replacePrivateKeys(db: Queryable, rows: readonly ResealedRow[]): Promise<void> {
  await db.query({
    text: `
      update signing_key k
      set sealed_private_key = r.resealed
      from unnest($1::text[], $2::bytea[], $3::bytea[]) r (kid, sealed, resealed)
      where k.kid = r.kid
        and k.sealed_private_key = r.sealed`,
    values: [
      rows.map(({ id: [kid] }) => kid),
      rows.map(({ sealed }) => sealed),
      rows.map(({ resealed }) => resealed),
    ],
  });
}
