/** `interchange account unlock`. Contract: SIGN-IN-17. */
import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { createLog } from '../../platform/log/log.ts';
import { operatorOn } from '../administration/managed-account.ts';
import { createAudit } from '../audit.ts';
import { networkOfRange } from '../lockout/network.ts';
import { unlockAccount } from './manage-accounts.ts';

export function unlockAccountCommand(
  environment: Pick<CommandEnvironment, 'withSession' | 'print' | 'stderr'>,
): Command {
  return new Command('unlock')
    .description('remove the locks that failed sign-ins caused; sessions and password stay')
    .requiredOption('--email <email>', 'address of the account')
    .option(
      '--network <address>',
      'address that the account signs in from, or its range (IPv4 /24, IPv6 /64, or narrower); failures from other addresses then no longer lock the account there',
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange account unlock --email ris@example.org --network 192.0.2.17',
    )
    .action(async (options: { email: string; network?: string }) => {
      const network = checkedNetwork(options.network);
      const { userId, email, organisationId } = await environment.withSession(async (session) =>
        unlockAccount(session, { ...operatorOn(options.email), network }, await readDatabaseTime(session.db)),
      );
      // The command has no log of its own.
      const audit = createAudit(createLog('info', environment.stderr));
      audit('sign-in.unlocked', { correlationId: randomUUID(), accountId: userId, organisationId });
      const result = { userId, email, ...(network === undefined ? {} : { network }) };
      environment.print(result, textOf(result));
    });
}

function textOf({ email, network }: { email: string; network?: string }): string {
  const lifted = `The locks of ${email} are removed.`;
  return network === undefined
    ? lifted
    : `${lifted} Failures from other addresses no longer lock it for ${network}.`;
}

function checkedNetwork(text: string | undefined): string | undefined {
  const network = text === undefined ? undefined : networkOfRange(text);
  if (text !== undefined && network === undefined)
    throw new UsageError(
      '--network must be an address, or a range of it: IPv4 /24 or narrower, IPv6 /64 or narrower. For a wider range, run the command once for each network. Example: --network 192.0.2.0/24',
    );
  return network;
}
