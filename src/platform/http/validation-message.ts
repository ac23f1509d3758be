/** Says what is wrong with an input, without repeating its value. Contract: HTTP-4. */
import type { FastifySchemaValidationError } from 'fastify';

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

/** One sentence for the first fault that the validator found. `part` is `querystring`, `body`, … */
export function validationMessage(errors: readonly ValidationError[], part: string): string {
  const error = errors[0];
  if (error === undefined) return 'The request is not valid.';
  const name = nameOf(error, part);
  const limit = Number(error.params.limit);
  switch (error.keyword) {
    case 'required':
      return missing(error, name);
    case 'enum':
      return `${name} must be one of ${(error.params.allowedValues as unknown[]).join(', ')}.`;
    case 'const':
      return `${name} must be ${String(error.params.allowedValue)}.`;
    case 'minimum':
    case 'maximum':
      return `${name} must be ${range(error)}.`;
    case 'minLength':
      return limit === 1 ? `${name} must not be empty.` : `${name} must have at least ${limit} characters.`;
    case 'maxLength':
      return `${name} must have at most ${limit} characters.`;
    case 'minItems':
      return limit === 1 ? `${name} must not be empty.` : `${name} must have at least ${limit} items.`;
    case 'maxItems':
      return part === 'querystring'
        ? `${name} may be given at most ${limit} times.`
        : `${name} must have at most ${limit} items.`;
    case 'type':
      if (part === 'querystring' && Array.isArray(error.data)) return `${name} must be given once.`;
      if (error.params.type === 'integer') return `${name} must be ${range(error)}.`;
      return `${name} must be ${article(String(error.params.type))}.`;
    case 'additionalProperties':
      return `${name} has an unknown property.${known(error)}`;
    default:
      return `${name} ${error.message ?? 'is not valid'}.`;
  }
}

function missing({ params, parentSchema }: ValidationError, parent: string): string {
  const property = String(params.missingProperty);
  const { enum: values } = parentSchema?.properties?.[property] ?? {};
  const hint = values === undefined ? '' : ` It must be one of ${values.join(', ')}.`;
  return `${joined(parent, property)} is missing.${hint}`;
}

/** What a number must be, both ends at once. */
function range({ parentSchema, params }: ValidationError): string {
  const { type, minimum, maximum } = parentSchema ?? {};
  const kind = type === 'integer' || params.type === 'integer' ? 'an integer' : 'a number';
  if (minimum !== undefined && maximum !== undefined) return `${kind} from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${kind}, ${minimum} or more`;
  return maximum === undefined ? kind : `${kind}, ${maximum} or less`;
}

/** What may be given instead: the caller's own names are not repeated, as any may be a mistaken value. */
function known({ parentSchema }: ValidationError): string {
  const names = Object.keys(parentSchema?.properties ?? {});
  return names.length === 0 ? '' : ` It may have ${names.join(', ')}.`;
}

function nameOf(error: ValidationError, part: string): string {
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  if (path !== '') return /^[\w.-]{1,128}$/.test(path) ? path : 'A property';
  return part === 'body' ? 'The body' : '';
}

function joined(parent: string, property: string): string {
  return parent === '' || parent === 'The body' ? property : `${parent}.${property}`;
}

function article(type: string): string {
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}
