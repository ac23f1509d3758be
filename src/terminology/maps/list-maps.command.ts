/** `interchange terminology list` */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { listMaps } from './list-maps.ts';
import type { StoredEntry } from './map.schema.ts';
import { type MapOptions, parseLimit, requireMap } from './map-command.ts';

interface Options extends MapOptions {
  search?: string;
  limit: number;
  cursor?: string;
}

export function listMapsCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('list the entries of the terminology maps')
    .requiredOption('--organisation <id>', 'organisation')
    .option('--facility <id>', 'list the entries of this facility too')
    .option('--search <text>', 'text to find in codes and displays; upper and lower case are the same')
    .option('--limit <n>', 'entries at most', parseLimit, 100)
    .option('--cursor <cursor>', 'nextCursor of the previous page')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange terminology list --organisation 7f0c… --search glucose',
    )
    .action(async ({ organisation, facility, ...request }: Options) => {
      const page = await environment.withSession(async (session) => {
        const map = { organisation, ...(facility === undefined ? {} : { facility }) };
        return listMaps(session, await requireMap(session.db, map), request);
      });
      const more = page.nextCursor === null ? [] : [`more: --cursor ${page.nextCursor}`];
      environment.print(page, [...page.items.map(lineOf), ...more].join('\n') || 'No entries.');
    });
}

function lineOf(entry: StoredEntry): string {
  const target =
    entry.targetCode === null ? 'no counterpart' : `${entry.targetCode} ${entry.targetDisplay ?? ''}`;
  const owner = entry.facilityId === null ? '' : ` (facility ${entry.facilityId})`;
  return `${entry.localSystem}|${entry.localCode} → ${entry.targetSystem}|${target.trim()}${owner}`;
}
