/** `interchange access-log archive` */
import { resolve } from 'node:path';
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { progressLine } from '../../platform/command/progress-line.ts';
import { shellWord } from '../../platform/command/shell-word.ts';
import { withPool } from '../../platform/db/database.ts';
import { allChainKeys } from '../access-log/access-log-keys.ts';
import { type ArchivedMonth, archiveAccessLog } from './archive-access-log.ts';

interface Options {
  before: string;
  out: string;
  keepDetached?: boolean;
  dryRun?: boolean;
}

export function archiveAccessLogCommand(environment: CommandEnvironment): Command {
  return new Command('archive')
    .description('write old months of the access log to files, and remove them from the database')
    .requiredOption(
      '--before <month>',
      'archive the months before this one (YYYY-MM, UTC); the last two months always stay',
    )
    .requiredOption('--out <folder>', 'folder for the files; it is created if it does not exist')
    .option('--keep-detached', 'keep each month in the database, as a table outside the log')
    .option('--dry-run', 'show which months would be archived, and change nothing')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange access-log archive --before 2026-01 --out /srv/access-log --dry-run\n  npx interchange access-log archive --before 2026-01 --out /srv/access-log\n  npx interchange access-log verify --archive /srv/access-log',
    )
    .action(async ({ before, out, keepDetached = false, dryRun = false }: Options) => {
      const folder = resolve(out);
      const progress = progressLine(environment);
      const onProgress = (month: string, entries: number) => {
        if (entries % 1_000 === 0) progress.show(`${month}: ${entries} entries written`);
      };
      const request = { before, folder, dryRun, keepDetached, onProgress };
      const archiving = environment.withSession(({ adminUrl, keys }) =>
        withPool({ url: adminUrl, max: 3, applicationName: 'interchange archive' }, (owner) =>
          archiveAccessLog(owner, (on) => allChainKeys(keys, on), request),
        ),
      );
      const months = await archiving.finally(progress.end);
      environment.print({ dryRun, folder, months }, textOf(months, { dryRun, folder, keepDetached }));
    });
}

function textOf(
  months: readonly ArchivedMonth[],
  { dryRun, folder, keepDetached }: { dryRun: boolean; folder: string; keepDetached: boolean },
): string {
  if (months.length === 0) return 'The access log has no month that is old enough.';
  if (dryRun)
    return months.map(({ month, entries }) => `${month}  ${entries} entries would be archived`).join('\n');
  const lines = months.map(({ month, entries, file }) => `${month}  ${entries} entries in ${file}`);
  const where = keepDetached ? 'out of the log, and kept as tables outside it' : 'out of the database';
  return [
    ...lines,
    `They are ${where}. Copy ${folder} to a safe place. Check it with: npx interchange access-log verify --archive ${shellWord(folder)}`,
  ].join('\n');
}
