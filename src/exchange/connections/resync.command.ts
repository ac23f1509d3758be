/** `interchange connection resync`. Contract: EXC-58. */
import { Command } from 'commander';
import { type CommandEnvironment, CommandError } from '../../platform/command/command.ts';
import { progressLine } from '../../platform/command/progress-line.ts';
import { resync } from '../queue/resync.ts';
import { readConnection } from './change-connection.ts';
import { requireConnection } from './named-connection.ts';

export function resyncCommand(environment: CommandEnvironment): Command {
  return new Command('resync')
    .description(
      'queue the patients who were there before the connection, or who changed while the exchange module was off',
    )
    .requiredOption('--id <id>', 'connection')
    .option('--dry-run', 'show how many deliveries would be queued, and queue none')
    .addHelpText('after', '\nExample:\n  npx interchange connection resync --id 7f0c… --dry-run')
    .action(async ({ id, dryRun = false }: { id: string; dryRun?: boolean }) => {
      const progress = progressLine(environment);
      const done = await environment
        .withSession(async (session) => {
          const key = await requireConnection(session, id);
          const { name, enabled } = await readConnection(session.db, key, key.connectionId);
          if (!enabled)
            throw new CommandError(
              `The connection is disabled, so nothing was queued. Enable it first: npx interchange connection enable --id ${key.connectionId}`,
            );
          return resync(session.db, key, {
            name,
            dryRun,
            onProgress: ({ patients, queued }) =>
              progress.show(`${patients} patients looked at, ${queued} queued`),
          });
        })
        .finally(progress.end);
      environment.print(
        { dryRun, ...done },
        `${done.queued} of ${done.patients} patients ${dryRun ? 'would be' : 'were'} queued. The others are as their last delivery says.`,
      );
    });
}
