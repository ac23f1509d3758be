/** Which clinical records a unit changed, and their grouping at its end. */

import type { RecordRow } from '../../../clinical/description/describe.ts';
import { foreignLinks } from '../../../investigations/foreign-links.store.ts';
import type { PatientRecords, TouchedRecords, WriteContext } from '../map/resource-importer.ts';
import type { RecordsWritten } from '../write/write-records.ts';
import { groupInvestigations, settleOrders } from './group-investigations.ts';
import { groupVitalSigns } from './group-vital-signs.ts';
import { lockGrouping } from './grouping-lock.store.ts';

export function nothingTouched(): TouchedRecords {
  return {
    orders: new Set(),
    reports: new Set(),
    studies: new Set(),
    observations: new Set(),
    specimens: new Set(),
    encounters: new Set(),
    reassignedOrders: new Set(),
    formerMembers: new Set(),
    patients: new Set(),
  };
}

/** Note what was created or changed, and whom it is about. */
export function noteTouched(
  context: WriteContext,
  kind: PatientRecords,
  rows: readonly RecordRow[],
  { created, updated, reassigned, formerMembers }: RecordsWritten,
): void {
  const changed = new Set([...created, ...updated]);
  const { touched } = context;
  for (const id of changed) touched[kind].add(id);
  const written = rows.filter(({ id }) => changed.has(id));
  const patientIds = written.map(({ values }) => String(values.patient_id));
  for (const id of [...patientIds, ...reassigned.values()]) touched.patients.add(id);
  for (const id of formerMembers) touched.formerMembers.add(id);
  if (kind === 'orders') for (const id of reassigned.keys()) touched.reassignedOrders.add(id);
  context.patientsTouched(reassigned.values());
}

/** Put what was written under its orders and into its vital sets, at the end of a Bundle. */
export async function groupRecords(context: WriteContext): Promise<void> {
  const { client, scope, dryRun, touched, placement } = context;
  if (placement !== undefined && placement.orders.size > 0)
    await settleOrders(client, scope, placement.orders);
  const { observations, patients } = touched;
  if (patients.size === 0) return;
  // What another import groups at the same time could not be seen, and would be torn apart.
  if (dryRun === undefined) await lockGrouping(client, scope, patients);
  const foreign = await foreignLinks(client, scope, touched);
  for (const { type, element, ids } of foreign) context.refuseForeign(type, ids, element);
  // A dry run groups nothing: no report says what comes under which order.
  if (foreign.length > 0 || dryRun !== undefined) return;
  await groupInvestigations(client, scope, touched);
  if (observations.size > 0) await groupVitalSigns(client, scope, [...observations]);
}
