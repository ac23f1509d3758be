/** What commands of one account have in common. */
import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { createLog } from '../../platform/log/log.ts';
import { createAudit, type SignInEvent } from '../audit.ts';
import type { DirectoryEntry } from './account.store.ts';

export interface OfAccount {
  email: string;
}

/** A command of one account, which its address names. `example`: its options in the example of its help. */
export function accountCommand(
  name: string,
  description: string,
  example = '--email ris@example.org',
): Command {
  return new Command(name)
    .description(description)
    .requiredOption('--email <email>', 'address of the account')
    .addHelpText('after', `\nExample:\n  npx interchange account ${name} ${example}`);
}

/** Write the line to stderr that the service has in its log: a command has none. */
export function auditOfOperator(
  { stderr }: Pick<CommandEnvironment, 'stderr'>,
  event: SignInEvent,
  { userId: accountId, organisationId }: DirectoryEntry,
): void {
  createAudit(createLog('info', stderr))(event, { correlationId: randomUUID(), accountId, organisationId });
}
