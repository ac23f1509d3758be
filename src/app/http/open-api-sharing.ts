/** What several operations of the OpenAPI document have just so: a component, and a `$ref` in each place. */
import { STATUS_CODES } from 'node:http';
import type { Json } from './open-api-schemas.ts';

/** Where something stands that may stand in other operations too. */
interface Place {
  operationId: string;
  /** What to call it among the components. */
  name: string;
  holder: Json;
  key: string;
}

interface Operation {
  operationId: string;
  parameters: Json[];
  requestBody?: Json;
  responses: Record<string, Json>;
}

/** The kinds of components that operations share, and where those stand in one operation. */
const KINDS: Readonly<Record<string, (operation: Operation) => Omit<Place, 'operationId'>[]>> = {
  parameters: ({ parameters }) =>
    parameters.map(({ name }, at) => ({
      name: String(name),
      holder: parameters as unknown as Json,
      key: String(at),
    })),
  requestBodies: (operation) =>
    operation.requestBody === undefined
      ? []
      : [
          {
            name: schemaNameOf(operation.requestBody) ?? 'Body',
            holder: operation as unknown as Json,
            key: 'requestBody',
          },
        ],
  responses: ({ responses }) =>
    Object.entries(responses).map(([status, response]) => ({
      name: schemaNameOf(response) ?? String(STATUS_CODES[status]).replaceAll(' ', ''),
      holder: responses,
      key: status,
    })),
};

/** Adds to `components`, by kind, what stands in several operations of `paths`, and names it there. */
export function shareRepeated(paths: Record<string, Json>, components: Record<string, Json>): void {
  const operations = Object.values(paths).flatMap((item) => Object.values(item)) as Operation[];
  for (const [kind, placesIn] of Object.entries(KINDS)) {
    const places = operations.flatMap((operation) =>
      placesIn(operation).map((place) => ({ ...place, operationId: operation.operationId })),
    );
    components[kind] = { ...components[kind], ...shared(kind, places, components[kind] ?? {}) };
  }
}

/** Of several with one name the most used has it; the others have their first operation's before theirs. */
function shared(kind: string, places: readonly Place[], taken: Json): Json {
  const added: Json = {};
  const groups = Map.groupBy(places, ({ holder, key }) => JSON.stringify(holder[key]));
  for (const same of [...groups.values()].sort((a, b) => b.length - a.length)) {
    const [{ operationId, name, holder, key }, second] = same as [Place, Place?];
    const value = holder[key] as Json;
    if (second === undefined || '$ref' in value) continue;
    const unique = name in taken || name in added ? `${operationId}.${name}` : name;
    added[unique] = value;
    for (const place of same) place.holder[place.key] = { $ref: `#/components/${kind}/${unique}` };
  }
  return added;
}

/** The name of the schema of its first media type. */
function schemaNameOf({ content }: Json): string | undefined {
  const [first] = Object.values((content ?? {}) as Record<string, { schema: { $ref?: string } }>);
  return first?.schema.$ref?.split('/').at(-1);
}
