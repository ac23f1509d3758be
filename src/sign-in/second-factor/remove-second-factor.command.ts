/** `interchange account remove-second-factor`. Contract: SIGN-IN-71. */
import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { createLog } from '../../platform/log/log.ts';
import { operatorOn } from '../administration/managed-account.ts';
import { createAudit } from '../audit.ts';
import { removeSecondFactorsOf } from './remove-factor.ts';

export function removeSecondFactorCommand(
  environment: Pick<CommandEnvironment, 'withSession' | 'print' | 'stderr'>,
): Command {
  return new Command('remove-second-factor')
    .description('remove every second factor of a person who lost them; ends the sessions of the account')
    .requiredOption('--email <email>', 'address of the account')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange account remove-second-factor --email ada@example.org',
    )
    .action(async (options: { email: string }) => {
      const { userId, email, organisationId } = await environment.withSession(async ({ db }) =>
        removeSecondFactorsOf(db, operatorOn(options.email), await readDatabaseTime(db)),
      );
      // The command has no log of its own.
      const audit = createAudit(createLog('info', environment.stderr));
      audit('sign-in.second-factor-removed', {
        correlationId: randomUUID(),
        accountId: userId,
        organisationId,
      });
      environment.print(
        { userId, email },
        `${email} has no second factor any more. Its sessions have ended.`,
      );
    });
}
