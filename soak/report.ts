/** What is printed in the end. */
import { type Finding, type Flow, isGood } from './ledger.ts';

export function flowTable(flows: ReadonlyMap<string, Flow>): string {
  const rows = [...flows].map(([name, { sent, answered, later, unanswered }]) =>
    [name, sent, answered, later, unanswered].map(String),
  );
  return table([['Flow', 'sent', 'answered', 'told to try later', 'not answered'], ...rows]);
}

export function findingTable(findings: readonly Finding[]): string {
  const rows = findings.map((finding) =>
    [
      finding.what,
      finding.expected,
      finding.found,
      finding.lost,
      finding.wrong,
      isGood(finding) ? 'good' : 'BAD',
    ].map(String),
  );
  return table([['What', 'expected', 'found', 'lost', 'wrong', ''], ...rows]);
}

/** The first column to the left, the others to the right. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}
