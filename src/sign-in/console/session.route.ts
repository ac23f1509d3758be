/** POST, GET and DELETE /session at the console. Contract: SIGN-IN-50, SIGN-IN-51, SIGN-IN-59, SIGN-IN-60, SIGN-IN-74. */

import type { Pool } from '../../platform/db/database.ts';
import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, consoleRoute, openRoute } from '../../tenancy/callers/access.ts';
import { CONSOLE_STAGES } from '../../tenancy/callers/caller.ts';
import { EMAIL_MAX_LENGTH } from '../accounts/email.ts';
import type { Audit } from '../audit.ts';
import { logout } from '../sessions/logout.ts';
import { signInFailures } from '../sign-in-responses.ts';
import type { ConsoleCookie } from './console-cookie.ts';
import { type ReadSessionDependencies, readSession } from './read-session.ts';
import { ConsoleSessionSchema, SessionState } from './session.schema.ts';
import { type StartSessionDependencies, startSession } from './start-session.ts';

const StartBody = named(
  'ConsoleSignIn',
  Type.Object({
    email: Type.String({ minLength: 1, maxLength: EMAIL_MAX_LENGTH }),
    password: Type.String({ minLength: 1, maxLength: 1_024 }),
  }),
);

interface WithCookie {
  consoleCookie: ConsoleCookie;
}

export function startSessionRoute(deps: StartSessionDependencies & WithCookie): Route<Access> {
  return openRoute({
    docs: {
      operationId: 'startConsoleSession',
      summary: 'Sign in at the console',
      description:
        'Only accounts of people (`STAFF`) sign in here. The answer sets the cookie of the session. Until the state is `signed-in`, the cookie opens only the calls that finish the sign-in. If the request has the cookie of an earlier session, that session ends.',
      tag: 'Console',
    },
    body: StartBody,
    bodyExample: { email: 'ada@example.org', password: 'the password' },
    responses: {
      200: { description: 'A session, and how far it is', schema: SessionState, headers: ['set-cookie'] },
      ...signInFailures,
    },
    handle: async ({ body }, context) => {
      const cookie = deps.consoleCookie.read(context.headers);
      const userAgent = String(context.headers['user-agent'] ?? '');
      const { token, ...state } = await startSession(deps, { ...body, cookie }, { ...context, userAgent });
      return { body: state, headers: { 'set-cookie': deps.consoleCookie.set(token) } };
    },
  });
}

export function readSessionRoute(deps: ReadSessionDependencies): Route<Access> {
  return consoleRoute(CONSOLE_STAGES, {
    docs: {
      operationId: 'readConsoleSession',
      summary: 'Read who is signed in at the console',
      description: 'Before the sign-in is finished the answer has `state` and `methods` alone.',
    },
    responses: { 200: { description: 'The session', schema: ConsoleSessionSchema } },
    handle: async (_, { caller, identity }) => ({
      body: await readSession(deps, { caller, stage: identity.stage }),
    }),
  });
}

export function endSessionRoute(deps: { db: Pool; audit: Audit } & WithCookie): Route<Access> {
  return consoleRoute(CONSOLE_STAGES, {
    docs: {
      operationId: 'endConsoleSession',
      summary: 'Sign out at the console',
    },
    responses: { 204: { description: 'The session has ended', headers: ['set-cookie'] } },
    handle: async (_, { caller, ...context }) => {
      await logout(deps, caller, context);
      return { status: 204, headers: { 'set-cookie': deps.consoleCookie.clear() } };
    },
  });
}
