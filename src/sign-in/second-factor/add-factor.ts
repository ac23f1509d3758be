/**
 * What adding any second factor comes to: the first one brings recovery codes and ends the other sessions, and the session
 * goes on with another cookie, because whoever adds a factor has it.
 * Contract: SIGN-IN-51, SIGN-IN-63, SIGN-IN-67, ADM-70.
 */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import type { Client } from '../../platform/db/database.ts';
import type { Caller, TokenIdentity } from '../../tenancy/callers/caller.ts';
import { notifyLive } from '../../tenancy/live.ts';
import { recordOwnChange } from '../administration/record-own-change.ts';
import { endsOf, type SessionEndSettings } from '../console/session-ends.ts';
import type { IdentityProof } from '../credentials/prove-identity.ts';
import { signInError } from '../errors.ts';
import { newOrganisationToken } from '../organisation-token.ts';
import { isLiveSession, revokeSessionsOf } from '../sessions/session.store.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';
import { readSecondFactor } from './second-factor.store.ts';
import { hasSecondFactor } from './second-factor.ts';
import { raiseSession, renewToken } from './step-up.store.ts';

/** Somebody in a session of the console. */
export interface ConsoleCaller {
  caller: Caller;
  identity: TokenIdentity;
}

export interface AddedFactor {
  /** For the cookie. */
  token: string;
  /** Shown once, with the first factor. */
  recoveryCodes?: string[];
}

/** The password of whoever is signed in, asked for once more. */
export function passwordProof({ accountId, sessionId }: Caller, password: string): IdentityProof {
  return {
    identity: accountId,
    credential: password,
    userType: 'STAFF',
    secondFactor: 'proven',
    sessionId,
  };
}

/** How a factor stands in the record of changes. */
export type RecordedFactor =
  | { secondFactor: 'authenticator app' }
  | { secondFactor: 'passkey'; name: string };

/** In a transaction that holds the account. `insert` stores the factor. */
export async function addFactor(
  { keys, settings }: { keys: Pick<KeyRing, 'derive'>; settings: SessionEndSettings },
  client: Client,
  { caller, identity, now, factor, correlationId }: AddedBy,
  insert: () => Promise<void>,
): Promise<AddedFactor> {
  const { accountId, organisationId, sessionId } = caller;
  if (!(await isLiveSession(client, caller, { accountId, sessionId, now })))
    throw signInError('not_signed_in');
  const isFirst = !hasSecondFactor(await readSecondFactor(client, caller, accountId));
  await insert();
  const own = { organisationId, accountId, correlationId };
  await recordOwnChange(client, own, { action: 'account.add-own-factor', after: factor });
  const { text: token, hash: tokenHash } = newOrganisationToken(organisationId);
  if (identity.stage === 'enrol-second-factor') {
    const ends = endsOf('signed-in', now, settings);
    if (!(await raiseSession(client, caller, { sessionId, tokenHash, now, ...ends })))
      throw signInError('not_signed_in');
  } else await renewToken(client, caller, { sessionId, tokenHash, proven: true });
  if (!isFirst) return { token };
  await revokeSessionsOf(client, caller, {
    accountId,
    reason: 'second-factor-added',
    now,
    except: sessionId,
  });
  await notifyLive(client, { organisationId });
  return { token, recoveryCodes: await makeRecoveryCodes(client, keys, caller) };
}

type AddedBy = ConsoleCaller & { now: Date; factor: RecordedFactor; correlationId: string };
