/** A FHIR R4 resource. `JSON.stringify` leaves absent elements out and writes decimals digit for digit. */
export interface FhirResource {
  resourceType: string;
  id: string;
  readonly [element: string]: unknown;
}
