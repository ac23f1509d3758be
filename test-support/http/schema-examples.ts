/** The example that readers of the OpenAPI document put together from a schema, its parts and what they refer to. */
import type { Json } from '../service/api.ts';

export interface SchemaReader {
  /** What a `$ref` names. */
  resolve(value: Json): Json;
  /** The same object schema, with the members of all that it is made of. */
  whole(value: Json): Json;
  /** Its own example, else one made of those of its parts; undefined where a part that must be there has none. */
  exampleOf(given: Json): Json | undefined;
}

/** What `$ref` names in the document, whatever stands beside it; the value itself without one. */
export function resolveIn(document: Json, value: Json): Json {
  if (value.$ref === undefined) return value;
  const keys: string[] = value.$ref.slice(2).split('/');
  return keys.reduce((at: Json, key) => at[key], document);
}

export function createSchemaReader(document: Json): SchemaReader {
  const resolve = (value: Json): Json => resolveIn(document, value);

  function whole(value: Json): Json {
    const schema = resolve(value);
    if (schema.allOf === undefined) return schema;
    const parts = (schema.allOf as Json[]).map(whole);
    const properties = Object.assign({}, ...parts.map((part) => part.properties));
    return {
      type: 'object',
      ...schema,
      properties,
      required: parts.flatMap(({ required = [] }) => required),
    };
  }

  function exampleOf(given: Json): Json | undefined {
    const schema = resolve(given);
    if (schema.examples !== undefined) return schema.examples[0];
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) return schema.enum[0];
    if (schema.anyOf !== undefined) return exampleOfAny(schema.anyOf);
    switch (schema.type) {
      case 'object':
        return exampleOfObject(schema);
      case 'array':
        return exampleOfList(schema);
      default:
        return schema.type?.includes('null') ? null : undefined;
    }
  }

  function exampleOfAny(schemas: Json[]): Json | undefined {
    return schemas.some(({ type }) => type === 'null') ? null : exampleOf(schemas[0]);
  }

  function exampleOfList({ items }: Json): Json | undefined {
    const item = exampleOf(items);
    return item === undefined ? undefined : [item];
  }

  function exampleOfObject({ properties = {}, required = [] }: Json): Json | undefined {
    const members = Object.entries(properties as Json).map(([name, one]) => [name, exampleOf(one as Json)]);
    const example = Object.fromEntries(members.filter(([, value]) => value !== undefined));
    const complete = required.every((name: string) => name in example);
    return complete && members.length > 0 ? example : undefined;
  }

  return { resolve, whole, exampleOf };
}
