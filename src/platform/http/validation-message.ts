/** Says what is wrong with an input, without repeating its value. */
import type { FastifySchemaValidationError } from 'fastify';

/** One sentence for the first fault that the validator found. `part` is `querystring`, `body`, … */
export function validationMessage(errors: readonly FastifySchemaValidationError[], part: string): string {
  const error = errors[0];
  if (error === undefined) return 'The request is not valid.';
  const name = nameOf(error, part);
  switch (error.keyword) {
    case 'required':
      return `${joined(name, String(error.params.missingProperty))} is missing.`;
    case 'enum':
      return `${name} must be one of ${(error.params.allowedValues as unknown[]).join(', ')}.`;
    case 'const':
      return `${name} must be ${String(error.params.allowedValue)}.`;
    case 'type':
      return part === 'querystring' && error.params.type !== 'integer'
        ? `${name} must be given once.`
        : `${name} must be ${article(String(error.params.type))}.`;
    case 'additionalProperties':
      return `${name} has a property that is not known here.`;
    default:
      return `${name} ${error.message ?? 'is not valid'}.`;
  }
}

function nameOf(error: FastifySchemaValidationError, part: string): string {
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
