/** POST /auth/password-setup: set the first password with the token of a setup link. Contract: SIGN-IN-47. */

import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, openRoute } from '../../tenancy/callers/access.ts';
import { signInFailures } from '../sign-in-responses.ts';
import { type SetUpPasswordDependencies, setUpPassword } from './set-up-password.ts';

const SetUpPasswordBody = named(
  'PasswordSetup',
  Type.Object({
    token: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'The part of the setup link after `#token=`.',
    }),
    newCredential: Type.String({ minLength: 1, maxLength: 1_024, description: 'at least 12 characters' }),
  }),
);

export function setUpPasswordRoute(deps: SetUpPasswordDependencies): Route<Access> {
  return openRoute({
    docs: {
      operationId: 'setUpPassword',
      summary: 'Set a first password',
      description: 'A setup link works once, within 72 hours.',
      tag: 'Sign-in',
    },
    body: SetUpPasswordBody,
    bodyExample: {
      token: 'The part of the setup link after `#token=`.',
      newCredential: 'a long new password',
    },
    responses: {
      204: { description: 'The password is set' },
      400: signInFailures[400],
      403: {
        ...signInFailures[403],
        description: 'The setup link was used or replaced, is too old, or its account was changed.',
      },
      503: signInFailures[503],
    },
    handle: async ({ body }, context) => {
      await setUpPassword(deps, body, context);
      return { status: 204 };
    },
  });
}
