/** A resource as JSON, and why one is not taken. */

/** A JSON object as `parseFhirJson` gives it; decimals may be `Decimal`. */
export interface JsonObject {
  readonly [name: string]: unknown;
}

/** A resource that cannot be taken. `message` is for people, and carries no clinical values. */
export class ResourceRejected extends Error {
  override name = 'ResourceRejected';
}
