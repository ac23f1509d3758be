/** Literal references between resources (FHIR R4, "References"). */

/** The id in `<id>` or `Patient/<id>`, in lower case; whether it names anybody is for the store to say. */
export function patientIdIn(text: string): string {
  return text.replace(/^Patient\//, '').toLowerCase();
}

/** A quote inside a JSON string is escaped, so this is found where a member is named so and nowhere else. */
const REFERENCE_IN_JSON = /"reference":"([A-Z][A-Za-z]{2,40}\/[A-Za-z0-9\-.]{1,64})"/g;

/** Each `Type/id` that a resource refers to, as often as it does; the resource as `JSON.stringify` writes it. */
export function referencesIn(json: string): IteratorObject<string> {
  return json.matchAll(REFERENCE_IN_JSON).map(([, key = '']) => key);
}
