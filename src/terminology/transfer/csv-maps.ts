/** Terminology maps as CSV (RFC 4180), read and written as streams. Contract: TERM-10, TERM-11. */
import { type PipelineSource, pipeline, type Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { csvCell } from '../../platform/csv-cell.ts';
import type { DomainError } from '../../platform/domain-error.ts';
import { badFile, terminologyError } from '../errors.ts';
import type { GivenEntry, MapEntry } from '../maps/map-entry.ts';
import { CSV_COLUMNS, FIELDS, type Header, readHeader } from './csv-header.ts';
import type { ImportRow, MapReadOptions } from './import-row.ts';

const PLAIN_COLUMNS = CSV_COLUMNS.slice(0, 6);
const MAX_RECORD_CHARACTERS = 65_536;
/** Bytes that are parsed in one go, whatever the size of the file: the body of a call comes whole. */
const PARSED_AT_ONCE = 65_536;

/** The rows of a CSV file in UTF-8, one at a time. Throws when it is none. */
export async function* readCsvRows(source: Readable, options: MapReadOptions): AsyncGenerator<ImportRow> {
  const parser = parse({
    bom: true,
    info: true,
    record_delimiter: ['\r\n', '\n', '\r'],
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
        for (const name of header.unread) options.ignored.set(name, (options.ignored.get(name) ?? 0) + 1);
        yield readRecord(record, line, header);
      }
    }
  } catch (error) {
    throw error instanceof CsvError ? syntaxFault(error) : error;
  }
  if (header === undefined)
    throw badFile({
      en: 'The file is empty.',
      fr: 'Le fichier est vide.',
    });
}

/**
 * The text of a CSV file. The columns beyond the six of the header are written only with `withRelation`. Throws for an entry
 * that needs them: read back without its equivalence, it would count as `equivalent`.
 */
export async function* csvText(
  entries: AsyncIterable<MapEntry[]>,
  { withRelation }: { withRelation: boolean },
): AsyncGenerator<string> {
  const columns = withRelation ? CSV_COLUMNS : PLAIN_COLUMNS;
  yield `${columns.join(',')}\r\n`;
  for await (const page of entries) {
    if (!withRelation && page.some(hasRelation)) throw terminologyError('export_overtaken');
    yield page
      .map((entry) => `${columns.map((column) => csvCell(entry[FIELDS[column]] ?? '')).join(',')}\r\n`)
      .join('');
  }
}

/** As `listGroups` asks the database. */
function hasRelation({ equivalence, comment }: MapEntry): boolean {
  return equivalence !== 'equivalent' || comment !== null;
}

function readRecord(record: string[], line: number, { positions, width, constants }: Header): ImportRow {
  const given: GivenEntry = { ...constants };
  for (const [field, position] of positions) given[field] = cellText(record[position] ?? '');
  if (record.length === width) return { line, given };
  const { length } = record;
  const fault = {
    en: `has ${length} cells, but the header has ${width}`,
    fr: `la ligne a ${length} cellules, alors que l’en-tête en a ${width}`,
  };
  return { line, given, fault };
}

function quotedIn(record: string[], pattern: RegExp): number {
  return record.reduce((count, cell) => count + (cell.match(pattern)?.length ?? 0), 0);
}

async function* decodeUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunks)
      for (let at = 0; at < chunk.length; at += PARSED_AT_ONCE)
        yield decoder.decode(chunk.subarray(at, at + PARSED_AT_ONCE), { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw badFile(
      {
        en: 'The file is not UTF-8. Save it as "CSV UTF-8".',
        fr: 'Le fichier n’est pas en UTF-8. Enregistrez-le sous « CSV UTF-8 ».',
      },
      { cause: error },
    );
  }
}

function syntaxFault(error: CsvError): DomainError {
  const { lines } = error as { lines?: number };
  const isLong = error.code === 'CSV_MAX_RECORD_SIZE';
  const where = {
    en: lines === undefined ? '' : ` near line ${lines}`,
    fr: lines === undefined ? '' : ` vers la ligne ${lines}`,
  };
  const long = {
    en: isLong ? `: a record has more than ${MAX_RECORD_CHARACTERS} characters` : '',
    fr: isLong ? ` : un enregistrement a plus de ${MAX_RECORD_CHARACTERS} caractères` : '',
  };
  return badFile(
    {
      en: `The file is not CSV${where.en}${long.en}. Look for a quotation mark that is not closed or not doubled.`,
      fr: `Le fichier n’est pas du CSV${where.fr}${long.fr}. Cherchez un guillemet qui n’est pas fermé ou pas doublé.`,
    },
    { cause: error },
  );
}

/** What {@link csvCell} was given. */
function cellText(cell: string): string {
  return /^'+[=+\-@\t\r\n]/.test(cell) ? cell.slice(1) : cell;
}
