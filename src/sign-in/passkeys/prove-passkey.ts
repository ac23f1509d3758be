/** Finishing a sign-in with a passkey: a challenge, and its answer. Contract: SIGN-IN-62, SIGN-IN-66. */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { Pool } from '../../platform/db/database.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import type { OwnCall } from '../credentials/prove-identity.ts';
import { finishSignIn, type ProveDependencies } from '../second-factor/prove-second-factor.ts';
import { secondsAfter } from '../settings.ts';
import { checkPasskey } from './check-passkey.ts';
import { listPasskeys, storeChallenge, takeChallenge, usePasskey } from './passkey.store.ts';
import { passkeyParty } from './passkey-party.ts';

/** How long there is to answer a challenge. */
export const CHALLENGE_SECONDS = 5 * 60;

interface WithAddress {
  publicBaseUrl: string;
}

export async function askForPasskey(
  { db, publicBaseUrl }: { db: Pool } & WithAddress,
  { caller, databaseTime }: Pick<OwnCall, 'caller' | 'databaseTime'>,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
  const passkeys = await listPasskeys(db, caller, caller.accountId);
  const options = await generateAuthenticationOptions({
    rpID: passkeyParty(publicBaseUrl).rpId,
    allowCredentials: passkeys.map(({ credentialId: id, transports }) => ({ id, transports })),
    userVerification: 'required',
    timeout: CHALLENGE_SECONDS * 1_000,
  });
  const until = secondsAfter(await readDatabaseTime(db, databaseTime), CHALLENGE_SECONDS);
  const { challenge } = options;
  await storeChallenge(db, caller, { sessionId: caller.sessionId, challenge, purpose: 'sign-in', until });
  return options;
}

/** The token of the session from now on. 403 for a wrong answer, 429 after too many. */
export async function provePasskey(
  deps: ProveDependencies & WithAddress,
  response: AuthenticationResponseJSON,
  call: OwnCall,
): Promise<string> {
  const { caller } = call;
  const { accountId, sessionId } = caller;
  return finishSignIn(deps, call, async ({ now }) => {
    const challenge = await takeChallenge(deps.db, caller, { sessionId, purpose: 'sign-in', now });
    const passkeys = await listPasskeys(deps.db, caller, accountId);
    const passkey = passkeys.find(({ credentialId }) => credentialId === response.id);
    if (challenge === undefined || passkey === undefined) return undefined;
    const asked = { party: passkeyParty(deps.publicBaseUrl), challenge, passkey };
    const counter = await checkPasskey(response, asked);
    if (counter === undefined) return undefined;
    const use = { id: passkey.id, from: passkey.counter, counter, now };
    return (client) => usePasskey(client, caller, use);
  });
}
