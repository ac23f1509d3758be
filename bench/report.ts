/** The table at the end: what was reached, beside the aims. */
import type { Row } from './bench.ts';

const HEAD: Row = { what: 'What', measured: 'Measured', reached: 'Reached', aim: 'Aim' };
const COLUMNS = ['what', 'measured', 'reached', 'aim'] as const;

export function asText(rows: readonly Row[]): string {
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

export function asMarkdown(rows: readonly Row[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const cellsOf = (row: Row) => COLUMNS.map((column) => row[column].replaceAll('|', '\\|'));
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
