/** The table at the end: what was reached, beside the aims. */
import type { Row } from './bench.ts';
import type { Options } from './options.ts';

/** A row, and the name of its part. */
export type ReportRow = Row & { part: string };

const HEAD: ReportRow = {
  part: 'Part',
  what: 'What',
  aim: 'Aim',
  reached: 'Reached',
  measured: 'Measured',
};
const COLUMNS = ['part', 'what', 'aim', 'reached', 'measured'] as const;

/** The line above the table. */
export function whatWasMeasured({
  rounds,
  records,
  quick,
}: Pick<Options, 'rounds' | 'records' | 'quick'>): string {
  const times = rounds === 1 ? '1 round' : `${rounds} rounds`;
  return `Medians of ${times}, ${records} patients and encounters${quick ? ', quick' : ''}`;
}

export function asText(rows: readonly ReportRow[]): string {
  const all = [HEAD, ...rows];
  const widths = COLUMNS.map((column) => Math.max(...all.map((row) => row[column].length)));
  return all
    .map((row) =>
      COLUMNS.map((column, index) => row[column].padEnd(widths[index] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}

export function asMarkdown(rows: readonly ReportRow[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const cellsOf = (row: ReportRow) => COLUMNS.map((column) => row[column].replaceAll('|', '\\|'));
  return [
    line(cellsOf(HEAD)),
    `|${'---|'.repeat(COLUMNS.length)}`,
    ...rows.map((row) => line(cellsOf(row))),
  ].join('\n');
}

/** A ratio. */
export function times(ratio: number): string {
  return ratio.toFixed(2);
}
