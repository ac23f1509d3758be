/**
 * Finds a key that one JSON object has twice. JSON.parse keeps the last value and says nothing, but nobody knows which
 * one was meant (RFC 8259, section 4; https://hl7.org/fhir/R4/json.html: names are unique).
 * Contract: IN-45.
 */
import { endOfString } from '../../../platform/json-depth.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Keys of an object that are looked through one by one; more are put into a set. */
const FEW = 16;

/** An object or list that is open. */
interface Level {
  /** Undefined for a list. */
  keys: string[] | undefined;
  many: Set<string> | undefined;
}

/** Path of the first such key in `json`, which is valid: `name.family`, without the places in lists. */
export function repeatedKey(json: string): string | undefined {
  const levels: Level[] = [];
  let level: Level | undefined;
  let expectsKey = false;
  for (let index = 0; index < json.length; index += 1) {
    switch (json.charCodeAt(index)) {
      case QUOTE: {
        const end = endOfString(json, index);
        if (expectsKey && level !== undefined) {
          if (isRepeated(level, keyAt(json, index, end))) return pathOf(levels);
          expectsKey = false;
        }
        index = end;
        break;
      }
      case OPEN_BRACE:
        level = { keys: [], many: undefined };
        levels.push(level);
        expectsKey = true;
        break;
      case OPEN_BRACKET:
        level = { keys: undefined, many: undefined };
        levels.push(level);
        expectsKey = false;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        levels.pop();
        level = levels.at(-1);
        expectsKey = false;
        break;
      case COMMA:
        expectsKey = level?.keys !== undefined;
        break;
    }
  }
  return undefined;
}

/** Keys may be written with escapes. */
function keyAt(json: string, start: number, end: number): string {
  const raw = json.slice(start + 1, end);
  return raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
}

/** Also notes the key, as the last of its object. */
function isRepeated(level: Level, key: string): boolean {
  const { keys = [] } = level;
  const repeated = level.many?.has(key) ?? keys.includes(key);
  keys.push(key);
  if (keys.length > FEW) level.many ??= new Set(keys);
  level.many?.add(key);
  return repeated;
}

/** The path of the key that was read last. */
function pathOf(levels: readonly Level[]): string {
  return levels.flatMap(({ keys }) => keys?.at(-1) ?? []).join('.');
}
