/**
 * Errors of use cases: a code and its values. The catalogue of each area (`errors.ts`) words them, and `errors.fr.ts`
 * beside it has the words for callers who ask for French. HTTP and the command line read it: `httpErrorOf` and
 * `commandErrorOf` (docs/adr/0116, 0149).
 */
import type { Words } from './words/words.ts';

type Text<Values = never> = string | ((values: Values) => string);

/** The words for one code. */
export interface Wording<Values = never> {
  /** What happened, then what to do. Never clinical values, names, tokens or SQL. */
  text: Text<Values>;
  /** HTTP status. Without one, no route answers with this error. */
  status?: number;
  /** Further headers of the answer. */
  headers?: Readonly<Record<string, string>>;
  /** The header `retry-after`, where no value of that name says it. */
  retryAfterSeconds?: number;
  /** Where the command line words it otherwise. `field` is an option there. */
  command?: Text<Values>;
  /** Of a command that ends with it: 2 when it was called wrongly. 1 when nothing else is said. */
  exitCode?: 2;
  /** Values of the example in the OpenAPI document. */
  example?: object;
}

type FrenchText<W> = W extends { text: (values: infer V) => string } ? (values: V) => string : string;

/** The codes that HTTP answers with: the others are for the command line, which speaks English. */
type AnsweredCode<Catalogue> = {
  [Code in keyof Catalogue]: Catalogue[Code] extends { status: number } ? Code : never;
}[keyof Catalogue];

/** French words for each code that HTTP answers with and for no other, made of the same values. */
type French<Catalogue, Given> = {
  readonly [Code in AnsweredCode<Catalogue>]: FrenchText<Catalogue[Code]>;
} & { readonly [Code in Exclude<keyof Given, AnsweredCode<Catalogue>>]: never };

/** Names and numbers for the text. `field` names a member of the input. */
export interface ErrorValues {
  readonly field?: string;
  readonly retryAfterSeconds?: number;
}

interface ErrorOptions {
  cause?: unknown;
}

/** A failure that the caller is told about. */
export class DomainError extends Error {
  override name = 'DomainError';
  /** Stable. Goes to the log; one that HTTP answers with has a row in docs/errors.md. */
  readonly code: string;
  readonly values: ErrorValues;
  readonly wording: Wording;
  readonly #french: Text | undefined;

  constructor(
    code: string,
    {
      values,
      wording,
      french,
      cause,
    }: { values: ErrorValues; wording: Wording; french?: Text | undefined } & ErrorOptions,
  ) {
    super(worded(wording.text, values), cause === undefined ? undefined : { cause });
    this.code = code;
    this.values = values;
    this.wording = wording;
    this.#french = french;
  }

  /** In the languages of callers; logs and the command line have `message`. */
  get words(): Words {
    const { message } = this;
    return { en: message, fr: this.#french === undefined ? message : worded(this.#french, this.values) };
  }
}

export function worded(text: Text, values: ErrorValues): string {
  return typeof text === 'string' ? text : (text as (values: ErrorValues) => string)(values);
}

type ValuesOf<W> = W extends { text: (values: infer V) => string }
  ? V
  : W extends { command: (values: infer V) => string }
    ? V
    : undefined;

type Arguments<W> =
  ValuesOf<W> extends undefined
    ? [values?: undefined, options?: ErrorOptions]
    : [values: ValuesOf<W>, options?: ErrorOptions];

/** The errors of an area: `throw tenancyError('module_disabled', { module })`. */
export function domainErrors<
  const Catalogue extends Readonly<Record<string, Wording>>,
  const Given extends Readonly<Record<string, Text>>,
>(catalogue: Catalogue, french: Given & French<Catalogue, Given>) {
  const texts: Readonly<Record<string, Text>> = french;
  const create = <Code extends keyof Catalogue & string>(
    code: Code,
    ...given: Arguments<Catalogue[Code]>
  ) => {
    const [values, options] = given;
    const wording = catalogue[code] as Wording;
    return new DomainError(code, { values: values ?? {}, wording, french: texts[code], ...options });
  };
  return Object.assign(create, { catalogue: catalogue as Readonly<Record<string, Wording>>, french: texts });
}
