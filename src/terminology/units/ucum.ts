/**
 * UCUM codes: whether a text is one, by the library of the National Library of Medicine (docs/adr/0031).
 * Contract: TERM-6, TERM-21.
 */
import library from '@lhncbc/ucum-lhc';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../platform/cache-size.ts';
import { UCUM } from '../lookup/code-systems.ts';

const REMEMBERED_TEXTS = 10_000;
const MAX_LENGTH = 100;

/** The unit of a quantity, as a source gave it or as it is kept. */
export interface QuantityUnit {
  unit?: string | undefined;
  system?: string | undefined;
  code?: string | undefined;
}

const checker = library.UcumLhcUtils.getInstance();
/** What was found of a code, or of two with a space between: the same few units come again and again. */
const answers = new LRUCache<string, boolean>(atMost(REMEMBERED_TEXTS));

function remembered(text: string, find: () => boolean): boolean {
  const known = answers.get(text);
  if (known !== undefined) return known;
  const found = find();
  answers.set(text, found);
  return found;
}

/** True for a valid, case-sensitive UCUM code. */
export function isUcum(code: string): boolean {
  return hasShapeOfCode(code) && remembered(code, () => checker.validateUnitString(code).status === 'valid');
}

/**
 * The unit of a quantity with its UCUM code where the source's code or its unit text is one; a code of another
 * system stays; anything else keeps its text only.
 */
export function normaliseUnit(source: QuantityUnit): QuantityUnit {
  const { unit, system, code } = source;
  if (system !== undefined && system !== UCUM) return source;
  if (code !== undefined && isUcum(code) && (system === UCUM || isPlain(code)))
    return { unit, system: UCUM, code };
  if (unit !== undefined && isPlain(unit) && isUcum(unit)) return { unit, system: UCUM, code: unit };
  return { unit: unit ?? code };
}

/**
 * True where the unit text is a code of UCUM that measures the same as the code beside it in another size: `g/L` and
 * `g/dL`. Texts of other kinds are the language of a laboratory, and say nothing against the code.
 */
export function differsInSize(unit: string, code: string): boolean {
  if (!isPlain(unit) || !isUcum(unit) || !isUcum(code)) return false;
  return remembered(`${unit} ${code}`, () => {
    const { status, toVal } = checker.convertUnitTo(unit, 1, code);
    return status === 'succeeded' && toVal !== null && Math.abs(toVal - 1) > 1e-6;
  });
}

/** The library takes these for units, and throws when it converts to them: it looks units up in a plain object. */
const MEMBERS_OF_OBJECTS = Object.getOwnPropertyNames(Object.prototype);

/** Keeps from the library what it would print on the console about: its parser throws on these. */
function hasShapeOfCode(text: string): boolean {
  if (text.length === 0 || text.length > MAX_LENGTH || !/^[!-~]+$/.test(text)) return false;
  if (MEMBERS_OF_OBJECTS.some((name) => text.includes(name))) return false;
  if (/\}[^./)]/.test(text)) return false;
  const bare = text.replaceAll(/\{[^{}]*\}/g, '');
  if (!/^[A-Za-z0-9%*^+\-./()[\]'_]*$/.test(bare)) return false;
  // Behind a parenthesis there is an operator or the end (UCUM, section 2, "Grammar").
  if (/\(\)|[^./(]\(|\([./]?\)/.test(bare) || /\)[^./)]/.test(text)) return false;
  return isBalanced(bare);
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/**
 * Units that mean in a laboratory's free text what they mean in UCUM. Not everything that UCUM would accept:
 * to it `K/uL` is kelvin (the laboratory means thousands), `C` coulomb, `F` farad and `PG` petagauss.
 */
const PLAIN_ATOM =
  /^(?:[kmunpf]?g|[munpf]?mol|[mu]?eq|m?osm|[dcmunpf]?[Ll]|[mu]?U|[kmu]?\[IU\]|[un]?kat|[mn]?s|min|h|d|wk|mo|%|10[*^]\d{1,2}|[cmun]m[23]?|m[23]|mm\[Hg\]|k?Pa|Cel|\[degF\]|\[pH\]|\[ppm\]|\[arb'U\]|m?V|Hz|1|)$/;

function isPlain(text: string): boolean {
  const atoms = text.replaceAll(/\{[^{}]*\}/g, '').split(/[./]/);
  return (
    text !== '1' && atoms.every((atom, position) => PLAIN_ATOM.test(atom) && (atom !== '1' || position === 0))
  );
}
