/** Everything that an emitted clinical resource must pass (docs/fhir-mapping.md). */
import { invariantFaults } from './fhir-invariants.ts';
import { jsonSchemaFaults } from './fhir-json-schema.ts';
import { fhirFaults } from './fhir-validator.ts';
import { vitalSignFaults } from './vital-sign-rules.ts';

/**
 * Faults by the R4 JSON schema (Ajv), structure and required codes (@medplum/core, fhir), invariants
 * (fhirpath), the vital-signs profiles and their units. `json` is the resource as it was sent; `claimed` are URLs of
 * vital-signs profiles that it must follow whatever its codes are.
 */
export function clinicalFaults(json: string, claimed: readonly string[] = []): string[] {
  const resource = JSON.parse(json) as { resourceType: string };
  return [
    ...tagged('schema', jsonSchemaFaults(resource)),
    ...tagged('validators', fhirFaults(resource)),
    ...tagged('invariants', invariantFaults(resource, resource.resourceType)),
    ...tagged('vital signs', vitalSignFaults(resource, claimed)),
  ];
}

function tagged(by: string, faults: readonly string[]): string[] {
  return faults.map((fault) => `${by}: ${fault}`);
}
