/** The calls that finish a sign-in with a code. Contract: SIGN-IN-61, SIGN-IN-63, SIGN-IN-66. */
import type { Route } from '../../platform/http/route.ts';
import { type Access, consoleRoute } from '../../tenancy/callers/access.ts';
import type { ConsoleCookie } from '../console/console-cookie.ts';
import { SessionState } from '../console/session.schema.ts';
import { signInFailures } from '../sign-in-responses.ts';
import { type ProveDependencies, proveRecoveryCode, proveTotp } from './prove-second-factor.ts';
import { CodeBody } from './second-factor.schema.ts';

const WAYS = {
  totp: {
    operationId: 'proveTotp',
    summary: 'Finish a sign-in with a code of the authenticator app',
    prove: proveTotp,
    code: '492039',
  },
  'recovery-code': {
    operationId: 'proveRecoveryCode',
    summary: 'Finish a sign-in with a recovery code',
    prove: proveRecoveryCode,
    code: 'k7mw-2hqp-x9vd-t4cn',
  },
} as const;

export function proveCodeRoute(
  deps: ProveDependencies & { consoleCookie: ConsoleCookie },
  way: keyof typeof WAYS,
): Route<Access> {
  const { operationId, summary, prove, code: example } = WAYS[way];
  return consoleRoute(['second-factor'], {
    docs: {
      operationId,
      summary,
      description:
        'A wrong code counts as a failed sign-in, with the same lock. The answer sets another cookie.',
    },
    body: CodeBody,
    bodyExample: { code: example },
    responses: {
      200: { description: 'Signed in', schema: SessionState, headers: ['set-cookie'] },
      ...signInFailures,
      409: { description: 'The sign-in is finished already.' },
    },
    handle: async ({ body: { code } }, context) => {
      const token = await prove(deps, code, context);
      return { body: { state: 'signed-in' }, headers: { 'set-cookie': deps.consoleCookie.set(token) } };
    },
  });
}
