/** What the console needs to know of whoever is signed in. Contract: SIGN-IN-59. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Caller, ConsoleStage, TokenIdentity } from '../../tenancy/callers/caller.ts';
import { listFacilities } from '../../tenancy/organisations/organisation.store.ts';
import { signInError } from '../errors.ts';
import { methodsOf } from '../second-factor/second-factor.ts';
import { readSessionProfile, type SessionProfile } from './session-profile.store.ts';

export interface ReadSessionDependencies {
  db: Queryable;
  publicBaseUrl: string;
}

/** In an unfinished sign-in only how to finish it. */
export async function readSession(
  { db, publicBaseUrl }: ReadSessionDependencies,
  { caller, stage }: { caller: Caller; stage: TokenIdentity['stage'] },
): Promise<object> {
  const profile = await readSessionProfile(db, caller, caller);
  if (profile === undefined || stage === undefined) throw signInError('not_signed_in');
  if (stage !== 'signed-in') return unfinished(stage, profile);
  const facilities = await listFacilities(db, caller);
  const { required, totp, passkeys, recoveryCodesLeft } = profile;
  return {
    state: stage,
    account: {
      userId: caller.accountId,
      email: profile.email,
      role: profile.role,
      mustChangePassword: caller.mustChangePassword,
    },
    organisation: { id: caller.organisationId, name: profile.organisation },
    facilities: facilities.filter(({ id }) => caller.facilities.has(id)),
    everyFacility: facilities.every(({ id }) => caller.facilities.has(id)),
    defaultFacilityId: caller.defaultFacilityId,
    permissions: [...caller.permissions].sort(),
    secondFactor: { required, totp, passkeys, recoveryCodesLeft },
    idleEndsAt: profile.idleEndsAt,
    endsAt: profile.endsAt,
    publicBaseUrl,
  };
}

function unfinished(state: ConsoleStage, profile: SessionProfile): object {
  return state === 'second-factor' ? { state, methods: methodsOf(profile) } : { state };
}
