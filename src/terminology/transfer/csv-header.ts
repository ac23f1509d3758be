/** The header of a terminology map as CSV: which column of a file holds what. */

import type { DomainError } from '../../platform/domain-error.ts';
import { badFile, terminologyError } from '../errors.ts';
import type { GivenEntry, MapEntry } from '../maps/map-entry.ts';
import type { MapReadOptions } from './import-row.ts';

/** The columns of the header, in the order of export; the last two may be left out. */
export const FIELDS = {
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

/** Columns that are named as not read. */
const MAX_UNREAD_COLUMNS = 100;

/** `local_code=itemid,target_code=loinc` as the columns that it names. */
export function parseColumns(text: string): ReadonlyMap<CsvColumn, string> {
  const columns = new Map<CsvColumn, string>();
  for (const part of text.split(',')) {
    const at = part.indexOf('=');
    const [column, name] = [part.slice(0, Math.max(at, 0)).trim(), part.slice(at + 1).trim()];
    if (!isColumn(column) || name === '')
      throw terminologyError('bad_request', {
        field: 'columns',
        fault: {
          en: `each part must be <column>=<column of the file>, such as ${CSV_COLUMNS[1]}=itemid, separated by commas; the columns are ${CSV_COLUMNS.join(', ')}`,
          fr: `chaque partie doit être <colonne>=<colonne du fichier>, par exemple ${CSV_COLUMNS[1]}=itemid, séparée des autres par une virgule ; les colonnes sont ${CSV_COLUMNS.join(', ')}`,
        },
      });
    columns.set(column, name);
  }
  return columns;
}

function isColumn(text: string): text is CsvColumn {
  return Object.hasOwn(FIELDS, text);
}

export interface Header {
  /** Position in a record of each field. */
  positions: [field: keyof MapEntry, position: number][];
  width: number;
  constants: GivenEntry;
  /** Columns that hold nothing of an entry, a misspelled one among them. */
  unread: string[];
}

/** Throws where a column is missing. */
export function readHeader(names: string[], options: MapReadOptions): Header {
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
      throw badFile({
        en: `The file has no column ${wanted}. It has: ${listed(names)}.`,
        fr: `Le fichier n’a pas de colonne ${wanted}. Il a : ${listed(names)}.`,
      });
    else if (isNeeded(column)) throw missingColumn(column, names);
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

/** Names what HTTP takes and pages show. The command line adds its options. */
function missingColumn(column: CsvColumn, names: string[]): DomainError {
  const constant = column.endsWith('_system') ? FIELDS[column] : undefined;
  const orConstant = {
    en: constant === undefined ? '' : `, or give one value for all rows (${constant})`,
    fr: constant === undefined ? '' : `, ou donnez une seule valeur pour toutes les lignes (${constant})`,
  };
  const fault = {
    en: `The file has no column ${column}. Say which of its columns to use (columns: ${column}=<column of the file>)${orConstant.en}. The file has: ${listed(names)}.`,
    fr: `Le fichier n’a pas de colonne ${column}. Dites laquelle de ses colonnes prendre (columns : ${column}=<colonne du fichier>)${orConstant.fr}. Le fichier a : ${listed(names)}.`,
  };
  const options = `On the command line: --columns ${column}=<column of the file>${constant === undefined ? '' : `, or --${column.replace('_', '-')}`}.`;
  return terminologyError('bad_map_file', { fault, options });
}

function refuseOtherSeparators(names: string[]): void {
  const only = names.length === 1 ? (names[0] ?? '') : '';
  for (const [separator, en, fr] of [
    [';', 'semicolons', 'des points-virgules'],
    ['\t', 'tabs', 'des tabulations'],
  ] as const)
    if (only.includes(separator))
      throw badFile({
        en: `The file is separated by ${en}. Save it as CSV separated by commas.`,
        fr: `Le fichier est séparé par ${fr}. Enregistrez-le en CSV séparé par des virgules.`,
      });
}
