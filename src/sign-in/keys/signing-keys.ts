/**
 * The keys that sign access tokens, as one process holds them in memory (docs/adr/0005). The set is read
 * again in time to know every key before the first token that it signed.
 * Contract: SIGN-IN-25, SIGN-IN-26.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import type { Pool } from '../../platform/db/database.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import { CLOCK_SKEW_SECONDS, secondsAfter } from '../settings.ts';
import { KEYS_MAX_AGE_SECONDS, makeFirstSigningKey, openSigningKey } from './rotate-signing-key.ts';
import { readSigningKeys, type StoredSigningKey } from './signing-key.store.ts';

export interface KeySet {
  /** Differs whenever the keys differ. */
  readonly generation: number;
  readonly keys: readonly StoredSigningKey[];
}

export interface SigningKeys {
  /** The set, at most 30 s old. A promise only when it has to be read. */
  current(): KeySet | Promise<KeySet>;
  /** The keys as they are now, opened: who signs in a transaction waits for no other connection. Makes the first one. */
  signer(): Promise<Signer>;
  /** The public key by its id, while a token that it signed can be good. */
  verifier(kid: string, now: Date): Promise<KeyObject | undefined>;
  /** Every key that `verifier` knows at `now`. */
  published(now: Date): Promise<JWK[]>;
}

/** The key that signs at a time of the database. */
export type Signer = (now: Date) => { kid: string; privateKey: KeyObject };

export interface SigningKeyOptions {
  db: Pool;
  keys: KeyRing;
  accessTokenSeconds: number;
  databaseTime?: (() => DatabaseTime) | undefined;
  /** Seconds that only go forward, for the age of the set. */
  monotonicSeconds?: () => number;
}

const RENEW_AFTER_SECONDS = KEYS_MAX_AGE_SECONDS / 2;
/** Who signs has the set read again after this long: else a process would go on with a key that others refuse. */
const SIGNING_MAX_AGE_SECONDS = 2;
/** An unknown key id has the set read again, but not more often than this. */
const UNKNOWN_KID_SECONDS = 2;

export function createSigningKeys(options: SigningKeyOptions): SigningKeys {
  const { db, keys, databaseTime = () => null, monotonicSeconds = processSeconds } = options;
  const privateKeys = new Map<string, KeyObject>();
  const publicKeys = new Map<string, KeyObject>();
  let set: KeySet = { generation: 0, keys: [] };
  let readAt = Number.NEGATIVE_INFINITY;
  /** When an unknown key id had it read. */
  let lookedUpAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<KeySet> | undefined;

  async function read(): Promise<KeySet> {
    const startedAt = monotonicSeconds();
    const stored = await readSigningKeys(db);
    if (fingerprint(stored) !== fingerprint(set.keys)) set = { generation: set.generation + 1, keys: stored };
    readAt = startedAt;
    return set;
  }

  function reread(): Promise<KeySet> {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  function current(): KeySet | Promise<KeySet> {
    const age = monotonicSeconds() - readAt;
    if (age > KEYS_MAX_AGE_SECONDS) return reread();
    // In good time and in the background, so that no call waits. A failure shows when the set is too old.
    if (age > RENEW_AFTER_SECONDS) reread().catch(() => undefined);
    return set;
  }

  async function filledSet(given: KeySet | Promise<KeySet> = current()): Promise<KeySet> {
    const known = await given;
    if (known.keys.length > 0) return known;
    await makeFirstSigningKey({ db, keys }, databaseTime());
    return reread();
  }

  async function signer(): Promise<Signer> {
    const isOld = monotonicSeconds() - readAt > SIGNING_MAX_AGE_SECONDS;
    const filled = await filledSet(isOld ? reread() : current());
    // One that cannot be opened stops only those who are to sign with it.
    const faults = new Map<string, unknown>();
    for (const key of filled.keys)
      if (!privateKeys.has(key.kid))
        await openSigningKey(keys, key).then(
          (opened) => privateKeys.set(key.kid, opened),
          (fault: unknown) => faults.set(key.kid, fault),
        );
    return (now) => {
      const { kid } = signingAt(filled, now) ?? {};
      const privateKey = kid === undefined ? undefined : privateKeys.get(kid);
      if (kid !== undefined && privateKey !== undefined) return { kid, privateKey };
      throw faults.get(kid ?? '') ?? new Error('no signing key after one was made');
    };
  }

  async function verifier(kid: string, now: Date): Promise<KeyObject | undefined> {
    let key = find(await current(), kid);
    if (key === undefined && monotonicSeconds() - lookedUpAt >= UNKNOWN_KID_SECONDS) {
      key = find(await reread(), kid);
      lookedUpAt = monotonicSeconds();
    }
    if (key === undefined || !isNeeded(key, now, options.accessTokenSeconds)) return undefined;
    const publicKey = publicKeys.get(kid) ?? createPublicKey({ key: key.publicJwk, format: 'jwk' });
    publicKeys.set(kid, publicKey);
    return publicKey;
  }

  async function published(now: Date): Promise<JWK[]> {
    return (await filledSet()).keys
      .filter((key) => isNeeded(key, now, options.accessTokenSeconds))
      .map(({ publicJwk }) => publicJwk);
  }

  return { current, signer, verifier, published };
}

/** Until every token that the key signed has expired. */
function isNeeded({ retiredAt }: StoredSigningKey, now: Date, accessTokenSeconds: number): boolean {
  return retiredAt === null || now < secondsAfter(retiredAt, accessTokenSeconds + CLOCK_SKEW_SECONDS);
}

/** The newest key whose time has come; where clocks disagree and none has, the oldest. */
function signingAt({ keys }: KeySet, now: Date): StoredSigningKey | undefined {
  return keys.find((key) => key.signsFrom <= now) ?? keys.at(-1);
}

function find({ keys }: KeySet, kid: string): StoredSigningKey | undefined {
  return keys.find((key) => key.kid === kid);
}

function fingerprint(keys: readonly StoredSigningKey[]): string {
  return keys
    .map(({ kid, signsFrom, retiredAt }) => `${kid}/${signsFrom.getTime()}/${retiredAt?.getTime()}`)
    .join();
}

function processSeconds(): number {
  return performance.now() / 1_000;
}
