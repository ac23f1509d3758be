/** Literal references between resources (FHIR R4, "References"). */

/** The id in `<id>` or `<resourceType>/<id>`; whether it names anything is for the store to say. */
export function referencedId(resourceType: string, text: string): string {
  return text.startsWith(`${resourceType}/`) ? text.slice(resourceType.length + 1) : text;
}
