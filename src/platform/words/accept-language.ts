/**
 * The language that a caller asks for (RFC 9110 section 12.5.4). A range such as `fr-CA` stands for its first part
 * (RFC 4647 section 3.4): the service speaks no dialects. Contract: HTTP-31.
 */
import { DEFAULT_LANGUAGE, type Language } from './words.ts';

/** A language and how much it is wanted: `fr-CA;q=0.8`. */
const RANGE = /^([a-z]{1,8}|\*)(?:-[a-z0-9]{1,8})*(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/** English, unless French is wanted more, or as much and first. What cannot be read of the header is passed over. */
export function languageOf(acceptLanguage: string | string[] | undefined): Language {
  // Node.js joins several headers of this name.
  if (typeof acceptLanguage !== 'string' || !/fr|\*/i.test(acceptLanguage)) return DEFAULT_LANGUAGE;
  const wanted = new Map<string, number>();
  for (const part of acceptLanguage.split(',')) {
    const [, range = '', weight = '1'] = RANGE.exec(part.trim()) ?? [];
    const language = range.toLowerCase();
    if (range !== '') wanted.set(language, Math.max(wanted.get(language) ?? 0, Number(weight)));
  }
  const others = wanted.get('*') ?? 0;
  const french = wanted.get('fr') ?? others;
  const english = wanted.get('en') ?? others;
  if (french !== english) return french > english ? 'fr' : DEFAULT_LANGUAGE;
  const named = [...wanted.keys()].find((language) => language === 'fr' || language === 'en');
  return french > 0 && named === 'fr' ? 'fr' : DEFAULT_LANGUAGE;
}

/** The header of an answer that is worded in this language; none of one in English. */
export function contentLanguage(language: Language): Record<string, string> {
  return language === DEFAULT_LANGUAGE ? {} : { 'content-language': language };
}
