/** `interchange key rotate | list`: the keys that sign access tokens. */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { rotateSigningKey } from './rotate-signing-key.ts';
import { readSigningKeys } from './signing-key.store.ts';

/** The commands of `interchange key`, in the order of its help. */
export const KEY_COMMANDS = [rotateKeyCommand, listKeysCommand];

export function rotateKeyCommand(environment: CommandEnvironment): Command {
  return new Command('rotate')
    .description('create a new key for access tokens; tokens signed so far stay valid until they expire')
    .option(
      '--revoke-others',
      'refuse every access token signed so far, within 30 seconds; use it when a key leaked',
    )
    .addHelpText('after', '\nExample:\n  npx interchange key rotate')
    .action(async ({ revokeOthers = false }: { revokeOthers?: boolean }) => {
      const key = await environment.withSession((session) =>
        rotateSigningKey(session, null, { revokeOthers }),
      );
      environment.print(key, `${key.kid} signs from ${key.signsFrom.toISOString()}`);
    });
}

export function listKeysCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('list the keys of access tokens, newest first')
    .addHelpText('after', '\nExample:\n  npx interchange key list --json')
    .action(async () => {
      const keys = await environment.withSession(({ db }) => readSigningKeys(db));
      const items = keys.map(({ kid, createdAt, signsFrom, retiredAt }) => ({
        kid,
        createdAt,
        signsFrom,
        retiredAt,
      }));
      const lines = items.map(
        ({ kid, signsFrom, retiredAt }) =>
          `${kid}  signs from ${signsFrom.toISOString()}${retiredAt === null ? '' : ` to ${retiredAt.toISOString()}`}`,
      );
      environment.print(
        { items },
        lines.length === 0 ? 'There is no key yet. The first sign-in creates one.' : lines.join('\n'),
      );
    });
}
