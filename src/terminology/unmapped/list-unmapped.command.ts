/** `interchange terminology unmapped` */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { type MapOptions, parseLimit, requireMap } from '../maps/map-command.ts';
import { listUnmappedCodes } from './list-unmapped.ts';

interface Options extends MapOptions {
  limit: number;
  cursor?: string;
}

export function listUnmappedCommand(environment: CommandEnvironment): Command {
  return new Command('unmapped')
    .description(
      'list local codes without a standard code that an import or a fetch met, most frequent first',
    )
    .requiredOption('--organisation <id>', 'organisation')
    .option('--facility <id>', 'only of this facility')
    .option('--limit <n>', 'codes at most', parseLimit, 100)
    .option('--cursor <cursor>', 'nextCursor of the previous page')
    .addHelpText('after', '\nExample:\n  npx interchange terminology unmapped --organisation 7f0c…')
    .action(async ({ limit, cursor, ...options }: Options) => {
      const page = await environment.withSession(async (session) => {
        const scope = await requireMap(session.db, options);
        return listUnmappedCodes(session, scope, { facilityId: scope.facilityId, limit, cursor });
      });
      const facilities = new Set(page.items.map(({ facilityId }) => facilityId));
      const lines = page.items.map(({ count, localSystem, localCode, localDisplay, places, facilityId }) => {
        const where = places.map((place) => `${place.place} ${place.count}`).join(', ');
        const facility = facilities.size > 1 ? ` at facility ${facilityId}` : '';
        return `${count}  ${localSystem}|${localCode} ${localDisplay ?? ''} (${where})${facility}`;
      });
      if (page.nextCursor !== null) lines.push(`more: --cursor ${page.nextCursor}`);
      environment.print(page, lines.join('\n') || 'No unmapped codes.');
    });
}
