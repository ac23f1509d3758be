/**
 * Making, sealing and rotating the keys that sign access tokens (RFC 8037; docs/adr/0005).
 * Contract: SIGN-IN-25, SIGN-IN-26.
 */
import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint, type JWK } from 'jose';
import type { KeyRing, SealedFor } from '../../platform/crypto/key-ring.ts';
import type { SealedTable } from '../../platform/crypto/sealed-table.ts';
import { type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import { secondsAfter } from '../settings.ts';
import {
  deleteOtherKeys,
  insertSigningKey,
  lockSigningKeys,
  readSigningKeys,
  replacePrivateKeys,
  retireOtherKeys,
  type StoredSigningKey,
} from './signing-key.store.ts';

/** A process reads the keys again after this long at most. */
export const KEYS_MAX_AGE_SECONDS = 30;
/** A new key signs this long after it is made: longer than any process goes without reading the keys. */
export const ACTIVATION_SECONDS = 2 * KEYS_MAX_AGE_SECONDS;

interface Dependencies {
  db: Pool;
  keys: KeyRing;
}

/**
 * Make a new key, which signs after {@link ACTIVATION_SECONDS}; tokens of the old ones stay good until they
 * expire. With `revokeOthers` it signs at once and tokens of the old ones are refused within 30 seconds.
 */
export async function rotateSigningKey(
  { db, keys }: Dependencies,
  databaseTime: DatabaseTime,
  { revokeOthers = false } = {},
): Promise<{ kid: string; signsFrom: Date }> {
  return transaction(db, async (client) => {
    const now = await lockSigningKeys(client, databaseTime);
    const existing = await readSigningKeys(client);
    const signsFrom = revokeOthers || existing.length === 0 ? now : secondsAfter(now, ACTIVATION_SECONDS);
    const key = await makeKey(client, keys, { now, signsFrom });
    await insertSigningKey(client, key);
    if (revokeOthers) await deleteOtherKeys(client, key.kid);
    else await retireOtherKeys(client, key.kid, signsFrom);
    return { kid: key.kid, signsFrom };
  });
}

/** Make the first key, once, however many processes start together. */
export async function makeFirstSigningKey(
  { db, keys }: Dependencies,
  databaseTime: DatabaseTime,
): Promise<void> {
  await transaction(db, async (client) => {
    const now = await lockSigningKeys(client, databaseTime);
    if ((await readSigningKeys(client)).length > 0) return;
    await insertSigningKey(client, await makeKey(client, keys, { now, signsFrom: now }));
  });
}

export async function openSigningKey(keys: KeyRing, key: StoredSigningKey): Promise<KeyObject> {
  try {
    const der = await keys.open(sealedFor(key.kid), key.sealedPrivateKey);
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch (error) {
    throw new Error(
      `The signing key ${key.kid} cannot be opened: somebody changed it, or it is sealed under another master key. Replace it with: interchange key rotate --revoke-others`,
      { cause: error },
    );
  }
}

async function makeKey(
  db: Queryable,
  keys: KeyRing,
  { now, signsFrom }: { now: Date; signsFrom: Date },
): Promise<Omit<StoredSigningKey, 'retiredAt'>> {
  const pair = await promisify(generateKeyPair)('ed25519');
  const jwk = pair.publicKey.export({ format: 'jwk' }) as JWK;
  // RFC 7638: the thumbprint of the key is its id.
  const kid = await calculateJwkThumbprint(jwk);
  const der = pair.privateKey.export({ format: 'der', type: 'pkcs8' });
  const sealedPrivateKey = await keys.seal(db, sealedFor(kid), der);
  const publicJwk = { ...jwk, kid, alg: 'EdDSA', use: 'sig' };
  return { kid, publicJwk, sealedPrivateKey, createdAt: now, signsFrom };
}

function sealedFor(kid: string): SealedFor {
  return { purpose: 'signing-key', context: kid };
}

/** The private keys at rest. */
export const SEALED_SIGNING_KEYS: SealedTable = {
  name: 'keys of access tokens',
  table: 'signing_key',
  list: async (db) =>
    (await readSigningKeys(db)).map(({ kid, sealedPrivateKey }) => ({
      id: [kid],
      sealedFor: sealedFor(kid),
      sealed: sealedPrivateKey,
    })),
  replace: replacePrivateKeys,
};
