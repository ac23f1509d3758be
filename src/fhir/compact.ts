/** FHIR JSON has no nulls and no empty arrays, objects or strings (FHIR R4, "JSON Representation"). */

type Present<T> = { [K in keyof T]?: NonNullable<T[K]> };

/** The members that say something. Looks at the members only, not inside them. */
export function compact<T extends object>(members: T): Present<T> {
  const present: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (!isEmpty(value)) present[name] = value;
  return present as Present<T>;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (typeof value !== 'object') return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}
