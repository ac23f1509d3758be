/** `interchange account set-email | set-role | set-facilities | sessions | end-sessions`. Contract: ADM-19. */
import type { Command } from 'commander';
import { type CommandEnvironment, CommandError } from '../../platform/command/command.ts';
import { splitList } from '../../platform/command/split-list.ts';
import { DomainError } from '../../platform/domain-error.ts';
import { changeText } from '../../tenancy/administration/change-text.ts';
import { accountCommand, type OfAccount } from '../accounts/account-command.ts';
import { checkedEmail } from '../accounts/create-account.ts';
import { endSessionsOf, listSessionsForOperator } from './account-sessions.ts';
import { type AccountChanges, changeAccount } from './change-account.ts';
import { operatorOn } from './managed-account.ts';

async function change(
  environment: CommandEnvironment,
  { email }: OfAccount,
  changes: AccountChanges,
  also?: string,
): Promise<void> {
  const { changed, ...account } = await environment.withSession(({ db }) =>
    changeAccount(db, { ...operatorOn(email), changes }),
  );
  const text = changeText(account.email, changed);
  environment.print(account, changed && also !== undefined ? `${text}\n${also}` : text);
}

export function setEmailCommand(environment: CommandEnvironment): Command {
  return accountCommand(
    'set-email',
    'change the address of an account; this ends its setup links',
    '--email ris@example.org --to lab@example.org',
  )
    .requiredOption('--to <email>', 'the new address')
    .action(async ({ to, ...account }: OfAccount & { to: string }) => {
      checkedEmail(to, 'to');
      await change(
        environment,
        account,
        { email: to },
        `Setup links that were made before do not work any more. To make another: npx interchange account reset-password --email ${to} --setup-link`,
      );
    });
}

export function setRoleCommand(environment: CommandEnvironment): Command {
  return accountCommand('set-role', 'give an account another role', '--email ris@example.org --role reader')
    .requiredOption('--role <name>', 'role of its organisation')
    .action(({ role, ...account }: OfAccount & { role: string }) =>
      change(environment, account, { role: { name: role } }),
    );
}

export function setFacilitiesCommand(environment: CommandEnvironment): Command {
  return accountCommand(
    'set-facilities',
    'set all facilities that an account may use',
    '--email ris@example.org --facility 91d2…',
  )
    .requiredOption(
      '--facility <ids>',
      'facilities, separated by commas; the first is the default',
      splitList,
    )
    .action(({ facility, ...account }: OfAccount & { facility: string[] }) =>
      change(environment, account, { facilityIds: facility }),
    );
}

export function listSessionsCommand(environment: CommandEnvironment): Command {
  return accountCommand('sessions', 'list the live sessions of an account, newest first').action(
    async ({ email }: OfAccount) => {
      const items = await environment.withSession(({ db }) => listSessionsForOperator(db, { email }));
      const lines = items.map(
        ({ id, createdAt, lastUsedAt, network, userAgent }) =>
          `${id}  since ${createdAt.toISOString()}  used ${lastUsedAt.toISOString()}  ${network ?? 'tokens'}  ${userAgent ?? ''}`,
      );
      environment.print({ items }, lines.map((line) => line.trimEnd()).join('\n') || 'none');
    },
  );
}

export function endSessionsCommand(environment: CommandEnvironment): Command {
  return accountCommand('end-sessions', 'end all sessions of an account, or one, at once')
    .option('--session <id>', 'end this session only')
    .action(async ({ email, session }: OfAccount & { session?: string }) => {
      const ending = { ...operatorOn(email), sessionId: session };
      const ended = await environment
        .withSession(({ db }) => endSessionsOf(db, ending, null))
        .catch((error: unknown) => unknownSession(error, email));
      environment.print({ ended }, `${ended} ended`);
    });
}

/** What a caller over HTTP is told of ids and headers is of no use here. */
function unknownSession(error: unknown, email: string): never {
  if (error instanceof DomainError && error.code === 'not_found')
    throw new CommandError(
      `${email} has no session with this id. List its sessions with: npx interchange account sessions --email ${email}`,
    );
  throw error;
}
