/**
 * Facilities share patients, and a link of a patient may lead to one who is registered at some of them. An import of another
 * facility does not find that one. It sends the same link, and must not end it: each facility is shown what leads to its own
 * patients (src/patients/patient.store.ts). Contract: PAT-10, IN-22.
 */
import { PATIENT } from '../../../clinical/resources/patient.fhir.ts';
import { ElementReader } from '../../../fhir/reading/element-reader.ts';
import type { JsonObject } from '../../../fhir/reading/json-resource.ts';
import { lockPatients } from '../../../patients/patient.store.ts';
import type { MappedRecord, WriteContext } from '../map/resource-importer.ts';
import { missingRecords, readReference } from '../resolve/read-reference.ts';
import { identifierName } from '../resolve/record-id.ts';
import { type StoredLink, storedLinks } from './links-elsewhere.store.ts';

const TABLE = 'patient_link';

/** The rows; a link that leads to nobody here leads where the stored one of its patient does that names the same. */
export async function withLinksElsewhere(
  rows: readonly MappedRecord[],
  missing: ReadonlyMap<string, JsonObject>,
  { client, scope, dryRun }: Pick<WriteContext, 'client' | 'scope' | 'dryRun'>,
): Promise<readonly MappedRecord[]> {
  if (missing.size === 0) return rows;
  const ids = [...missing.keys()];
  await dryRun?.bringReplaced(PATIENT.table, ids);
  // Whoever writes them at the moment may be about to write a link.
  await lockPatients(client, scope, ids);
  const stored = byName(await storedLinks(client, scope, ids));
  return rows.map((row) => {
    const [resource, given] = [missing.get(row.id), row.children[TABLE]];
    if (resource === undefined || given === undefined) return row;
    const named = namesIn(ElementReader.of(resource, scope.timeZone));
    const links = given.map((link, place) => {
      if (link.other_id !== undefined) return link;
      const [name = ''] = named[place] ?? [];
      const otherId = stored.get(linkName(row.id, link.type, name));
      return otherId === undefined ? link : { position: link.position, other_id: otherId, type: link.type };
    });
    return { ...row, children: { ...row.children, [TABLE]: links } };
  });
}

/** Where stored links lead, by all that a link may call it. */
function byName(stored: readonly StoredLink[]): Map<string, string> {
  return new Map(
    stored.flatMap(({ patientId, type, otherId, identifiers }) =>
      [otherId, ...identifiers.map((key) => identifierName('Patient', key))].map(
        (name) => [linkName(patientId, type, name), otherId] as const,
      ),
    ),
  );
}

function linkName(patientId: string, type: unknown, name: string): string {
  return `${patientId} ${type} ${name}`;
}

/** What each link of a Patient may lead to once it comes, by its name. */
function namesIn(patient: ElementReader): string[][] {
  return patient.children('link').map((link) => {
    const other = link.child('other');
    if (other === undefined) return [];
    return missingRecords(readReference(other), ['Patient']).map(({ name }) => name);
  });
}
