/** Schemas that several areas write alike. */
import type { TSchema } from 'typebox';
import { Type } from '../json-schema.ts';

const described = (description?: string) => (description === undefined ? {} : { description });

/** A value of this schema, or null. */
export function Nullable<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], described(description));
}

/** One of these words. */
export function Choice<Word extends string>(words: readonly Word[], description?: string) {
  return Type.Unsafe<Word>({ type: 'string', enum: words, ...described(description) });
}

/** A text, or null. */
export function NullableText(description?: string) {
  return Nullable(Type.String(), description);
}

/** An instant: a Date in the code, which JSON.stringify writes in ISO 8601, in UTC. */
export function Instant(description?: string) {
  return Type.Unsafe<Date>({ type: 'string', format: 'date-time', ...described(description) });
}

/** An instant that is a text in the code already: ISO 8601, in UTC. */
export function InstantText(description?: string) {
  return Type.String({ format: 'date-time', ...described(description) });
}
