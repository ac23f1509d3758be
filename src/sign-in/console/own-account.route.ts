/** One's own sessions and one's own password. Contract: SIGN-IN-68, SIGN-IN-69, SIGN-IN-77. */

import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { Instant, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, consoleRoute } from '../../tenancy/callers/access.ts';
import type { ProofDependencies } from '../credentials/prove-identity.ts';
import { signInFailures } from '../sign-in-responses.ts';
import type { ConsoleCookie } from './console-cookie.ts';
import { changeOwnPassword, endOwnSession, readOwnSessions } from './own-account.ts';

interface OwnAccountDependencies extends ProofDependencies {
  consoleCookie: ConsoleCookie;
}

const OwnSession = named(
  'OwnSession',
  Type.Object(
    {
      id: Type.String({ format: 'uuid' }),
      createdAt: Instant(),
      lastUsedAt: Instant(),
      userAgent: NullableText('Of the browser that signed in; null where tokens were asked for.'),
      network: NullableText('Where it signed in from: IPv4 /24, IPv6 /64.'),
      current: Type.Boolean({ description: 'The session of this call.' }),
    },
    {
      examples: [
        {
          id: '3b9d2c1e-5f60-4a7b-8c9d-0e1f2a3b4c5d',
          createdAt: '2026-03-01T08:00:00.000Z',
          lastUsedAt: '2026-03-01T12:00:00.000Z',
          userAgent: 'Mozilla/5.0',
          network: '192.0.2.0/24',
          current: true,
        },
      ],
    },
  ),
);

const OwnSessionList = named(
  'OwnSessionList',
  Type.Object({
    items: Type.Array(OwnSession),
    more: Type.Boolean({
      examples: [false],
      description: 'true: there are older ones, which are not listed.',
    }),
  }),
);

export function listOwnSessionsRoute(deps: OwnAccountDependencies): Route<Access> {
  return consoleRoute(['signed-in'], {
    docs: { operationId: 'listOwnSessions', summary: 'List your own sessions' },
    responses: {
      200: {
        description: 'Live sessions, the one used last first. At most 1,000, those that began last',
        schema: OwnSessionList,
      },
    },
    handle: async (_, context) => ({ body: await readOwnSessions(deps.db, context) }),
  });
}

export function endOwnSessionRoute(deps: OwnAccountDependencies): Route<Access> {
  return consoleRoute(['signed-in'], {
    docs: { operationId: 'endOwnSession', summary: 'End one of your own sessions' },
    params: Type.Object({ sessionId: Type.String({ format: 'uuid' }) }),
    responses: { 204: { description: 'The session has ended', headers: ['set-cookie'] } },
    handle: async ({ params: { sessionId } }, context) => {
      await endOwnSession(deps, sessionId, context);
      const isOwn = sessionId.toLowerCase() === context.caller.sessionId;
      return { status: 204, headers: isOwn ? { 'set-cookie': deps.consoleCookie.clear() } : {} };
    },
  });
}

export function changeOwnPasswordRoute(deps: OwnAccountDependencies): Route<Access> {
  return consoleRoute(['signed-in'], {
    docs: {
      operationId: 'changeOwnPassword',
      summary: 'Change your own password',
      description:
        'The old password is checked as at a sign-in, with the same lock. The other sessions of the account end, and this one goes on with another cookie.',
    },
    body: named(
      'OwnPasswordChange',
      Type.Object({
        password: Type.String({ minLength: 1, maxLength: 1_024 }),
        newPassword: Type.String({ minLength: 1, maxLength: 1_024, description: 'at least 12 characters' }),
      }),
    ),
    bodyExample: { password: 'the password', newPassword: 'a longer new password' },
    responses: {
      204: { description: 'The password is changed', headers: ['set-cookie'] },
      ...signInFailures,
    },
    handle: async ({ body }, context) => {
      const token = await changeOwnPassword(deps, body, context);
      return { status: 204, headers: { 'set-cookie': deps.consoleCookie.set(token) } };
    },
  });
}
