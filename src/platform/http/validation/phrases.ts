/** What the message of a refused input is made of. `name` is the member's own, which is the same in each language. */

export interface NumberRange {
  kind: 'integer' | 'number';
  min: number | undefined;
  max: number | undefined;
}

export interface Phrases {
  invalidRequest: string;
  /** In place of a name: the whole body, and a member whose name is not repeated. */
  body: string;
  property: string;
  missing(name: string, values: readonly unknown[] | undefined): string;
  oneOf(name: string, values: readonly unknown[]): string;
  exactly(name: string, value: string): string;
  within(name: string, range: NumberRange): string;
  empty(name: string): string;
  tooShort(name: string, min: number): string;
  tooLong(name: string, max: number): string;
  tooFew(name: string, min: number): string;
  tooMany(name: string, max: number): string;
  tooOften(name: string, max: number): string;
  once(name: string): string;
  /** `type` of JSON Schema. */
  ofType(name: string, type: string): string;
  unknownProperty(name: string, known: readonly string[]): string;
  misspelt(name: string, given: string, meant: string): string;
  /** `fault`: the validator's own words, in English. */
  invalid(name: string, fault: string | undefined): string;
}

export const ENGLISH: Phrases = {
  invalidRequest: 'The request is not valid.',
  body: 'The body',
  property: 'A property',
  missing: (name, values) =>
    `${name} is missing.${values === undefined ? '' : ` It must be one of ${values.join(', ')}.`}`,
  oneOf: (name, values) => `${name} must be one of ${values.join(', ')}.`,
  exactly: (name, value) => `${name} must be ${value}.`,
  within: (name, range) => `${name} must be ${rangeText(range)}.`,
  empty: (name) => `${name} must not be empty.`,
  tooShort: (name, min) => `${name} must have at least ${min} characters.`,
  tooLong: (name, max) => `${name} must have at most ${max} characters.`,
  tooFew: (name, min) => `${name} must have at least ${min} items.`,
  tooMany: (name, max) => `${name} must have at most ${max} items.`,
  tooOften: (name, max) => `${name} may be given at most ${max} times.`,
  once: (name) => `${name} must be given once.`,
  ofType: (name, type) => `${name} must be ${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}.`,
  unknownProperty: (name, known) =>
    `${name} has an unknown property.${known.length === 0 ? '' : ` It may have ${known.join(', ')}.`}`,
  misspelt: (name, given, meant) =>
    `${name === '' ? `The query parameter ${given} is unknown` : `${name} has the unknown property ${given}`}. Did you mean ${meant}?`,
  invalid: (name, fault = 'is not valid') => `${name} ${fault}.`,
};

/** What a number must be, both ends at once. */
function rangeText({ kind, min, max }: NumberRange): string {
  const what = kind === 'integer' ? 'an integer' : 'a number';
  if (min !== undefined && max !== undefined) return `${what} from ${min} to ${max}`;
  if (min !== undefined) return `${what}, ${min} or more`;
  return max === undefined ? what : `${what}, ${max} or less`;
}
