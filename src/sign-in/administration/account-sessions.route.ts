/** /accounts/<id>/sessions: administrators see and end the sessions of an account. Contract: ADM-10. */

import { PAGE_PARAMETERS, pageSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, administrationRoute } from '../../tenancy/callers/access.ts';
import { AccountParams, SessionParams, SessionSchema } from './account.schema.ts';
import { endSessionsOf, listSessionsOf } from './account-sessions.ts';
import { ACCOUNT_PERMISSIONS, type AccountRouteDependencies, changeOf } from './accounts.route.ts';

export function listAccountSessionsRoute(deps: AccountRouteDependencies): Route<Access> {
  return administrationRoute(ACCOUNT_PERMISSIONS, {
    docs: { operationId: 'listAccountSessions', summary: 'List the live sessions of an account' },
    params: AccountParams,
    query: Type.Object(PAGE_PARAMETERS),
    responses: { 200: { description: 'Newest first.', schema: pageSchema(SessionSchema) } },
    handle: async ({ params, query }, context) => ({
      body: await listSessionsOf(deps, context, { ...query, ...params }),
    }),
  });
}

export function endAccountSessionsRoute(deps: AccountRouteDependencies): Route<Access> {
  return administrationRoute(ACCOUNT_PERMISSIONS, {
    docs: { operationId: 'endAccountSessions', summary: 'End all sessions of an account' },
    params: AccountParams,
    responses: { 204: { description: 'Ended, at once and in every process.' } },
    handle: async ({ params: { accountId } }, context) => {
      await endSessionsOf(deps.db, changeOf(context, accountId), context.databaseTime);
      return { status: 204 };
    },
  });
}

export function endAccountSessionRoute(deps: AccountRouteDependencies): Route<Access> {
  return administrationRoute(ACCOUNT_PERMISSIONS, {
    docs: { operationId: 'endAccountSession', summary: 'End one session of an account' },
    params: SessionParams,
    responses: { 204: { description: 'Ended, at once and in every process.' } },
    handle: async ({ params: { accountId, sessionId } }, context) => {
      const ending = { ...changeOf(context, accountId), sessionId };
      await endSessionsOf(deps.db, ending, context.databaseTime);
      return { status: 204 };
    },
  });
}
