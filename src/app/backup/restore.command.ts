/** `interchange restore`. See docs/backup.md. */
import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { createPool } from '../../platform/db/database.ts';
import { type Mark, markRestored } from './mark-restored.ts';

interface Options {
  mark?: boolean;
  dryRun?: boolean;
}

export function restoreCommand(environment: CommandEnvironment): Command {
  return new Command('restore')
    .description('put the database back, or mark one that other tools put back')
    .option(
      '--mark',
      'the database was put back by other tools: number new deliveries higher, and note it in the access log',
    )
    .option('--dry-run', 'show what would be done, and do nothing')
    .addHelpText(
      'after',
      `
Stop the service first. See docs/backup.md.

Example:
  npx interchange restore --mark`,
    )
    .action(async ({ mark, dryRun = false }: Options) => {
      if (mark !== true) throw new UsageError('Give --mark.');
      await markOnly(environment, dryRun);
    });
}

async function markOnly(environment: CommandEnvironment, dryRun: boolean): Promise<void> {
  const done = await environment.withSession(async ({ adminUrl, keys }) => {
    const owner = createPool(
      { url: adminUrl, max: 1, applicationName: 'interchange restore' },
      () => undefined,
    );
    try {
      return await markRestored(owner, keys, { backupTakenAt: null, dryRun });
    } finally {
      await owner.end();
    }
  });
  environment.print({ dryRun, ...done }, markText(done, dryRun));
}

function markText({ sequenceFloor, renumbered }: Mark, dryRun: boolean): string {
  const [queued, noted] = dryRun ? ['would be', 'would note'] : ['are', 'notes'];
  return [
    `New deliveries ${queued} numbered above ${sequenceFloor}; ${renumbered} that wait ${queued} among them.`,
    `The access log ${noted} that the database was put back now.`,
  ].join('\n');
}
