/** `interchange account remove-second-factor`. Contract: SIGN-IN-71. */
import type { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { accountCommand, type OfAccount } from '../accounts/account-command.ts';
import { operatorOn } from '../administration/managed-account.ts';
import { removeSecondFactorsOf } from './remove-factor.ts';

export function removeSecondFactorCommand(
  environment: Pick<CommandEnvironment, 'withSession' | 'print'>,
): Command {
  return accountCommand(
    'remove-second-factor',
    'remove every second factor of a person who lost them; ends the sessions of the account',
    '--email ada@example.org',
  ).action(async (options: OfAccount) => {
    const entry = await environment.withSession(({ db }) =>
      removeSecondFactorsOf(db, operatorOn(options.email), null),
    );
    const { userId, email } = entry;
    environment.print({ userId, email }, `${email} has no second factor any more. Its sessions have ended.`);
  });
}
