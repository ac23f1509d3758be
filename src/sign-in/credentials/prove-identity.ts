/**
 * The one way in which a user id and a password are checked: same work, same answer and same lock whether the
 * account exists or not.
 * Contract: SIGN-IN-10, SIGN-IN-11, SIGN-IN-58, SIGN-IN-65, SIGN-IN-76.
 */

import { type Client, type Pool, transaction } from '../../platform/db/database.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { Caller, TokenIdentity } from '../../tenancy/callers/caller.ts';
import {
  type AccountCredentials,
  type DirectoryEntry,
  findByUserId,
  lockCredentials,
  NOBODY,
  readCredentialsOf,
} from '../accounts/account.store.ts';
import type { Audit } from '../audit.ts';
import { signInError } from '../errors.ts';
import type { Lockout, SignInAttempt } from '../lockout/lockout.ts';
import { networkOf } from '../lockout/network.ts';
import { readSecondFactor, type SecondFactor } from '../second-factor/second-factor.store.ts';
import { hasSecondFactor } from '../second-factor/second-factor.ts';
import { isLiveSession } from '../sessions/session.store.ts';
import type { Passwords } from './password.ts';

/** As it was sent, so nothing that the service decides by belongs here. */
export interface IdentityProof {
  /** The user id. */
  identity: string;
  credential: string;
  userType: string;
}

export interface CallContext {
  databaseTime: DatabaseTime;
  correlationId: string;
  remoteAddress: string;
}

/** Of somebody in a session of the console. */
export interface OwnCall extends CallContext {
  caller: Caller;
  identity: TokenIdentity;
}

/** Who calls, for the log and for the record of changes. */
export function idsOf({ caller, correlationId }: Pick<OwnCall, 'caller' | 'correlationId'>) {
  const { accountId, organisationId, sessionId } = caller;
  return { correlationId, accountId, organisationId, sessionId };
}

type AccountOfIdentity = AccountCredentials & SecondFactor & Pick<DirectoryEntry, 'organisationId' | 'email'>;

export type ProvenAccount = AccountOfIdentity & { passwordHash: string };

export interface ProofDependencies {
  db: Pool;
  passwords: Passwords;
  lockout: Lockout;
  audit: Audit;
}

/** Where a password counts although the account has a second factor, or its role requires one. Else it is refused. */
interface ProofTerms {
  /** The first step of a sign-in, which a second factor finishes. */
  isFirstStep?: boolean;
  /** The session in which it is given, and a factor was proven. 401 when it has ended by the time that the account is held. */
  sessionId?: string | undefined;
}

/** What is done for an account whose password was given. */
interface ProvenWork<Prepared, Result> extends ProofTerms {
  /** Whatever needs no transaction. What it throws counts neither as failure nor as success. */
  prepare(account: ProvenAccount, attempt: Pick<SignInAttempt, 'from' | 'now'>): Promise<Prepared>;
  /** In a transaction that holds the account as it was proven. */
  commit(client: Client, account: ProvenAccount, prepared: Prepared): Promise<Result>;
}

/**
 * Do `work` for the account whose password was given. 403 with one message when anything is wrong with it, 429
 * while it is locked, 503 when too many passwords are being checked.
 */
export async function withProvenIdentity<Prepared, Result>(
  deps: ProofDependencies,
  proof: IdentityProof,
  context: CallContext,
  work: ProvenWork<Prepared, Result>,
): Promise<Result> {
  const { leave } = deps.passwords.beginAttempt(networkOf(context.remoteAddress));
  try {
    return await prove(deps, proof, context, work);
  } finally {
    leave();
  }
}

/** The password of whoever is signed in, asked for once more. */
export function passwordProof({ accountId }: Caller, password: string): IdentityProof {
  return { identity: accountId, credential: password, userType: 'STAFF' };
}

/** As {@link withProvenIdentity}, for whoever is signed in. Does `work` in the transaction; `now` is the time of the call. */
export function withOwnPassword<Result>(
  deps: ProofDependencies,
  password: string,
  call: OwnCall,
  work: (client: Client, account: ProvenAccount, now: Date) => Promise<Result>,
): Promise<Result> {
  const { caller } = call;
  return withProvenIdentity(deps, passwordProof(caller, password), call, {
    sessionId: caller.sessionId,
    prepare: async (_, { now }) => now,
    commit: work,
  });
}

