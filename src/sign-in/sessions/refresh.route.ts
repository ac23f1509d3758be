/** POST /auth/refresh. Contract: SIGN-IN-9, SIGN-IN-27. */

import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, openRoute } from '../../tenancy/callers/access.ts';
import { badBody, tokenRefused } from '../sign-in-responses.ts';
import { LoginResponse } from './login-reply.ts';
import { type RefreshDependencies, refresh } from './refresh.ts';

const RefreshBody = named(
  'Refresh',
  Type.Object({ refreshToken: Type.String({ minLength: 1, maxLength: 1_024 }) }),
);

export function refreshRoute(deps: RefreshDependencies): Route<Access> {
  return openRoute({
    docs: {
      operationId: 'refresh',
      summary: 'Exchange a refresh token for a new pair',
      description:
        'Use each refresh token once. The same token sent again within 60 seconds gets the same pair; sent later, it ends the session.',
      tag: 'Sign-in',
    },
    body: RefreshBody,
    bodyExample: { refreshToken: 'The refreshToken of the last answer.' },
    responses: {
      200: { description: 'The new pair', schema: LoginResponse },
      ...badBody,
      ...tokenRefused,
      503: { description: 'The clock of the process is wrong. Wait for the seconds in `retry-after`.' },
    },
    handle: async ({ body }, context) => ({ body: await refresh(deps, body.refreshToken, context) }),
  });
}
