/** The preview of an import as the command line prints it, in the names that columns of a file have. */
import type { MapImportReport } from './import-maps.ts';
import { placeText } from './import-row.ts';
import type { MapContent } from './preview-changes.store.ts';
import type { PreviewedChange } from './preview-changes.ts';

const NAMES: Readonly<Record<keyof MapContent, string>> = {
  localDisplay: 'local_display',
  targetCode: 'target_code',
  targetDisplay: 'target_display',
  equivalence: 'equivalence',
  comment: 'comment',
};
const FIELDS = Object.keys(NAMES) as (keyof MapContent)[];

/** One line for each change, then how many more there are. */
export function previewLines({ changes = [], created, changed }: MapImportReport): string[] {
  const lines = changes.map(changeLine);
  for (const [kind, count] of [
    ['created', created],
    ['changed', changed],
  ] as const) {
    const more = count - changes.filter((change) => change.kind === kind).length;
    if (changes.length > 0 && more > 0) lines.push(`… and ${more} more ${kind}`);
  }
  return lines;
}

function changeLine(change: PreviewedChange): string {
  const { kind, localSystem, localCode, targetSystem, before, after } = change;
  const fields = FIELDS.filter((field) => (before?.[field] ?? null) !== after[field]);
  const values = fields.map((field) => {
    const now = before === null ? '' : `${valueText(before[field])} → `;
    return `${NAMES[field]} ${now}${valueText(after[field])}`;
  });
  return `${placeText(change)}: ${kind} ${localSystem}|${localCode} in ${targetSystem}: ${values.join(', ')}`;
}

function valueText(value: string | null): string {
  return value === null ? '(none)' : JSON.stringify(value);
}
