/**
 * The report of an import as it is kept: of bounded size, and without the names of files, which often hold the names of
 * patients (docs/adr/0142). Pure.
 * Contract: ADM-50.
 */
import type { ImportDocument } from '../import-report.ts';

/** Of each list. What is beyond stays in the counts. */
const LISTED = 500;
const REASON_CHARACTERS = 500;

/** Names that the service gave. */
const OWN_NAMES: ReadonlySet<string> = new Set(['body', '-']);

/** `names`: of the files, in their order. */
export function keptReport(
  { otherFiles: _, ...document }: ImportDocument & { otherFiles?: number },
  names: readonly string[],
): ImportDocument {
  const numbers = new Map(names.map((name, index) => [name, index + 1]));
  const named = (file: string) => {
    if (OWN_NAMES.has(file)) return file;
    const number = numbers.get(file);
    return number === undefined ? 'file' : `file ${number}`;
  };
  const kept = <Item extends { file: string; reason?: string }>(items: readonly Item[]): Item[] =>
    items.slice(0, LISTED).map((item) => ({
      ...item,
      file: named(item.file),
      ...(item.reason === undefined ? {} : { reason: item.reason.slice(0, REASON_CHARACTERS) }),
    }));
  return {
    ...document,
    // Whoever sends the records makes up these names.
    notTaken: Object.fromEntries(Object.entries(document.notTaken).slice(0, LISTED)),
    rejected: kept(document.rejected),
    older: kept(document.older),
    notices: kept(document.notices),
    notKept: kept(document.notKept),
    unresolved: kept(document.unresolved),
  };
}
