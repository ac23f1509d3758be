/** Why text is not taken as JSON, and where its fault is, as far as V8 says. Contract: IN-31. */
import { NOTHING_TAKEN, SourceError } from './source-error.ts';

const SEVERAL =
  'has more than one JSON document. Put each on a line of its own (NDJSON), or all into a Bundle';

/** V8 says no place of an unexpected token. It quotes the text instead, which may be of a patient. */
const PLACE = / at position (\d+) \(line (\d+) column (\d+)\)$/;

export interface JsonText {
  /** `part`: a line or an entry; others of its file or body may be taken. `source`: the whole file or body. */
  of: 'part' | 'source';
  /** False where the text lacks what was taken out of it, so that no place in it can be told. */
  isWhole: boolean;
}

export function notJson(text: string, { of, isWhole }: JsonText, cause: unknown): SourceError {
  return new SourceError(reasonOf(text, { of, isWhole }, (cause as Error).message), { cause });
}

function reasonOf(text: string, { of, isWhole }: JsonText, message: string): string {
  const [, position, line, character] = PLACE.exec(message) ?? [];
  const at = Number(position);
  if (message === 'Unexpected end of JSON input' || at === text.length)
    return `is not valid JSON: it breaks off${of === 'part' ? '' : `. ${NOTHING_TAKEN}`}`;
  if (line === undefined || at === 0 || !isWhole) return 'is not valid JSON';
  if (message.startsWith('Unexpected non-whitespace character after JSON') && text[at] === '{')
    return SEVERAL;
  const place = text.trim().includes('\n')
    ? `line ${line}, character ${character}`
    : `character ${character}`;
  return `is not valid JSON from its ${place} on`;
}
