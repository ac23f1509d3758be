/** A cell of a CSV file (RFC 4180) that is inert in a spreadsheet. */

/**
 * What a spreadsheet would take for a formula (`=`, `+`, `-`, `@`) gets an apostrophe in front, also where it has one
 * already, so that a reader that takes one away has exactly what was there.
 */
export function csvCell(value: string): string {
  const inert = /^'*[=+\-@]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
