/**
 * What adding any second factor comes to: the first one brings recovery codes and ends the other sessions, and the session
 * goes on with another cookie, because whoever adds a factor has it.
 * Contract: SIGN-IN-51, SIGN-IN-63, SIGN-IN-67, ADM-70.
 */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { type Client, transaction } from '../../platform/db/database.ts';
import { notifyLive } from '../../tenancy/live.ts';
import { lockCredentials } from '../accounts/account.store.ts';
import { recordOwnChange } from '../administration/record-own-change.ts';
import { renewToken } from '../console/console-session.store.ts';
import { finishSession, type SessionEndSettings } from '../console/session-ends.ts';
import { idsOf, type OwnCall, type ProofDependencies } from '../credentials/prove-identity.ts';
import { signInError } from '../errors.ts';
import { newOrganisationToken } from '../organisation-token.ts';
import { isLiveSession, revokeSessionsOf } from '../sessions/session.store.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';
import { readSecondFactor, type SecondFactor } from './second-factor.store.ts';
import { hasSecondFactor } from './second-factor.ts';

export interface FactorDependencies extends ProofDependencies {
  keys: KeyRing;
  settings: SessionEndSettings;
}

export interface AddedFactor {
  /** For the cookie. */
  token: string;
  /** Shown once, with the first factor. */
  recoveryCodes?: string[];
}

/** How a factor stands in the record of changes. */
export type RecordedFactor =
  | { secondFactor: 'authenticator app' }
  | { secondFactor: 'passkey'; name: string };

/** `insert` stores the factor, in a transaction that holds the account; it is told which factors there were. */
export async function addFactor(
  deps: FactorDependencies,
  call: OwnCall,
  { now, factor }: { now: Date; factor: RecordedFactor },
  insert: (client: Client, before: SecondFactor) => Promise<void>,
): Promise<AddedFactor> {
  const { caller } = call;
  const { accountId, organisationId, sessionId } = caller;
  const added = await transaction(deps.db, async (client) => {
    const held = await lockCredentials(client, caller, accountId);
    if (held?.disabled !== false || !(await isLiveSession(client, caller, { accountId, sessionId, now })))
      throw signInError('not_signed_in');
    const before = await readSecondFactor(client, caller, accountId);
    await insert(client, before);
    await recordOwnChange(client, idsOf(call), { action: 'account.add-own-factor', after: factor });
    const token = await nextToken(client, call, { now, settings: deps.settings });
    if (hasSecondFactor(before)) return { token };
    await revokeSessionsOf(client, caller, {
      accountId,
      reason: 'second-factor-added',
      now,
      except: sessionId,
    });
    await notifyLive(client, { organisationId });
    return { token, recoveryCodes: await makeRecoveryCodes(client, deps.keys, caller) };
  });
  deps.audit('sign-in.second-factor-added', idsOf(call));
  return added;
}

/** Of the session, in which the factor is proven by now. */
async function nextToken(
  client: Client,
  { caller, identity }: OwnCall,
  { now, settings }: { now: Date; settings: SessionEndSettings },
): Promise<string> {
  if (identity.stage === 'enrol-second-factor') return finishSession(client, caller, { now, settings });
  const { text, hash: tokenHash } = newOrganisationToken(caller.organisationId);
  await renewToken(client, caller, { sessionId: caller.sessionId, tokenHash, proven: true });
  return text;
}
