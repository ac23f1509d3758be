/**
 * Query parameters and other input before validation: strict conversion, unknown names, unusable characters.
 * Contract: HTTP-10, HTTP-11.
 */
import type { TObject, TSchema } from 'typebox';
import { nameMeant } from '../name-meant.ts';
import { isUuid } from '../uuid.ts';
import { badRequest } from './errors.ts';
import { FRENCH } from './validation/phrases.fr.ts';
import { ENGLISH } from './validation/phrases.ts';

type Values = Record<string, unknown>;

interface Property extends TSchema {
  type?: string;
  default?: unknown;
}

/**
 * The declared parameters, converted to their types. Unknown ones are left out, or 400 when `strict`
 * (RFC 7240 `Prefer: handling=strict`). What cannot be converted stays text, for validation to refuse.
 */
export function convertQuery(schema: TObject, query: Values, strict: boolean): Values {
  const converted: Values = {};
  const properties = schema.properties as Record<string, Property>;
  const keepsUnknown = lacksRequired(schema, query);
  for (const [name, value] of Object.entries(query)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property !== undefined) converted[name] = convert(property, value);
    else if (strict) throw unknownParameter(name, Object.keys(properties));
    else if (keepsUnknown) converted[name] = value;
  }
  return converted;
}

function unknownParameter(name: string, known: readonly string[]): Error {
  const meant = nameMeant(name, known);
  if (meant !== undefined)
    return badRequest({ en: ENGLISH.misspelt('', name, meant), fr: FRENCH.misspelt('', name, meant) });
  return badRequest({
    en: `The query parameter ${printable(name) ?? 'with an unusual name'} is unknown. Remove it, or send no Prefer: handling=strict.`,
    fr: `Le paramètre ${printable(name) ?? 'au nom inhabituel'} est inconnu. Retirez-le, ou n’envoyez pas Prefer: handling=strict.`,
  });
}

/**
 * A JSON body without the members that its schema does not declare, so that none of them can stand in for what a use case
 * decides by. A schema that says whether there may be others is obeyed: they are refused, or wanted (docs/adr/0064).
 */
export function declaredMembers(schema: TSchema, body: unknown): unknown {
  const { properties, additionalProperties } = schema as {
    properties?: object;
    additionalProperties?: unknown;
  };
  if (properties === undefined || additionalProperties !== undefined) return body;
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return body;
  if (lacksRequired(schema, body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(properties, name)));
}

/** True where something required is missing: validation refuses such input, and looks for it among the unknown names. */
function lacksRequired(schema: TSchema, given: object): boolean {
  const { required = [], properties = {} } = schema as Partial<TObject>;
  return required.some((name) => !Object.hasOwn(given, name) && !('default' in (properties[name] ?? {})));
}

function convert(property: Property, value: unknown): unknown {
  if (property.type === 'array') return Array.isArray(value) ? value : [value];
  if (typeof value !== 'string') return value;
  if (property.type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (property.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/** 400 when a percent-encoding in a query or a form is not one, or not UTF-8: parsers would guess what was meant. */
export function refuseMalformedEncoding(text: string): void {
  if (!text.includes('%')) return;
  try {
    decodeURIComponent(text);
  } catch {
    throw badRequest(
      {
        en: 'The parameters are not percent-encoded UTF-8. Send % itself as %25.',
        fr: 'Les paramètres ne sont pas de l’UTF-8 encodé avec %. Envoyez le signe % lui-même comme %25.',
      },
      'bad_encoding',
    );
  }
}

/** 400 when any string in the input has a NUL or a lone surrogate: PostgreSQL holds neither. */
export function refuseUnusableText(input: unknown): void {
  const pending: unknown[] = [input];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'string') {
      if (value.includes('\0') || !value.isWellFormed())
        throw badRequest(
          {
            en: 'The request contains a NUL character or a broken Unicode character. Remove it.',
            fr: 'La requête contient un caractère NUL ou un caractère Unicode incomplet. Retirez-le.',
          },
          'unusable_text',
        );
    } else if (value !== null && typeof value === 'object') {
      for (const [key, inner] of Object.entries(value)) pending.push(key, inner);
    }
  }
}

function printable(name: string): string | undefined {
  return /^[\w.:-]{1,64}$/.test(name) ? name : undefined;
}

/** 400 for a parameter that is not one. */
export function requireUuid(name: string, value: string | undefined): void {
  if (value !== undefined && !isUuid(value))
    throw badRequest({
      en: `${name} must be a UUID.`,
      fr: `${name} doit être un UUID.`,
    });
}
