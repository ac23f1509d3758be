/** `interchange terminology import`. Contract: TERM-10, TERM-23, CMD-11. */
import { open } from 'node:fs/promises';
import { Command } from 'commander';
import { type CommandEnvironment, CommandError } from '../../platform/command/command.ts';
import { OPERATOR } from '../../tenancy/administration/author.ts';
import { type MapOptions, requireMap } from '../maps/map-command.ts';
import { CSV_COLUMNS, FIELDS, parseColumns } from './csv-header.ts';
import { importMaps, type MapImportReport } from './import-maps.ts';
import { placeText } from './import-row.ts';
import type { PreviewedChange } from './preview-changes.ts';
import { detectFormat, readMapFile } from './read-map-file.ts';

interface Options extends MapOptions {
  columns?: string;
  localSystem?: string;
  targetSystem?: string;
  dryRun?: boolean;
}

const HELP = `
The file is a FHIR R4 ConceptMap, or CSV (UTF-8, commas) with the header
  ${CSV_COLUMNS.slice(0, 6).join(',')}
and, if wanted, ${CSV_COLUMNS.slice(6).join(' and ')}. Faulty entries are left out and reported one by one; the
others are kept. Importing the same file again changes nothing. Exit code 1 when the file cannot be read, or when
no entry of it can be taken.

Examples:
  npx interchange terminology import --organisation 7f0c… lab-codes.csv
  npx interchange terminology import --organisation 7f0c… --local-system http://hospital.example/lab \\
    --target-system http://loinc.org --columns local_code=itemid,local_display=label,target_code=loinc items.csv`;

export function importMapsCommand(environment: CommandEnvironment): Command {
  return new Command('import')
    .description(
      'import a terminology map from CSV or a FHIR ConceptMap; prints every entry that it leaves out',
    )
    .argument('<file>', 'CSV or FHIR ConceptMap; - reads standard input')
    .requiredOption('--organisation <id>', 'organisation')
    .option(
      '--facility <id>',
      'import into the map of this facility, whose entries win over those of the organisation',
    )
    .option(
      '--columns <list>',
      'names of the columns of a CSV file with another header, such as local_code=itemid,…',
      (text: string, before?: string) => (before === undefined ? text : `${before},${text}`),
    )
    .option('--local-system <uri>', 'local system of every entry, if the file has none')
    .option('--target-system <uri>', 'standard system of every entry, if the file has none')
    .option(
      '--dry-run',
      'show what would be added and changed, with the old and new values, and keep nothing',
    )
    .addHelpText('after', HELP)
    .action(async (file: string, options: Options) => {
      const columns = options.columns === undefined ? new Map() : parseColumns(options.columns);
      const ignored = new Map<string, number>();
      const report = await environment.withSession(async ({ db }) => {
        const scope = await requireMap(db, options);
        const { format, source } = await detectFormat(await openMapFile(environment, file));
        const { localSystem, targetSystem, dryRun = false } = options;
        const rows = readMapFile(source, format, { columns, localSystem, targetSystem, ignored });
        return importMaps(db, scope, { rows, change: { now: environment.now(), author: OPERATOR }, dryRun });
      });
      const document = { ...report, ignored: Object.fromEntries(ignored) };
      environment.print(
        options.dryRun === true ? { dryRun: true, ...document } : document,
        reportText(report, ignored, options.dryRun === true),
      );
      if (report.read > 0 && report.rejectedCount === report.read)
        environment.fail('No entry of the file was taken. The output says why.');
    });
}

async function openMapFile(environment: CommandEnvironment, file: string) {
  if (file === '-') return environment.stdin;
  try {
    const handle = await open(file);
    if (!(await handle.stat()).isDirectory()) return handle.createReadStream();
    await handle.close();
  } catch (error) {
    throw new CommandError(unreadable(file, (error as NodeJS.ErrnoException).code), { cause: error });
  }
  throw new CommandError(`${file} is a folder. Give one file.`);
}

function unreadable(file: string, code: string | undefined): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return `There is no file ${file}. Check the path.`;
  if (code === 'EACCES' || code === 'EPERM') return `This user may not read the file ${file}.`;
  return `The file ${file} cannot be read (${code ?? 'unknown error'}).`;
}

function reportText(report: MapImportReport, ignored: ReadonlyMap<string, number>, dryRun: boolean): string {
  const { read, created, changed, unchanged, rejectedCount, rejected } = report;
  const lines = previewLines(report);
  lines.push(...rejected.map((row) => `${placeText(row)}: ${codeText(row.localCode)}${row.reason}`));
  if (rejectedCount > rejected.length) lines.push(`… and ${rejectedCount - rejected.length} more`);
  for (const [element, count] of ignored) lines.push(`not imported: ${element} (${count})`);
  lines.push(
    `${read} ${read === 1 ? 'entry' : 'entries'}: ${created} created, ${changed} changed, ${unchanged} unchanged, ${rejectedCount} left out${dryRun ? ' (dry run: nothing was kept)' : ''}`,
  );
  return lines.join('\n');
}

function codeText(localCode: string | null): string {
  return localCode === null || localCode === '' ? '' : `${JSON.stringify(localCode)} `;
}

/** One line for each change of a dry run, then how many more there are. */
function previewLines({ changes = [], created, changed }: MapImportReport): string[] {
  const lines = changes.map(changeLine);
  for (const [kind, count] of Object.entries({ created, changed })) {
    const more = count - changes.filter((change) => change.kind === kind).length;
    if (changes.length > 0 && more > 0) lines.push(`… and ${more} more ${kind}`);
  }
  return lines;
}

/** Columns of what an entry says, besides what it is found by. */
const CONTENT = ['local_display', 'target_code', 'target_display', 'equivalence', 'comment'] as const;

function changeLine(change: PreviewedChange): string {
  const { kind, localSystem, localCode, targetSystem, before, after } = change;
  const values = CONTENT.flatMap((column) => {
    const [was, is] = [before?.[FIELDS[column]] ?? null, after[FIELDS[column]]];
    if (was === is) return [];
    return `${column} ${before === null ? '' : `${valueText(was)} → `}${valueText(is)}`;
  });
  return `${placeText(change)}: ${kind} ${localSystem}|${localCode} in ${targetSystem}: ${values.join(', ')}`;
}

function valueText(value: string | null): string {
  return value === null ? '(none)' : JSON.stringify(value);
}
