/** Schemas that stand in the OpenAPI document once, under a name. */
import type { TSchema } from 'typebox';

/** The same schema with a title, which is its name among the components of the document. */
export function named<Schema extends TSchema>(title: string, schema: Schema): Schema {
  return Object.assign(schema, { title });
}
