/** POST /auth/logout. Contract: SIGN-IN-36. */
import type { Pool } from '../../platform/db/database.ts';
import type { Route } from '../../platform/http/route.ts';
import { type Access, sessionRoute } from '../../tenancy/callers/access.ts';
import type { Audit } from '../audit.ts';
import { tokenRefused } from '../sign-in-responses.ts';
import { logout } from './logout.ts';

export function logoutRoute(deps: { db: Pool; audit: Audit }): Route<Access> {
  return sessionRoute({
    docs: {
      operationId: 'logout',
      summary: 'End the session',
      description: 'From now on every process answers 401 to its access and refresh tokens.',
      tag: 'Sign-in',
    },
    responses: { 204: { description: 'The session has ended' }, ...tokenRefused },
    handle: async (_request, { caller, ...context }) => {
      await logout(deps, caller, context);
      return { status: 204 };
    },
  });
}
