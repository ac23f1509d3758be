/** Adding a passkey, in two calls, and removing it. Contract: SIGN-IN-62, SIGN-IN-67, ADM-70. */
import { randomUUID } from 'node:crypto';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { uuidBytes } from '../../platform/uuid.ts';
import type { Caller } from '../../tenancy/callers/caller.ts';
import { notFound } from '../../tenancy/errors.ts';
import { type OwnCall, withOwnPassword } from '../credentials/prove-identity.ts';
import { signInError } from '../errors.ts';
import { type AddedFactor, addFactor, type FactorDependencies } from '../second-factor/add-factor.ts';
import { removeOwnFactor } from '../second-factor/remove-factor.ts';
import { secondsAfter } from '../settings.ts';
import { ALGORITHMS, checkNewPasskey } from './check-passkey.ts';
import {
  deletePasskeys,
  insertPasskey,
  listPasskeys,
  type Passkey,
  storeChallenge,
  takeChallenge,
} from './passkey.store.ts';
import { passkeyParty } from './passkey-party.ts';
import { CHALLENGE_SECONDS } from './prove-passkey.ts';

export interface PasskeyDependencies extends FactorDependencies {
  publicBaseUrl: string;
}

/** Nobody has more; a list of them goes to the browser at each sign-in. */
const PASSKEYS_AT_MOST = 20;

/** As their owner sees them. */
export async function readPasskeys(
  { db }: Pick<PasskeyDependencies, 'db'>,
  caller: Caller,
): Promise<Pick<Passkey, 'id' | 'name' | 'createdAt' | 'lastUsedAt'>[]> {
  const passkeys = await listPasskeys(db, caller, caller.accountId);
  return passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({ id, name, createdAt, lastUsedAt }));
}

export async function beginPasskey(
  deps: PasskeyDependencies,
  password: string,
  call: OwnCall,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { caller } = call;
  const { accountId, sessionId } = caller;
  const { rpId } = passkeyParty(deps.publicBaseUrl);
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  return withOwnPassword(deps, password, call, async (client, { email }, now) => {
    const existing = await listPasskeys(client, caller, accountId);
    const options = await generateRegistrationOptions({
      rpName: 'interchange',
      rpID: rpId,
      userName: email,
      userDisplayName: email,
      userID: Uint8Array.from(uuidBytes(accountId)),
      attestationType: 'none',
      excludeCredentials: existing.map(({ credentialId: id, transports }) => ({ id, transports })),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
      supportedAlgorithmIDs: ALGORITHMS,
      timeout: CHALLENGE_SECONDS * 1_000,
    });
    const { challenge } = options;
    const until = secondsAfter(now, CHALLENGE_SECONDS);
    await storeChallenge(client, caller, { sessionId, challenge, purpose: 'add', until });
    return options;
  });
}

/** 403 for an answer that is not good, 409 for a passkey that is known already. */
export async function addPasskey(
  deps: PasskeyDependencies,
  { name, response }: { name: string; response: RegistrationResponseJSON },
  call: OwnCall,
): Promise<AddedFactor & { id: string }> {
  const { caller } = call;
  const { accountId, sessionId } = caller;
  const now = await readDatabaseTime(deps.db, call.databaseTime);
  const challenge = await takeChallenge(deps.db, caller, { sessionId, purpose: 'add', now });
  const made =
    challenge && (await checkNewPasskey(response, { party: passkeyParty(deps.publicBaseUrl), challenge }));
  if (!made) throw signInError('second_factor_refused');
  const id = randomUUID();
  const factor = { secondFactor: 'passkey', name } as const;
  const added = await addFactor(deps, call, { now, factor }, async (client, { passkeys }) => {
    const passkey = { ...made, id, accountId, name, createdAt: now };
    if (passkeys >= PASSKEYS_AT_MOST || !(await insertPasskey(client, caller, passkey)))
      throw signInError('passkey_refused');
  });
  return { id, ...added };
}

/** 404 for one that is not the account's. */
export async function removePasskey(
  deps: FactorDependencies,
  { password, passkeyId }: { password: string; passkeyId: string },
  call: OwnCall,
): Promise<void> {
  const { caller } = call;
  const id = passkeyId.toLowerCase();
  await removeOwnFactor(deps, password, call, async (client) => {
    const removed = (await listPasskeys(client, caller, caller.accountId)).find((one) => one.id === id);
    if (removed === undefined) throw notFound('The passkey');
    await deletePasskeys(client, caller, caller.accountId, id);
    return { secondFactor: 'passkey', name: removed.name };
  });
}
