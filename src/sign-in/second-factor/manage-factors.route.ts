/** Authenticator app and recovery codes of one's own account. Contract: SIGN-IN-61, SIGN-IN-63, SIGN-IN-67. */
import type { Route } from '../../platform/http/route.ts';
import { type Access, consoleRoute } from '../../tenancy/callers/access.ts';
import type { ConsoleStage } from '../../tenancy/callers/caller.ts';
import type { ConsoleCookie } from '../console/console-cookie.ts';
import { signInFailures } from '../sign-in-responses.ts';
import type { FactorDependencies } from './add-factor.ts';
import { beginTotp, confirmTotp, removeTotp, renewRecoveryCodes } from './manage-factors.ts';
import {
  CodeBody,
  ConfirmedFactor,
  NewTotp,
  PASSWORD_EXAMPLE,
  PasswordBody,
  RecoveryCodes,
} from './second-factor.schema.ts';

/** Adding a factor is what a role may ask for before anything else. */
export const ADDING: readonly ConsoleStage[] = ['signed-in', 'enrol-second-factor'];

export function beginTotpRoute(deps: FactorDependencies): Route<Access> {
  return consoleRoute(ADDING, {
    docs: {
      operationId: 'beginTotp',
      summary: 'Begin to add an authenticator app',
      description: 'The secret counts once a code of it is confirmed, within ten minutes.',
    },
    body: PasswordBody,
    bodyExample: PASSWORD_EXAMPLE,
    responses: {
      200: { description: 'A secret for the app', schema: NewTotp },
      ...signInFailures,
      409: { description: 'There is an authenticator app already.' },
    },
    handle: async ({ body: { password } }, context) => ({
      body: await beginTotp(deps, password, context),
    }),
  });
}

export function confirmTotpRoute(deps: FactorDependencies & { consoleCookie: ConsoleCookie }): Route<Access> {
  return consoleRoute(ADDING, {
    docs: {
      operationId: 'confirmTotp',
      summary: 'Confirm a new authenticator app with a code of it',
      description:
        'If this is the first second factor of the account, its other sessions end. The answer sets another cookie.',
    },
    body: CodeBody,
    bodyExample: { code: '492039' },
    responses: {
      200: { description: 'The app is added', schema: ConfirmedFactor, headers: ['set-cookie'] },
      403: { description: 'The code is wrong.' },
      409: { description: 'There is nothing to confirm, or there is an authenticator app already.' },
    },
    handle: async ({ body: { code } }, context) => {
      const { token, ...added } = await confirmTotp(deps, code, context);
      return { body: added, headers: { 'set-cookie': deps.consoleCookie.set(token) } };
    },
  });
}

export function removeTotpRoute(deps: FactorDependencies): Route<Access> {
  return consoleRoute(['signed-in'], {
    docs: {
      operationId: 'removeTotp',
      summary: 'Remove the authenticator app',
      description: 'If it was the last second factor, the recovery codes are removed too.',
    },
    body: PasswordBody,
    bodyExample: PASSWORD_EXAMPLE,
    responses: { 204: { description: 'The app is removed' }, ...signInFailures },
    handle: async ({ body: { password } }, context) => {
      await removeTotp(deps, password, context);
      return { status: 204 };
    },
  });
}

export function renewRecoveryCodesRoute(deps: FactorDependencies): Route<Access> {
  return consoleRoute(['signed-in'], {
    docs: {
      operationId: 'renewRecoveryCodes',
      summary: 'Make new recovery codes',
      description: 'The earlier codes work no longer.',
    },
    body: PasswordBody,
    bodyExample: PASSWORD_EXAMPLE,
    responses: {
      200: { description: 'Ten codes, shown once', schema: RecoveryCodes },
      ...signInFailures,
      409: { description: 'There is no second factor that they would stand in for.' },
    },
    handle: async ({ body: { password } }, context) => ({
      body: { recoveryCodes: await renewRecoveryCodes(deps, password, context) },
    }),
  });
}
