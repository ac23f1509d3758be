/** JSON Schemas in the OpenAPI document: what has a title becomes a component, and ids get their format. */
import { isDeepStrictEqual } from 'node:util';
import type { TSchema } from 'typebox';

export type Json = Record<string, unknown>;

/** Members that hold the UUID of one of our records; in the plural, a list of them. */
const RECORD_IDS = new Set(
  (
    'id localId orderId vitalSetId patientId encounterId resourceId facilityId organisationId connectionId ' +
    'deliveryId importId recordId mapId userId accountId roleId defaultFacilityId sessionId updatedBy changedBy'
  ).split(' '),
);
/** With any of these, a text is described well enough. */
const DESCRIBED = ['format', 'pattern', 'minLength', 'maxLength', 'enum', 'const'];

export interface SchemaComponents {
  /** The schema as it stands in the document; `name` is that of the member or parameter. */
  describe(schema: TSchema, name?: string): Json;
  /** Every schema with a title, by its title. */
  all(): Json;
}

export function createSchemaComponents(): SchemaComponents {
  const components: Json = {};

  function describe(schema: unknown, name = ''): Json {
    const { title, ...own } = schema as Json;
    const described = shorter(
      withFormat(
        mapValues(own, (value, key) => inner(value, key, name)),
        name,
      ),
    );
    if (typeof title !== 'string') return described;
    const known = components[title];
    if (known !== undefined && !isDeepStrictEqual(known, described))
      throw new Error(`two schemas have the title ${title}`);
    components[title] = described;
    return { $ref: `#/components/schemas/${title}` };
  }

  function inner(value: unknown, key: string, name: string): unknown {
    switch (key) {
      case 'properties':
      case 'patternProperties':
        return mapValues(value as Json, (member, memberName) => describe(member, memberName));
      case 'items':
        return describe(value, name.replace(/s$/, ''));
      case 'anyOf':
      case 'allOf':
        return (value as unknown[]).map((one) => describe(one, name));
      case 'additionalProperties':
        return typeof value === 'object' ? describe(value) : value;
      default:
        return value;
    }
  }

  return { describe, all: () => components };
}

function mapValues(object: Json, change: (value: unknown, key: string) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}

function withFormat(schema: Json, name: string): Json {
  const bare = schema.type === 'string' && DESCRIBED.every((keyword) => schema[keyword] === undefined);
  return bare && RECORD_IDS.has(name) ? { ...schema, format: 'uuid' } : schema;
}

/** An `enum` and a list of types, where an `anyOf` says the same at length: generators make several types of that. */
function shorter(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  if (anyOf.every((one) => typeof one.const === 'string'))
    return { ...rest, type: 'string', enum: anyOf.map((one) => one.const) };
  const [first, second] = anyOf as Json[];
  const isOrNull = anyOf.length === 2 && second?.type === 'null' && typeof first?.type === 'string';
  return isOrNull && first.enum === undefined ? { ...first, ...rest, type: [first.type, 'null'] } : schema;
}
