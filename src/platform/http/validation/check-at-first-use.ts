/** Checks values against JSON Schemas. To compile all of them takes a quarter of a start, and most are never needed. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

const ajv = new Ajv2020({
  coerceTypes: false,
  useDefaults: true,
  removeAdditional: false,
  strict: false,
  // Formats are for readers of the OpenAPI document: a malformed id is 404, like an unknown one.
  validateFormats: false,
  verbose: true,
  // test/open-api.test.ts holds the schemas to JSON Schema; here that would cost each process.
  validateSchema: false,
});

/** The faults of a value; none where it fits. */
export function checkAtFirstUse(schema: object): (value: unknown) => readonly ErrorObject[] {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(schema);
    return validate(value) ? [] : (validate.errors ?? []);
  };
}
