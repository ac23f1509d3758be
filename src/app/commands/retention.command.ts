/** `interchange retention run`. Contract: OPS-23. */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { createWorkWatch, SOME_REFUSED } from '../../tenancy/organisations/organisation-work.ts';
import { runRetention } from '../../tenancy/organisations/retention.ts';
import { loadConfig } from '../config/config.ts';
import { retentionRules } from './retention.ts';

export function runRetentionCommand(environment: CommandEnvironment): Command {
  return new Command('run')
    .description(
      'remove old deliveries, publishes, imports and unmapped codes now, as the worker does over time',
    )
    .option('--dry-run', 'show how much would be removed, and remove nothing')
    .addHelpText(
      'after',
      '\nHow long things are kept: DELIVERY_PAYLOAD_DAYS, DELIVERY_HISTORY_DAYS, UNMAPPED_CODE_DAYS, PUBLISH_HISTORY_DAYS, IMPORT_HISTORY_DAYS.' +
        '\n\nExample:\n  npx interchange retention run --dry-run',
    )
    .action(async ({ dryRun = false }: { dryRun?: boolean }) => {
      const rules = retentionRules(loadConfig(environment.env));
      const watch = createWorkWatch();
      const work = watch.of('retention');
      const removed = await environment.withSession(({ db }) =>
        runRetention({ db, work }, rules, { dryRun }),
      );
      const failed = watch.failing().get(work.name) ?? [];
      const items = rules.map(({ name, days }) => ({ name, keptDays: days, removed: removed[name] ?? 0 }));
      const lines = items.map(({ name, keptDays, removed: count }) => {
        return `${String(count).padStart(9)}  ${name}, kept for ${timeText(keptDays)}`;
      });
      lines.push(
        ...failed.map(
          (organisationId) =>
            `Nothing more was ${dryRun ? 'counted' : 'removed'} of organisation ${organisationId}: the database refused. Its log says why. Run the command again.`,
        ),
      );
      environment.print(
        { dryRun, items, failed },
        [dryRun ? 'Would be removed:' : 'Removed:', ...lines].join('\n'),
      );
      if (failed.length > 0) environment.fail(SOME_REFUSED);
    });
}

function timeText(days: number): string {
  if (days === 0) return 'ever';
  return days === 1 ? '1 day' : `${days} days`;
}
