/** POST /auth/password: change a password that is known. Contract: SIGN-IN-42. */

import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, openRoute } from '../../tenancy/callers/access.ts';
import { LoginBody } from '../sessions/login.route.ts';
import { signInFailures } from '../sign-in-responses.ts';
import { changePassword } from './change-password.ts';
import type { ProofDependencies } from './prove-identity.ts';

const ChangePasswordBody = named(
  'PasswordChange',
  Type.Object({
    ...LoginBody.properties,
    newCredential: Type.String({ minLength: 1, maxLength: 1_024, description: 'at least 12 characters' }),
  }),
);

export function changePasswordRoute(deps: ProofDependencies): Route<Access> {
  return openRoute({
    docs: {
      operationId: 'changePassword',
      summary: 'Change a password',
      description:
        'The call checks the old password as a sign-in does, with the same lock. It ends every session of the account.',
      tag: 'Sign-in',
    },
    body: ChangePasswordBody,
    bodyExample: {
      identity: '5f0c9b1e-3d57-4c1a-9d0e-7a1f0b6c2d43',
      credential: 'the password',
      userType: 'EHR',
      newCredential: 'a longer new password',
    },
    responses: { 204: { description: 'The password is changed' }, ...signInFailures },
    handle: async ({ body }, context) => {
      await changePassword(deps, body, context);
      return { status: 204 };
    },
  });
}
