/**
 * Errors of use cases: a code and its values. The catalogue of each area (`errors.ts`) words them. HTTP and the command
 * line read it: `httpErrorOf` and `commandErrorOf` (docs/adr/0116).
 */

type Text<Values> = string | ((values: Values) => string);

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

  constructor(
    code: string,
    { values, wording, cause }: { values: ErrorValues; wording: Wording } & ErrorOptions,
  ) {
    super(worded(wording.text, values), cause === undefined ? undefined : { cause });
    this.code = code;
    this.values = values;
    this.wording = wording;
  }

  get field(): string | undefined {
    return this.values.field;
  }
}

export function worded(text: Text<never>, values: ErrorValues): string {
  return typeof text === 'string' ? text : (text as (values: ErrorValues) => string)(values);
}

type ValuesOf<W> = W extends { text: (values: infer V) => string }
  ? V
  : W extends { command: (values: infer V) => string }
    ? V
    : undefined;

type Given<W> =
  ValuesOf<W> extends undefined
    ? [values?: undefined, options?: ErrorOptions]
    : [values: ValuesOf<W>, options?: ErrorOptions];

/** The errors of an area: `throw tenancyError('module_disabled', { module })`. */
export function domainErrors<const Catalogue extends Readonly<Record<string, Wording>>>(
  catalogue: Catalogue,
) {
  const create = <Code extends keyof Catalogue & string>(code: Code, ...given: Given<Catalogue[Code]>) => {
    const [values, options] = given;
    return new DomainError(code, { values: values ?? {}, wording: catalogue[code] as Wording, ...options });
  };
  return Object.assign(create, { catalogue: catalogue as Readonly<Record<string, Wording>> });
}
