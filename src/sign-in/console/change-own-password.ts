/** Changing one's own password at the console: the session in which it is done goes on. Contract: SIGN-IN-69. */
import { changePasswordOf } from '../credentials/change-password.ts';
import { type OwnCall, type ProofDependencies, passwordProof } from '../credentials/prove-identity.ts';
import { newOrganisationToken } from '../organisation-token.ts';
import { renewToken } from '../second-factor/step-up.store.ts';

/** The token of the session from now on. Refuses as {@link changePasswordOf} does. */
export async function changeOwnPassword(
  deps: ProofDependencies,
  { password, newPassword }: { password: string; newPassword: string },
  call: OwnCall,
): Promise<string> {
  const { caller } = call;
  const { sessionId, organisationId } = caller;
  const token = newOrganisationToken(organisationId);
  const change = { ...passwordProof(caller, password), newCredential: newPassword };
  await changePasswordOf(deps, change, call, {
    keep: sessionId,
    also: (client) => renewToken(client, caller, { sessionId, tokenHash: token.hash, proven: false }),
  });
  return token.text;
}
