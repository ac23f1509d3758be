/** Adding a passkey, in two calls, and removing it. Contract: SIGN-IN-62, SIGN-IN-67, ADM-70. */
import { randomUUID } from 'node:crypto';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { transaction } from '../../platform/db/database.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { uuidBytes } from '../../platform/uuid.ts';
import type { Caller } from '../../tenancy/callers/caller.ts';
import { tenancyError } from '../../tenancy/errors.ts';
import { lockCredentials } from '../accounts/account.store.ts';
import { recordOwnChange } from '../administration/record-own-change.ts';
import { type CallContext, withProvenIdentity } from '../credentials/prove-identity.ts';
import { signInError } from '../errors.ts';
import {
  type AddedFactor,
  addFactor,
  type ConsoleCaller,
  passwordProof,
} from '../second-factor/add-factor.ts';
import type { FactorDependencies } from '../second-factor/manage-totp.ts';
import { clearUpAfterLast } from '../second-factor/remove-factor.ts';
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
  { caller, password }: ConsoleCaller & { password: string },
  context: CallContext,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { accountId, sessionId } = caller;
  const { rpId } = passkeyParty(deps.publicBaseUrl);
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  return withProvenIdentity(deps, passwordProof(caller, password), context, {
    async prepare({ email }, { now }) {
      const existing = await listPasskeys(deps.db, caller, accountId);
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
      return { options, until: secondsAfter(now, CHALLENGE_SECONDS) };
    },
    async commit(client, _, { options, until }) {
      const { challenge } = options;
      await storeChallenge(client, caller, { sessionId, challenge, purpose: 'add', until });
      return options;
    },
  });
}

/** 403 for an answer that is not good, 409 for a passkey that is known already. */
export async function addPasskey(
  deps: PasskeyDependencies,
  { caller, identity, name, response }: ConsoleCaller & { name: string; response: RegistrationResponseJSON },
  { databaseTime, correlationId }: CallContext,
): Promise<AddedFactor & { id: string }> {
  const { accountId, organisationId, sessionId } = caller;
  const now = await readDatabaseTime(deps.db, databaseTime);
  const challenge = await takeChallenge(deps.db, caller, { sessionId, purpose: 'add', now });
  const made =
    challenge && (await checkNewPasskey(response, { party: passkeyParty(deps.publicBaseUrl), challenge }));
  if (!made) throw signInError('second_factor_refused');
  const id = randomUUID();
  const added = await transaction(deps.db, async (client) => {
    const held = await lockCredentials(client, caller, accountId);
    if (held === undefined || held.passkeys >= PASSKEYS_AT_MOST) throw signInError('passkey_refused');
    const factor = { secondFactor: 'passkey', name } as const;
    return addFactor(deps, client, { caller, identity, now, correlationId, factor }, async () => {
      if (!(await insertPasskey(client, caller, { ...made, id, accountId, name, createdAt: now })))
        throw signInError('passkey_refused');
    });
  });
  deps.audit('sign-in.second-factor-added', { correlationId, accountId, organisationId, sessionId });
  return { id, ...added };
}

/** 404 for one that is not the account's. */
export async function removePasskey(
  deps: FactorDependencies,
  { caller, password, passkeyId }: ConsoleCaller & { password: string; passkeyId: string },
  context: CallContext,
): Promise<void> {
  const { accountId, organisationId, sessionId } = caller;
  const { correlationId } = context;
  await withProvenIdentity(deps, passwordProof(caller, password), context, {
    prepare: async (_, { now }) => now,
    async commit(client, _, now) {
      const id = passkeyId.toLowerCase();
      const removed = (await listPasskeys(client, caller, accountId)).find((one) => one.id === id);
      if (removed === undefined) throw tenancyError('not_found', { record: 'The passkey' });
      await deletePasskeys(client, caller, accountId, id);
      await clearUpAfterLast(client, caller, { accountId, now });
      const own = { organisationId, accountId, correlationId };
      const before = { secondFactor: 'passkey', name: removed.name };
      await recordOwnChange(client, own, { action: 'account.remove-own-factor', before });
    },
  });
  deps.audit('sign-in.second-factor-removed', { correlationId, accountId, organisationId, sessionId });
}
