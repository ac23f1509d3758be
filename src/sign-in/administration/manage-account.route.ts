/** /accounts/<id>/…: administrators disable, enable, unlock and reset accounts. Contract: ADM-7. */
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import type { Route } from '../../platform/http/route.ts';
import { type Access, administrationRoute } from '../../tenancy/callers/access.ts';
import { disableAccount, enableAccount, resetPassword, unlockAccount } from '../accounts/manage-accounts.ts';
import { removeSecondFactorsOf } from '../second-factor/remove-factor.ts';
import {
  AccountParams,
  AccountSchema,
  accountView,
  IssuedAccountSchema,
  PasswordResetBody,
} from './account.schema.ts';
import { ACCOUNT_PERMISSIONS, type AccountRouteDependencies, changeOf } from './accounts.route.ts';
import { readSeenAccount } from './list-accounts.ts';
import type { AccountChange } from './managed-account.ts';

interface Step {
  operationId: string;
  summary: string;
  description?: string;
  run(deps: AccountRouteDependencies, change: AccountChange, databaseTime: DatabaseTime): Promise<unknown>;
}

const STEPS = {
  disable: {
    operationId: 'disableAccount',
    summary: 'Disable an account',
    description: 'Its sessions end, and its sign-ins are refused, at once and in every process.',
    run: ({ db }, change, databaseTime) => disableAccount(db, change, databaseTime),
  },
  enable: {
    operationId: 'enableAccount',
    summary: 'Let a disabled account sign in again',
    run: ({ db }, change, databaseTime) => enableAccount(db, change, databaseTime),
  },
  unlock: {
    operationId: 'unlockAccount',
    summary: 'Remove the locks that failed sign-ins caused',
    run: (deps, change, databaseTime) => unlockAccount(deps, change, databaseTime),
  },
  'remove-second-factor': {
    operationId: 'removeSecondFactor',
    summary: 'Remove the second factors of a person who lost them',
    description:
      'Its sessions end. At the next sign-in the person adds a new one where the role requires it.',
    run: ({ db }, change, databaseTime) => removeSecondFactorsOf(db, change, databaseTime),
  },
} as const satisfies Record<string, Step>;

/** What takes no body and answers with the account. */
export function stepRoute(deps: AccountRouteDependencies, name: keyof typeof STEPS): Route<Access> {
  const { run, ...docs }: Step = STEPS[name];
  return administrationRoute(ACCOUNT_PERMISSIONS, {
    docs,
    params: AccountParams,
    responses: {
      200: { description: 'The account as it is now.', schema: AccountSchema },
      409: { description: 'It is your own account, or the last one that administers the organisation.' },
    },
    handle: async ({ params: { accountId } }, context) => {
      await run(deps, changeOf(context, accountId), context.databaseTime);
      return { body: accountView(await readSeenAccount(deps, context, accountId)) };
    },
  });
}

export function resetPasswordRoute(deps: AccountRouteDependencies): Route<Access> {
  return administrationRoute(ACCOUNT_PERMISSIONS, {
    docs: {
      operationId: 'resetPassword',
      summary: 'Give an account a new password, or a setup link',
      description: 'This ends its sessions, earlier setup links and locks.',
    },
    params: AccountParams,
    body: PasswordResetBody,
    bodyExample: { password: 'generated', mustChangePassword: true },
    responses: {
      200: { description: 'How it signs in from now on.', schema: IssuedAccountSchema },
      409: { description: 'It is your own account, or the last one that administers the organisation.' },
    },
    handle: async ({ params, body }, context) => {
      const { password: kind = 'generated', mustChangePassword = false } = body;
      // Before a password is hashed: the time that it takes would tell that there is an account.
      await readSeenAccount(deps, context, params.accountId);
      const reset = { ...changeOf(context, params.accountId), password: { kind }, mustChangePassword };
      return { body: await resetPassword(deps, reset, context.databaseTime) };
    },
  });
}
