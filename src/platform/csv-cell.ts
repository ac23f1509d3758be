/** A cell of a CSV file (RFC 4180) that is inert in a spreadsheet. */

/**
 * What a spreadsheet would take for a formula gets an apostrophe in front: a cell that begins with `=`, `+`, `-`, `@`, a tab
 * or a line end. So does one that has apostrophes before that, so that a reader that takes one away has exactly what was
 * there.
 */
export function csvCell(value: string): string {
  const inert = /^'*[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