async function prove<Prepared, Result>(
  deps: ProofDependencies,
  proof: IdentityProof,
  context: CallContext,
  work: ProvenWork<Prepared, Result>,
): Promise<Result> {
  const attempt = await deps.lockout.begin(proof.identity, context);
  let outcome: { value: Result } | undefined;
  let account: AccountOfIdentity | undefined;
  try {
    account = await findAccount(deps.db, proof.identity);
    const usable = usableAccount(account, proof, work);
    const matches = await deps.passwords.verify(usable?.passwordHash, proof.credential, attempt.from);
    if (usable !== undefined && matches) outcome = await enter(deps, usable, attempt, work);
  } catch (error) {
    await deps.lockout.release(attempt).catch(() => undefined);
    throw error;
  }
  if (outcome !== undefined) return outcome.value;
  const { locked } = await deps.lockout.fail(attempt);
  const ids = {
    correlationId: context.correlationId,
    accountId: account?.id,
    organisationId: account?.organisationId,
  };
  deps.audit('sign-in.failed', ids);
  if (locked) deps.audit('sign-in.locked', ids);
  // Only who is signed in already knows that the rest is right.
  if (work.sessionId !== undefined) throw signInError('password_wrong');
  throw signInError('invalid_credentials');
}

/** Two reads, also for an identity that does not exist or is no UUID. */
async function findAccount(db: Pool, identity: string): Promise<AccountOfIdentity | undefined> {
  const entry = await findByUserId(db, isUuid(identity) ? identity : NOBODY);
  const account = await readCredentialsOf(db, entry);
  return entry && account && { ...account, organisationId: entry.organisationId, email: entry.email };
}

/** Undefined for whoever may not sign in, whatever the password. */
function usableAccount(
  account: AccountOfIdentity | undefined,
  { userType }: IdentityProof,
  terms: ProofTerms,
): ProvenAccount | undefined {
  if (account === undefined || account.disabled || account.userType !== userType) return undefined;
  if (!suffices(account, terms)) return undefined;
  const { passwordHash } = account;
  return passwordHash === null ? undefined : { ...account, passwordHash };
}

function suffices(factor: SecondFactor, { isFirstStep = false, sessionId }: ProofTerms): boolean {
  return isFirstStep || sessionId !== undefined || (!hasSecondFactor(factor) && !factor.required);
}

/** Undefined when the account was disabled or given another password since it was read. */
async function enter<Prepared, Result>(
  deps: ProofDependencies,
  account: ProvenAccount,
  attempt: SignInAttempt,
  work: ProvenWork<Prepared, Result>,
): Promise<{ value: Result } | undefined> {
  const { isFirstStep = false, sessionId } = work;
  const prepared = await work.prepare(account, attempt);
  const outcome = await transaction(deps.db, async (client) => {
    const held = await lockCredentials(client, account, account.id);
    if (held === undefined || held.disabled || held.passwordHash !== account.passwordHash) return undefined;
    // Behind the lock: it may have been waited for.
    const factor = await readSecondFactor(client, account, account.id);
    if (!suffices(factor, work)) return undefined;
    // The session may have ended while the password was being checked. Then nothing is done in it.
    if (sessionId !== undefined) {
      const session = { accountId: account.id, sessionId, now: attempt.now };
      if (!(await isLiveSession(client, account, session))) throw signInError('not_signed_in');
    }
    // Else whoever has the password could forget the failures of codes with it.
    const isHalf = isFirstStep && hasSecondFactor(factor);
    await (isHalf ? deps.lockout.release(attempt, client) : deps.lockout.succeed(client, attempt));
    const now = { ...account, ...held, ...factor, passwordHash: account.passwordHash };
    return { value: await work.commit(client, now, prepared) };
  });
  if (outcome !== undefined) deps.passwords.prefer(attempt.from);
  return outcome;
}
