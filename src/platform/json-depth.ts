/** How deep JSON text is nested and how many values it has, found before it is parsed: each takes memory and time then. */

const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Whether objects and lists stand in each other more than `levels` deep. The text may be no JSON. */
export function isDeeper(text: string, levels: number): boolean {
  return findBracket(text, (depth) => depth > levels) !== -1;
}

/** The object or list at the beginning of the text, without what follows; the whole text where it does not end. */
export function firstValue(text: string): string {
  const end = findBracket(text, (depth) => depth === 0);
  return end === -1 ? text : text.slice(0, end + 1);
}

/** Whether the text ends where it closes all that it opens. It may be no JSON. */
export function isClosed(text: string): boolean {
  const end = findBracket(text, (depth) => depth === 0);
  return end !== -1 && text.slice(end + 1).trim() === '';
}

/** Index of the first bracket or brace after which so many are open; -1 for none. */
function findBracket(text: string, isWanted: (depth: number) => boolean): number {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) index = endOfString(text, index);
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      depth += 1;
      if (isWanted(depth)) return index;
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) {
      depth -= 1;
      if (isWanted(depth)) return index;
    }
  }
  return -1;
}

/** Whether there are more than `most` values in it; an object or a list is one, too. The text may be no JSON. */
export function hasMoreValues(text: string, most: number): boolean {
  // A value and the comma after it.
  if (text.length < 2 * most) return false;
  let values = 1;
  for (let index = 0; index < text.length && values <= most; index += 1) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) index = endOfString(text, index);
    else if (character === COMMA || character === OPEN_BRACE || character === OPEN_BRACKET) values += 1;
  }
  return values > most;
}

/** The first text at this key, in an object so many levels deep; undefined for none. The text may be no JSON. */
export function textAtKey(text: string, key: string, level: number): string | undefined {
  const value = /\s*:\s*"([^"\\]*)"/y;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) {
      const end = endOfString(text, index);
      value.lastIndex = end + 1;
      const found = depth === level && text.slice(index + 1, end) === key ? value.exec(text) : null;
      if (found !== null) return found[1];
      index = end;
    } else if (character === OPEN_BRACE || character === OPEN_BRACKET) depth += 1;
    else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth -= 1;
  }
  return undefined;
}

/** Says it, and what to do. */
export function tooDeep(levels: number): string {
  return `is nested deeper than ${levels} levels. Send a flatter document`;
}

/** Index of the quote that closes the string which opens at `start`; the end of the text when none does. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
