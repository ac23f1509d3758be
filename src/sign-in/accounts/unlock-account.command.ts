/** `interchange account unlock`. Contract: SIGN-IN-17. */
import type { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { operatorOn } from '../administration/managed-account.ts';
import { networkOfRange } from '../lockout/network.ts';
import { accountCommand, type OfAccount } from './account-command.ts';
import { unlockAccount } from './manage-accounts.ts';

export function unlockAccountCommand(
  environment: Pick<CommandEnvironment, 'withSession' | 'print'>,
): Command {
  return accountCommand(
    'unlock',
    'remove the locks that failed sign-ins caused; sessions and password stay',
    '--email ris@example.org --network 192.0.2.17',
  )
    .option(
      '--network <address>',
      'address that the account signs in from, or its range (IPv4 /24, IPv6 /64, or narrower); failures from other addresses then no longer lock the account there',
    )
    .action(async (options: OfAccount & { network?: string }) => {
      const network = checkedNetwork(options.network);
      const entry = await environment.withSession((session) =>
        unlockAccount(session, { ...operatorOn(options.email), network }, null),
      );
      const { userId, email } = entry;
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
