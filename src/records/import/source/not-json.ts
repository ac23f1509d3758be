/** Why text is not taken as JSON, and where its fault is, as far as V8 says. Contract: IN-31. */
import { SourceError } from './source-error.ts';

const SEVERAL =
  'has more than one JSON document. Put each on a line of its own (NDJSON), or all into a Bundle';

/** V8 says no place of an unexpected token. It quotes the text instead, which may be of a patient. */
const PLACE = / at position (\d+) \(line (\d+) column (\d+)\)$/;

/** `isWhole`: false where the text lacks what was taken out of it, so that no place in it can be told. */
export function notJson(text: string, { isWhole, cause }: { isWhole: boolean; cause: unknown }): SourceError {
  return new SourceError(isWhole ? reasonOf(text, (cause as Error).message) : 'is not valid JSON', { cause });
}

function reasonOf(text: string, message: string): string {
  const [, position, line, character] = PLACE.exec(message) ?? [];
  const at = Number(position);
  if (message === 'Unexpected end of JSON input' || at === text.length)
    return 'is not valid JSON: it breaks off';
  if (line === undefined || at === 0) return 'is not valid JSON';
  if (message.startsWith('Unexpected non-whitespace character after JSON') && text[at] === '{')
    return SEVERAL;
  const place = text.trim().includes('\n')
    ? `line ${line}, character ${character}`
    : `character ${character}`;
  return `is not valid JSON from its ${place} on`;
}
