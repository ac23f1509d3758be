/** Literal references between resources (FHIR R4, "References"). */

/** The id in `<id>` or `Patient/<id>`, in lower case; whether it names anybody is for the store to say. */
export function patientIdIn(text: string): string {
  return text.replace(/^Patient\//, '').toLowerCase();
}
