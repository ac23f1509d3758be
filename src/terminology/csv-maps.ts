/** Terminology maps as CSV (design section 5; RFC 4180), read and written as streams. */
import { type PipelineSource, pipeline, type Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { type IgnoredElements, type ImportRow, MapFileError } from './import-row.ts';
import type { GivenEntry, MapEntry } from './map-entry.ts';

/** The columns of the header, in the order of export; the last two may be left out. */
const FIELDS = {
  local_system: 'localSystem',
  local_code: 'localCode',
  local_display: 'localDisplay',
  target_system: 'targetSystem',
  target_code: 'targetCode',
  target_display: 'targetDisplay',
  equivalence: 'equivalence',
  comment: 'comment',
} as const satisfies Record<string, keyof MapEntry>;
export type CsvColumn = keyof typeof FIELDS;
export const CSV_COLUMNS = Object.keys(FIELDS) as CsvColumn[];
const PLAIN_COLUMNS = CSV_COLUMNS.slice(0, 6);

const MAX_RECORD_CHARACTERS = 65_536;
/** Columns that are named as not read. */
const MAX_UNREAD_COLUMNS = 100;

export interface CsvReadOptions {
  /** Which column of the file holds what; a column that is not named here has its own name. */
  columns?: ReadonlyMap<CsvColumn, string>;
  /** For a file without such a column. */
  localSystem?: string | undefined;
  targetSystem?: string | undefined;
  /** Told of each column that is not read, with the number of its rows. */
  ignored?: IgnoredElements;
}

/** The rows of a CSV file in UTF-8, one at a time. Throws {@link MapFileError}. */
export async function* readCsvRows(source: Readable, options: CsvReadOptions): AsyncGenerator<ImportRow> {
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_CHARACTERS,
  });
  pipeline(source as PipelineSource<Buffer>, decodeUtf8, parser, () => undefined);
  let header: Header | undefined;
  let countedTwice = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[];
      info: { lines: number };
    }>) {
      // The parser counts a quoted CRLF as two lines.
      countedTwice += quotedIn(record, /\r\n/g);
      const line = info.lines - countedTwice - quotedIn(record, /\r\n|\r|\n/g);
      if (header === undefined) header = readHeader(record, options);
      else {
        for (const name of header.unread) options.ignored?.set(name, (options.ignored.get(name) ?? 0) + 1);
        yield readRecord(record, line, header);
      }
    }
  } catch (error) {
    throw error instanceof CsvError ? syntaxFault(error) : error;
  }
  if (header === undefined) throw new MapFileError('The file is empty.');
}

/** The text of a CSV file. The columns beyond the six of the header are written only with `withRelation`. */
export async function* csvText(
  entries: AsyncIterable<MapEntry[]>,
  { withRelation }: { withRelation: boolean },
): AsyncGenerator<string> {
  const columns = withRelation ? CSV_COLUMNS : PLAIN_COLUMNS;
  yield `${columns.join(',')}\r\n`;
  for await (const page of entries)
    yield page
      .map((entry) => `${columns.map((column) => csvCell(entry[FIELDS[column]] ?? '')).join(',')}\r\n`)
      .join('');
}

/** `local_code=itemid,target_code=loinc` as the columns that it names; a text that says what is wrong with it. */
export function parseColumns(text: string): ReadonlyMap<CsvColumn, string> | string {
  const columns = new Map<CsvColumn, string>();
  for (const part of text.split(',')) {
    const [, column = '', name = ''] = /^\s*(\w+)\s*=\s*(.*\S)\s*$/.exec(part) ?? [];
    if (!isColumn(column))
      return `columns are given as ${CSV_COLUMNS[1]}=<column of the file>, separated by commas; left of = stands one of ${CSV_COLUMNS.join(', ')}`;
    columns.set(column, name);
  }
  return columns;
}

function isColumn(text: string): text is CsvColumn {
  return Object.hasOwn(FIELDS, text);
}

interface Header {
  /** Position in a record of each field. */
  positions: [field: keyof MapEntry, position: number][];
  width: number;
  constants: GivenEntry;
  /** Columns that hold nothing of an entry, a misspelled one among them. */
  unread: string[];
}

