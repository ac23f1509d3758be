/**
 * SQL of the tables that a dry run writes to (docs/adr/0081): temporary ones beside the real ones. Temporary views with
 * the names of the real tables show both, so that every look-up of the import finds what the dry run wrote before.
 * Contract: IN-24.
 */

import type { RecordTable } from '../../../clinical/description/describe.ts';
import type { ChildTable } from '../../../clinical/description/element.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { OrganisationScope } from '../../../tenancy/scope.ts';

/** Registrations are written beside the tables of the importers. */
export const REGISTRATION = 'patient_registration';

/** The table to write to. */
export function writtenTable(table: string, dryRun: boolean): string {
  return dryRun ? `dry_run_${table}` : table;
}

/** Make the tables and views for this session. Afterwards it can write to nothing but temporary tables. */
export async function prepareDryRun(
  client: Client,
  scope: OrganisationScope,
  tables: readonly RecordTable[],
): Promise<void> {
  const children = Map.groupBy(
    tables.flatMap((table) => table.children.map((child) => ({ table, child }))),
    ({ child }) => child.name,
  );
  const hidden = new Map<string, readonly string[]>([
    [REGISTRATION, []],
    ...tables.map((table) => [table.name, [changed(table, 'id')]] as const),
    ...[...children].map(([name, of]) => [name, of.map(childOfChanged)] as const),
  ]);
  const names = [...hidden.keys()];
  const statements = [
    // Before the views: from then on the names mean those.
    ...names.map((name) => `create temp table ${writtenTable(name, true)} (like ${name} including all)`),
    ...names.map((name) => view(name, scope, hidden.get(name) ?? [])),
    'set session characteristics as transaction read only',
    // The tables grow while plans are kept.
    'set plan_cache_mode = force_custom_plan',
  ];
  await client.query(statements.join(';\n'));
}

/** What is stored, but for the rows that the dry run has changed, and what it wrote. */
function view(name: string, { organisationId }: OrganisationScope, hidden: readonly string[]): string {
  return `create temp view ${name} as
    select *
    from ${writtenTable(name, true)}
    union all
    select stored.*
    from ${name} stored
    where ${[`stored.organisation_id = '${organisationId}'`, ...hidden.map((rows) => `not (${rows})`)].join(' and ')}`;
}

/** SQL that is true for a stored row when the dry run has changed the record that `column` names. */
function changed({ name, reach }: RecordTable, column: string): string {
  const facility = reach === 'facility' ? 'and changed.facility_id = stored.facility_id' : '';
  return `exists (
      select
      from ${writtenTable(name, true)} changed
      where changed.organisation_id = stored.organisation_id
        ${facility}
        and changed.id = stored.${column})`;
}

function childOfChanged({ table, child }: { table: RecordTable; child: ChildTable }): string {
  const fixed = Object.entries(child.fixed ?? {}).map(([column, value]) => `stored.${column} = '${value}'`);
  return [...fixed, changed(table, child.parent)].join(' and ');
}
