/** POST /auth/login. Contract: SIGN-IN-7, SIGN-IN-8, SIGN-IN-9. */

import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, openRoute } from '../../tenancy/callers/access.ts';
import { noTokens, signInFailures } from '../sign-in-responses.ts';
import { type LoginDependencies, login } from './login.ts';
import { LoginResponse } from './login-reply.ts';

export const LoginBody = named(
  'Login',
  Type.Object({
    identity: Type.String({
      minLength: 1,
      maxLength: 320,
      description: 'The userId that /auth/verify answered.',
    }),
    credential: Type.String({ minLength: 1, maxLength: 1_024, description: 'the password' }),
    userType: Type.String({
      minLength: 1,
      maxLength: 32,
      description: '`EHR` for a system, `STAFF` for a person.',
    }),
  }),
);

export function loginRoute(deps: LoginDependencies): Route<Access> {
  return openRoute({
    docs: {
      operationId: 'login',
      summary: 'Sign in with a password',
      description:
        'The answer is the same 403 for a wrong password, an unknown or disabled account, an account without a password, and a wrong user type. Repeated failures are answered 429.',
      tag: 'Sign-in',
    },
    body: LoginBody,
    bodyExample: {
      identity: '5f0c9b1e-3d57-4c1a-9d0e-7a1f0b6c2d43',
      credential: 'the password',
      userType: 'EHR',
    },
    responses: {
      200: { description: 'A new session', schema: LoginResponse },
      ...signInFailures,
      ...noTokens,
    },
    handle: async ({ body }, context) => ({ body: await login(deps, body, context) }),
  });
}
