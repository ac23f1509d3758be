/**
 * What several operations of the OpenAPI document have just so: a component, and a `$ref` in each place.
 * Contract: HTTP-32.
 */
import { http } from '../../platform/node-http.ts';
import type { Json } from './open-api-schemas.ts';

/** Where something stands that may stand in other operations too. */
interface Place {
  operationId: string;
  /** What to call it among the components. */
  name: string;
  holder: Json;
  key: string;
}

type Contents = Readonly<Record<string, { schema: Json }>>;

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
      name:
        tailOf(response) ?? schemaNameOf(response) ?? String(http.STATUS_CODES[status]).replaceAll(' ', ''),
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
    const component = componentOf(value, taken[name] as Json);
    if (second === undefined || component === undefined) continue;
    const unique = name in taken || name in added ? `${operationId}.${name}` : name;
    added[unique] = component;
    for (const place of same) place.holder[place.key] = { $ref: `#/components/${kind}/${unique}` };
  }
  return added;
}

/** What a component is to be; undefined for what is one already, and for answers that are worth their examples. */
function componentOf(value: Json, named: Json): Json | undefined {
  if (!('$ref' in value)) return value;
  if (!('description' in value)) return undefined;
  const shown = Object.values(named.content as Contents).some((one) => 'examples' in one);
  return shown ? undefined : { ...named, description: value.description };
}

/** The name of the schema of its first media type. */
function schemaNameOf({ content }: Json): string | undefined {
  const [first] = Object.values((content ?? {}) as Contents);
  return first && tailOf(first.schema);
}

/** The name of what a `$ref` leads to. */
function tailOf({ $ref }: Json): string | undefined {
  return $ref === undefined ? undefined : String($ref).split('/').at(-1);
}
