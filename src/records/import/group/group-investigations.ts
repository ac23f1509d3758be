/**
 * Puts reports, studies and results under orders (docs/fhir-mapping.md, "Grouping"). An order is
 * made up where the source has none. What is decided follows from what is stored, so that the order in which
 * files arrive does not matter. Nothing is put under an order of another patient, whatever it refers to.
 * Contract: IN-17, IN-18, IN-20.
 */
import type { Discipline } from '../../../clinical/resources/discipline.ts';
import { categorised, orderDiscipline } from '../../../clinical/resources/discipline.ts';
import { setDisciplines, touchOrders } from '../../../investigations/place-parts.store.ts';
import { noteReplaced } from '../../../investigations/replaced-orders.store.ts';
import {
  partsOfReassigned,
  partsSharingOrders,
  resultsOf,
} from '../../../investigations/result-grouping.store.ts';
import { ordersNaming } from '../../../investigations/specimen.store.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { TouchedRecords } from '../map/resource-importer.ts';
import { orderEvidence } from '../write/order-disciplines.store.ts';
import { inBatches } from './batches.ts';
import { groupDocuments } from './group-documents.ts';
import { groupResults } from './group-results.ts';
import type { LeftOrders } from './move-parts.ts';

/** Records that are read beside those of the import, at each step: what is further away keeps the order it has. */
const LIMIT = 10_000;

export async function groupInvestigations(
  client: Client,
  scope: FacilityScope,
  touched: TouchedRecords,
): Promise<void> {
  const affected = new Set([...touched.orders, ...(await ordersNaming(client, scope, touched.specimens))]);
  const sharing = await partsSharingOrders(client, scope, touched, LIMIT);
  const apart = await partsOfReassigned(client, scope, touched.reassignedOrders, LIMIT);
  const reports = touched.reports.union(sharing.reports).union(apart.reports);
  const studies = touched.studies.union(sharing.studies).union(apart.studies);
  const observations = touched.observations.union(sharing.observations).union(apart.observations);
  const asked = { reports, studies, observations };
  const left: LeftOrders = new Map();
  const moved = await groupDocuments(client, scope, { asked, touched, affected, left });
  const listed = await inBatches([...touched.reports], (ids) => resultsOf(client, scope, ids, null));
  const following = moved.filter((id) => !touched.reports.has(id));
  const more = following.length === 0 ? [] : await resultsOf(client, scope, following, LIMIT);
  // They may be under no order that leads to their former panel.
  const former = [...touched.formerMembers].slice(0, LIMIT);
  const results = new Set([...observations, ...listed, ...more, ...former]);
  await groupResults(client, scope, {
    asked: results,
    touched: touched.observations,
    limit: LIMIT,
    affected,
    left,
  });
  const removed = await settleOrders(client, scope, affected);
  await noteReplaced(client, scope, new Map([...left].filter(([id]) => removed.has(id))));
}

/** Orders whose parts changed get their discipline, time and a new version; returns those that are removed. */
export async function settleOrders(
  client: Client,
  scope: FacilityScope,
  affected: ReadonlySet<string>,
): Promise<Set<string>> {
  const orderIds = [...affected].sort();
  await decideDisciplines(client, scope, orderIds);
  return touchOrders(client, scope, orderIds);
}

/** What an order's category says, else what its parts are, else what its code or its specimen says. */
async function decideDisciplines(
  client: Client,
  scope: FacilityScope,
  orderIds: readonly string[],
): Promise<void> {
  if (orderIds.length === 0) return;
  const decided = new Map<string, Discipline>();
  for (const order of await orderEvidence(client, scope, orderIds)) {
    const { id, discipline, code, hasSpecimen, ofParts } = order;
    const category = order.category ?? undefined;
    const next =
      categorised(category) ?? ofParts ?? orderDiscipline(category, code ?? undefined, hasSpecimen);
    if (next !== discipline) decided.set(id, next);
  }
  if (decided.size > 0) await setDisciplines(client, scope, decided);
}
