/** Examples of answers in the OpenAPI document, from the `examples` of their schemas. */
import type { TSchema } from 'typebox';
import type { Json } from './open-api-schemas.ts';

export interface AnswerExamples {
  /** The members `example` or `examples` of a content with this schema; none where there is nothing to show. */
  of(schema: TSchema): Json;
  /** Those of schemas with a title, by that title. */
  all(): Json;
}

export function createAnswerExamples(): AnswerExamples {
  const components: Json = {};
  return {
    of(schema) {
      const { title, examples } = schema as Json;
      const value = exampleOf(schema as Json);
      if (value === undefined) return {};
      if (typeof title !== 'string' || examples === undefined) return { example: value };
      components[title] = { value };
      return { examples: { [title]: { $ref: `#/components/examples/${title}` } } };
    },
    all: () => components,
  };
}

/** The first of its own, else one made from those of its parts; undefined where a part that must be there has none. */
function exampleOf(schema: Json): unknown {
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if ('const' in schema) return schema.const;
  if (schema.type === 'object') return objectExample(schema);
  if (schema.type === 'array') {
    const item = exampleOf(schema.items as Json);
    return item === undefined ? undefined : [item];
  }
  const choices = schema.anyOf as Json[] | undefined;
  return choices?.some(({ type }) => type === 'null') ? null : choices?.[0] && exampleOf(choices[0]);
}

function objectExample({ properties = {}, required = [] }: Json): Json | undefined {
  const members = Object.entries(properties as Json).map(([name, one]) => [name, exampleOf(one as Json)]);
  const example = Object.fromEntries(members.filter(([, value]) => value !== undefined));
  const complete = (required as string[]).every((name) => name in example);
  return complete && members.length > 0 ? example : undefined;
}
