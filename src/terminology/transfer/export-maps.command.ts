/** `interchange terminology export` */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'commander';
import { type CommandEnvironment, CommandError, UsageError } from '../../platform/command/command.ts';
import { outageOf } from '../../platform/db/unavailable.ts';
import { type MapOptions, requireMap } from '../maps/map-command.ts';
import { EXPORT_FORMATS, type ExportFormat, exportMaps } from './export-maps.ts';

interface Options extends MapOptions {
  format: ExportFormat;
  output?: string;
}

export function exportMapsCommand(environment: CommandEnvironment): Command {
  return new Command('export')
    .description('write a terminology map to a file that the import can read')
    .requiredOption('--organisation <id>', 'organisation')
    .option('--facility <id>', 'export the map of this facility instead of the map of the organisation')
    .addOption(
      new Option('--format <format>', 'file format').choices(Object.keys(EXPORT_FORMATS)).default('csv'),
    )
    .option('--output <file>', 'file to write; one that exists is replaced (default: standard output)')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange terminology export --organisation 7f0c… --format conceptmap --output map.json',
    )
    .action(async (options: Options) => {
      if (environment.json && options.output === undefined)
        throw new UsageError('With --json, name the file to write: --output map.csv');
      await environment.withSession(async ({ db }) => {
        const scope = await requireMap(db, options);
        const text = Readable.from(await exportMaps(db, scope, options.format), { objectMode: false });
        const { output } = options;
        if (output === undefined) await pipeline(text, environment.stdout, { end: false });
        else await pipeline(text, createWriteStream(output)).catch((error) => refuseOutput(error, output));
      });
      environment.print({ format: options.format, output: options.output ?? null }, '');
    });
}

/** Throws on what the database failed with. */
function refuseOutput(error: NodeJS.ErrnoException, file: string): never {
  if (error.syscall === undefined || outageOf(error) !== undefined) throw error;
  throw new CommandError(
    `The file ${file} cannot be written (${error.code}). Check the path, or name another file with --output.`,
    { cause: error },
  );
}
