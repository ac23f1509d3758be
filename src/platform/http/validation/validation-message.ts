/** Says what is wrong with an input, without repeating its value. Contract: HTTP-4. */
import type { FastifySchemaValidationError } from 'fastify';
import { nameMeant } from '../../name-meant.ts';
import type { Words } from '../../words/words.ts';
import { FRENCH } from './phrases.fr.ts';
import { ENGLISH, type NumberRange, type Phrases } from './phrases.ts';

/** `parentSchema`: all that stands beside the keyword that failed. */
type ValidationError = FastifySchemaValidationError & {
  data?: unknown;
  parentSchema?: {
    type?: unknown;
    minimum?: number;
    maximum?: number;
    properties?: Readonly<Record<string, { enum?: readonly unknown[] }>>;
  };
};

export function validationWords(errors: readonly ValidationError[], part: string): Words {
  return { en: validationMessage(errors, part), fr: validationMessage(errors, part, FRENCH) };
}

/** One sentence for the first fault that the validator found. `part` is `querystring`, `body`, … */
export function validationMessage(
  errors: readonly ValidationError[],
  part: string,
  say: Phrases = ENGLISH,
): string {
  const error = errors[0];
  if (error === undefined) return say.invalidRequest;
  const name = nameOf(error, part, say);
  const limit = Number(error.params.limit);
  switch (error.keyword) {
    case 'required':
      return missing(error, name, say);
    case 'enum':
      return say.oneOf(name, error.params.allowedValues as unknown[]);
    case 'const':
      return say.exactly(name, String(error.params.allowedValue));
    case 'minimum':
    case 'maximum':
      return say.within(name, rangeOf(error));
    case 'minLength':
      return limit === 1 ? say.empty(name) : say.tooShort(name, limit);
    case 'maxLength':
      return say.tooLong(name, limit);
    case 'minItems':
      return limit === 1 ? say.empty(name) : say.tooFew(name, limit);
    case 'maxItems':
      return part === 'querystring' ? say.tooOften(name, limit) : say.tooMany(name, limit);
    case 'type':
      if (part === 'querystring' && Array.isArray(error.data)) return say.once(name);
      // In an address nothing else is a boolean; in JSON, "true" is none.
      if (part === 'querystring' && error.params.type === 'boolean')
        return say.oneOf(name, ['true', 'false']);
      if (error.params.type === 'integer') return say.within(name, rangeOf(error));
      return say.ofType(name, String(error.params.type));
    case 'additionalProperties':
      return unknown(error, name, say);
    default:
      return say.invalid(name, error.message);
  }
}

/** Repeats a name of the caller only if it is nearly a known one: any other may be a secret in the wrong place. */
function unknown({ params, parentSchema }: ValidationError, parent: string, say: Phrases): string {
  const known = Object.keys(parentSchema?.properties ?? {});
  const given = String(params.additionalProperty);
  const meant = nameMeant(given, known);
  return meant === undefined ? say.unknownProperty(parent, known) : say.misspelt(parent, given, meant);
}

function missing({ params, parentSchema, data }: ValidationError, parent: string, say: Phrases): string {
  const property = String(params.missingProperty);
  const known = parentSchema?.properties ?? {};
  const { enum: values } = known[property] ?? {};
  const given = Object.keys(data ?? {}).slice(0, MAX_COMPARED);
  const misspelt = given.find((name) => !Object.hasOwn(known, name) && nameMeant(name, [property]));
  if (misspelt !== undefined) return say.misspelt(parent, misspelt, property);
  const isAtTop = parent === '' || parent === say.body;
  return say.missing(isAtTop ? property : `${parent}.${property}`, values);
}

/** A body of very many members would keep the event loop for long. */
const MAX_COMPARED = 100;

function rangeOf({ parentSchema, params }: ValidationError): NumberRange {
  const { type, minimum, maximum } = parentSchema ?? {};
  const kind = type === 'integer' || params.type === 'integer' ? 'integer' : 'number';
  return { kind, min: minimum, max: maximum };
}

function nameOf(error: ValidationError, part: string, say: Phrases): string {
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  if (path !== '') return /^[\w.-]{1,128}$/.test(path) ? path : say.property;
  return part === 'body' ? say.body : '';
}
