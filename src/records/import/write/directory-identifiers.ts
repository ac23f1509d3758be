/** The table of identifiers that Practitioner, Organization and Location records share. */

import type { ChildTable } from '../../../clinical/description/element.ts';
import type { Identifier } from '../../../fhir/coded.ts';

/** Identifiers of Practitioner, Organization and Location records share a table. */
export function directoryIdentifiers(resourceType: 'Practitioner' | 'Organization' | 'Location'): ChildTable {
  return {
    name: 'directory_identifier',
    parent: 'record_id',
    fixed: { resource_type: resourceType },
    columns: [
      ['position', 'smallint'],
      ['use', 'text'],
      ['type', 'jsonb'],
      ['system', 'text'],
      ['value', 'text'],
      ['period_start', 'text'],
      ['period_end', 'text'],
    ],
  };
}

/** Identifiers as rows, in their order. */
export function identifierRows(identifiers: readonly Identifier[]): Record<string, unknown>[] {
  return identifiers.map(({ use, type, system, value, period }, position) => ({
    position,
    use,
    type,
    system,
    value,
    period_start: period?.start,
    period_end: period?.end,
  }));
}
