/** POST /auth/verify. Contract: SIGN-IN-3, SIGN-IN-9. */

import type { Queryable } from '../../platform/db/database.ts';
import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, openRoute } from '../../tenancy/callers/access.ts';
import { EMAIL_MAX_LENGTH } from '../accounts/email.ts';
import { UserTypeSchema } from '../administration/account.schema.ts';
import { badBody } from '../sign-in-responses.ts';
import { verify } from './verify.ts';

const VerifyBody = named(
  'AccountVerification',
  Type.Object({
    email: Type.String({ minLength: 1, maxLength: EMAIL_MAX_LENGTH }),
    userType: UserTypeSchema,
  }),
);

const VerifyResponse = named(
  'VerifiedAccount',
  Type.Object(
    {
      userId: Type.String({ description: 'UUID. It never changes, so you may store it.' }),
      mustChangePassword: Type.Boolean(),
      requiresPasswordSetup: Type.Boolean(),
      userType: UserTypeSchema,
    },
    {
      examples: [
        {
          userId: '5f0c9b1e-3d57-4c1a-9d0e-7a1f0b6c2d43',
          mustChangePassword: false,
          requiresPasswordSetup: false,
          userType: 'EHR',
        },
      ],
    },
  ),
);

export function verifyRoute(deps: { db: Queryable; decoyKey: Uint8Array }): Route<Access> {
  return openRoute({
    docs: {
      operationId: 'verifyAccount',
      summary: 'Get the user id of an email address',
      description: 'For an unknown address the answer looks the same, with an id that no account has.',
      tag: 'Sign-in',
    },
    body: VerifyBody,
    bodyExample: { email: 'ris@example.org', userType: 'EHR' },
    responses: {
      200: { description: 'The account', schema: VerifyResponse },
      ...badBody,
    },
    handle: async ({ body }) => ({ body: await verify(deps, body) }),
  });
}