function readHeader(names: string[], options: CsvReadOptions): Header {
  refuseOtherSeparators(names);
  const positions: Header['positions'] = [];
  const constants: GivenEntry = { localSystem: options.localSystem, targetSystem: options.targetSystem };
  for (const column of CSV_COLUMNS) {
    const field = FIELDS[column];
    const wanted = options.columns?.get(column);
    if (wanted === undefined && (constants[field] ?? '') !== '') continue;
    const position = positionOf(names, wanted ?? column);
    if (position !== undefined) positions.push([field, position]);
    else if (wanted !== undefined)
      throw new MapFileError(`There is no column ${wanted}. The file has: ${listed(names)}.`);
    else if (isNeeded(column)) throw new MapFileError(missingColumn(column, names));
  }
  return { positions, width: names.length, constants, unread: unreadColumns(names, positions) };
}

function unreadColumns(names: string[], positions: Header['positions']): string[] {
  const read = new Set(positions.map(([, position]) => position));
  const unread = names.filter((name, position) => name.trim() !== '' && !read.has(position));
  return [...new Set(unread.map(shortened))].slice(0, MAX_UNREAD_COLUMNS);
}

/** By its whole name, or without what stands in parentheses behind it. */
function positionOf(names: string[], wanted: string): number | undefined {
  const whole = names.findIndex((name) => name.trim() === wanted);
  const short = names.findIndex((name) => withoutRemark(name) === wanted);
  const position = whole >= 0 ? whole : short;
  return position < 0 ? undefined : position;
}

function withoutRemark(name: string): string {
  const trimmed = name.trim();
  const remark = trimmed.indexOf('(');
  return remark >= 0 && trimmed.endsWith(')') ? trimmed.slice(0, remark).trim() : trimmed;
}

/** The columns of a file for a message: not all of a thousand, and not all of a long one. */
function listed(names: string[]): string {
  const shown = names.slice(0, 20).map(shortened);
  return `${shown.join(', ')}${names.length > shown.length ? ', …' : ''}`;
}

function shortened(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}…` : name;
}

function isNeeded(column: CsvColumn): boolean {
  return !['local_display', 'target_display', 'equivalence', 'comment'].includes(column);
}

function missingColumn(column: CsvColumn, names: string[]): string {
  const constant = column.endsWith('_system') ? `, or give --${column.replace('_', '-')} for all rows` : '';
  return `There is no column ${column}. Name it with --columns ${column}=<column of the file>${constant}. The file has: ${listed(names)}.`;
}

function refuseOtherSeparators(names: string[]): void {
  const only = names.length === 1 ? (names[0] ?? '') : '';
  for (const [separator, name] of [
    [';', 'semicolons'],
    ['\t', 'tabs'],
  ] as const)
    if (only.includes(separator))
      throw new MapFileError(`The file is separated by ${name}. Save it as CSV separated by commas.`);
}

function readRecord(record: string[], line: number, { positions, width, constants }: Header): ImportRow {
  const given: GivenEntry = { ...constants };
  for (const [field, position] of positions) given[field] = cellText(record[position] ?? '');
  if (record.length === width) return { line, given };
  return { line, given, fault: `has ${record.length} cells where the header has ${width}` };
}

function quotedIn(record: string[], pattern: RegExp): number {
  return record.reduce((count, cell) => count + (cell.match(pattern)?.length ?? 0), 0);
}

async function* decodeUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new MapFileError('The file is not UTF-8. Save it as "CSV UTF-8".', { cause: error });
  }
}

function syntaxFault(error: CsvError): MapFileError {
  const { lines } = error as { lines?: number };
  const where = lines === undefined ? '' : ` near line ${lines}`;
  const long =
    error.code === 'CSV_MAX_RECORD_SIZE'
      ? `: a record has more than ${MAX_RECORD_CHARACTERS} characters`
      : '';
  return new MapFileError(
    `The file is not CSV${where}${long}. Look for a quote that is not closed or not doubled.`,
    {
      cause: error,
    },
  );
}

/**
 * A cell that a spreadsheet would take for a formula (`=`, `+`, `-`, `@`) gets an apostrophe in front, also
 * where it has one already, so that {@link cellText} gives back exactly what was there.
 */
function csvCell(value: string): string {
  const inert = /^'*[=+\-@]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

function cellText(cell: string): string {
  return /^'+[=+\-@]/.test(cell) ? cell.slice(1) : cell;
}
