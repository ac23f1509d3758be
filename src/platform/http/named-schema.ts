/** Schemas that stand in the OpenAPI document once, under a name. Contract: HTTP-32. */
import type { TSchema } from 'typebox';

/** The same schema with a title, which is its name among the components of the document. */
export function named<Schema extends TSchema>(title: string, schema: Schema): Schema {
  return Object.assign(schema, { title });
}

/** Throws for a schema without a name: whoever is named after it would have none either. */
export function schemaName(schema: TSchema): string {
  const { title } = schema as { title?: unknown };
  if (typeof title !== 'string') throw new Error('the schema has no name');
  return title;
}
