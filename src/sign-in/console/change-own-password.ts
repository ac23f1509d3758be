/** Changing one's own password at the console: the session in which it is done goes on. Contract: SIGN-IN-69. */
import { changePassword } from '../credentials/change-password.ts';
import { type OwnCall, type ProofDependencies, passwordProof } from '../credentials/prove-identity.ts';
import { newOrganisationToken } from '../organisation-token.ts';

/** The token of the session from now on. Refuses as {@link changePassword} does. */
export async function changeOwnPassword(
  deps: ProofDependencies,
  { password, newPassword }: { password: string; newPassword: string },
  call: OwnCall,
): Promise<string> {
  const { caller } = call;
  const { text, hash: tokenHash } = newOrganisationToken(caller.organisationId);
  const change = { ...passwordProof(caller, password), newCredential: newPassword };
  await changePassword(deps, change, call, { sessionId: caller.sessionId, tokenHash });
  return text;
}
