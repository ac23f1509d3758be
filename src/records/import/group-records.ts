/** What the importers of clinical records share: which records changed, and their grouping at the end. */
import { foreignLinks } from '../../investigations/foreign-links.store.ts';
import { groupInvestigations } from './group-investigations.ts';
import { groupVitalSigns } from './group-vital-signs.ts';
import type { WriteContext, WriteResult } from './resource-importer.ts';
import type { RecordRow } from './write-records.ts';

interface Touched {
  orders: Set<string>;
  reports: Set<string>;
  studies: Set<string>;
  observations: Set<string>;
  grouped: boolean;
}

function touchedIn({ unit }: WriteContext): Touched {
  return unit.state<Touched>('clinical-records', () => ({
    orders: new Set(),
    reports: new Set(),
    studies: new Set(),
    observations: new Set(),
    grouped: false,
  }));
}

/** Note what was created or changed, and whom it is about. */
export function noteTouched(
  context: WriteContext,
  kind: 'orders' | 'reports' | 'studies' | 'observations',
  rows: readonly RecordRow[],
  { created, updated }: WriteResult,
): void {
  const changed = new Set([...created, ...updated]);
  const ids = touchedIn(context)[kind];
  for (const id of changed) ids.add(id);
  const written = rows.filter(({ id }) => changed.has(id));
  context.patientsTouched(written.map(({ values }) => String(values.patient_id)));
}

/** Put what was written under its orders and into its vital sets; once for a Bundle. */
export async function groupRecords(context: WriteContext): Promise<void> {
  const touched = touchedIn(context);
  if (touched.grouped) return;
  touched.grouped = true;
  const { client, scope } = context;
  const { orders, reports, studies, observations } = touched;
  const foreign = await foreignLinks(client, scope, touched);
  for (const { element, ids } of foreign)
    context.refuse(ids, `${element} refers to a record of another patient`);
  if (foreign.length > 0) return;
  if (orders.size + reports.size + studies.size + observations.size > 0)
    await groupInvestigations(client, scope, touched);
  if (observations.size > 0) await groupVitalSigns(client, scope, [...observations]);
}
