/**
 * The target's own words about a refusal, without clinical values. Pure.
 *
 * Only words on a list are kept, and the names of types and elements of what was sent; every other word, every
 * number and everything in quotes becomes `…`, and so does a word on the list that is written as a name is. So a value
 * cannot come through however the target quotes it (docs/adr/0051).
 * Contract: PUB-29.
 */
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { CAPITALISED_NAMES, ISSUE_TYPES, KNOWN_WORDS } from './known-words.ts';
import type { Issue } from './read-answer.ts';

const SEVERITIES = ['fatal', 'error', 'warning', 'information'];
const MAX_ISSUES = 5;
const MAX_TEXT = 300;

/** One line for the issues that matter: severity, code, where, and the cleaned text. Empty when there are none. */
export function describeIssues(issues: readonly Issue[], sent: FhirResource): string {
  const worst = issues.filter(({ severity }) => severity === 'fatal' || severity === 'error');
  const told = worst.length > 0 ? worst : issues;
  const names = elementNames(sent);
  const lines = told.slice(0, MAX_ISSUES).map((issue) => describeIssue(issue, names));
  if (told.length > MAX_ISSUES) lines.push(`and ${told.length - MAX_ISSUES} more`);
  return lines.join('; ');
}

function describeIssue(
  { severity, code, expression, location, diagnostics, details }: Issue,
  names: Names,
): string {
  const kind = [
    SEVERITIES.includes(severity as string) ? severity : 'error',
    ISSUE_TYPES.has(code as string) ? code : undefined,
  ];
  const [where] =
    ([expression, location].find((paths) => Array.isArray(paths) && paths.length > 0) as unknown[]) ?? [];
  if (typeof where === 'string') kind.push(`at ${clean(where, names)}`);
  const { text } = (details ?? {}) as { text?: unknown };
  const said = [text, diagnostics].find((one) => typeof one === 'string' && one.trim() !== '');
  const head = kind.filter((part) => part !== undefined).join(' ');
  return typeof said === 'string' ? `${head}: ${clean(said, names)}` : head;
}

type Names = ReadonlySet<string>;

/** Words and numbers that are not known become `…`; punctuation stays. */
function clean(text: string, names: Names): string {
  const unquoted = text
    .slice(0, 4 * MAX_TEXT)
    .replace(/"[^"]*"?|`[^`]*`?|“[^”]*”?|‘[^’]*’?|«[^»]*»?|(?<![A-Za-z])'[^']*'?/g, '…');
  const kept = unquoted.replace(WORD, (word, at: number) =>
    isHarmless(word, names) || (startsText(unquoted, word, at) && isHarmless(word.toLowerCase(), names))
      ? word
      : '…',
  );
  const short = kept
    .replace(/…(?:[\s.,:;/|!?-]*…)+/g, '…')
    .replace(/\s+/g, ' ')
    .trim();
  return short.length > MAX_TEXT ? `${short.slice(0, MAX_TEXT)}…` : short;
}

const WORD = /[^\s.,:;()[\]/|!?…-]+/gu;

/** With a capital, or a digit, only a name on the list is: any other may be somebody's. */
function isHarmless(word: string, names: Names): boolean {
  if (CAPITALISED_NAMES.has(word)) return true;
  if (/^[^a-z]|\p{N}/u.test(word)) return false;
  return KNOWN_WORDS.has(word) || names.has(word);
}

/** The one place where an ordinary word has a capital; not when the next word has one too, as in a name. */
function startsText(text: string, word: string, at: number): boolean {
  if (text.slice(0, at).trim() !== '' || !/^\p{Lu}\p{Ll}+$/u.test(word)) return false;
  const [next = ''] = text.slice(at + word.length).match(WORD) ?? [];
  return !/^\p{Lu}/u.test(next) || CAPITALISED_NAMES.has(next);
}

/** Types and elements, never values. */
function elementNames(resource: FhirResource): Names {
  const names = new Set([resource.resourceType]);
  const pending: unknown[] = [resource];
  while (pending.length > 0) {
    const value = pending.pop();
    if (Array.isArray(value)) pending.push(...value);
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) {
        names.add(name);
        pending.push(member);
      }
  }
  return names;
}
