/** SQL of what a search looks for: keys that start with a word, or that are the whole text. Contract: PAT-2. */
import type { SearchTerms } from '../../clinical/resources/search-key.ts';
import type { Viewer } from '../replacement.store.ts';

export interface Match {
  /** For whom it is looked, as SQL. */
  viewer: Viewer;
  /** The longest word, which is the rarest: every one of the words must start a name. Undefined: no word. */
  word: string | undefined;
  /** Conditions on a search key `k` that is the whole text; each is answered by an index. */
  whole: string[];
  /** Whether each patient with a name that starts with the word is searched for. */
  suffices: boolean;
  /** Whether the patient with this id is searched for. */
  meets(patientId: string): string;
}

/** What a whole text may be. */
const WHOLE_KINDS = ['identifier', 'phone', 'email'] as const;

/** Signs alone are no part of any name or number. */
export function isEmpty(terms: SearchTerms): boolean {
  return terms.nameStarts.length === 0 && WHOLE_KINDS.every((kind) => terms[kind] === '');
}

/** Two ways to match: every word starts a name part, or the whole text is an identifier, phone or email. */
export function matchOf(terms: SearchTerms, parameter: (value: string) => string, viewer: Viewer): Match {
  const whole = WHOLE_KINDS.filter((kind) => terms[kind] !== '').map(
    (kind) => `k.kind = '${kind}' and k.key = ${parameter(terms[kind])}`,
  );
  const words = terms.nameStarts
    .toSorted((one, other) => other.length - one.length)
    .map((word) => parameter(word));
  const starts = words.map((word) => `k.kind = 'name' and starts_with(k.key, ${word})`);
  const names = starts.map((start) => `bool_or(${start})`).join(' and ');
  const either = [...(names === '' ? [] : [`(${names})`]), ...whole.map((one) => `bool_or(${one})`)];
  return {
    viewer,
    word: words[0],
    whole,
    suffices: words.length <= 1,
    // Inside, only the patient: the index of all keys would answer the rest, for each patient.
    meets: (patientId) => `(
            select ${either.join(' or ')}
            from (
              select k.kind, k.key
              from patient_search_key k
              where k.organisation_id = $1
                and k.patient_id = ${patientId}
              offset 0
            ) k
          ) is true`,
  };
}

/**
 * A condition on a key `k`: it starts with the word. It is the range of `like`, which only a plan for one word
 * looks up in the index. No name has the last of all characters.
 */
export function startsWith(word: string): string {
  return `k.key ~>=~ ${word} and k.key ~<~ (${word} || chr(1114111))`;
}
