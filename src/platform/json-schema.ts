/**
 * Writes JSON Schemas, with the types of TypeBox. Only its types are used: its functions come in 370 modules, which took
 * a fifth of the processor time of a start, and the service needs these few of them.
 */
import type TypeBox from 'typebox';
import type { TSchema } from 'typebox';

type Options = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, TSchema>>;

const optional = new WeakSet<object>();

const ofType =
  (type: string) =>
  (options: Options = {}) => ({ type, ...options });

function object(properties: Properties, options: Options = {}) {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name] as object));
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
}

/** A copy: the same schema may be required elsewhere. */
function asOptional(schema: TSchema) {
  const copy = { ...schema };
  optional.add(copy);
  return copy;
}

function partial({ properties }: { properties: Properties }, options?: Options) {
  const members = Object.entries(properties).map(([name, schema]) => [name, asOptional(schema)]);
  return object(Object.fromEntries(members), options);
}

const builders = {
  String: ofType('string'),
  Integer: ofType('integer'),
  Number: ofType('number'),
  Boolean: ofType('boolean'),
  Null: ofType('null'),
  Object: object,
  Optional: asOptional,
  Partial: partial,
  Array: (items: TSchema, options?: Options) => ({ type: 'array', items, ...options }),
  Record: (_key: TSchema, value: TSchema, options?: Options) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Enum: (values: readonly string[], options?: Options) => ({ enum: values, ...options }),
  Union: (anyOf: readonly TSchema[], options?: Options) => ({ anyOf, ...options }),
  Intersect: (allOf: readonly TSchema[], options?: Options) => ({ allOf, ...options }),
  Unsafe: (schema: Options) => schema,
};

export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
