/** Puts results under orders, once reports and studies have theirs. */
import { knownOrders } from '../../../investigations/grouping.store.ts';
import { writeMadeUpOrders } from '../../../investigations/place-parts.store.ts';
import {
  type GroupedObservation,
  observationsToGroup,
  type PanelOf,
  panelsOf,
  resultsUnder,
} from '../../../investigations/result-grouping.store.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import { assignResults, gatheredId, PANEL_LEVELS } from './assign-orders.ts';
import { batchesOf, inBatches } from './batches.ts';
import { gatheredOrders } from './made-up-orders.ts';
import { type LeftOrders, move } from './move-parts.ts';

type Loaded = Map<string, GroupedObservation>;

/**
 * Put these results under their orders, with the members of those that are panels; at most `limit` more than asked
 * for. Orders that lost a result, got one, or show one that changed join `affected`.
 */
export async function groupResults(
  client: Client,
  scope: FacilityScope,
  request: {
    asked: ReadonlySet<string>;
    touched: ReadonlySet<string>;
    limit: number;
    affected: Set<string>;
    left: LeftOrders;
  },
): Promise<void> {
  const { asked, touched, limit, affected, left } = request;
  const load = (ids: readonly string[]) => inBatches(ids, (some) => observationsToGroup(client, scope, some));
  const below = await withMembers([...asked], limit, load);
  const placed = [...below.values()];
  const { all, panels } = await withPanels(below, load, (ids) => panelsOf(client, scope, ids));
  const observations = [...all.values()];
  const orderIds = new Set(
    observations.flatMap((observation) => [
      gatheredId(observation),
      ...observation.reportOrderIds,
      ...[observation.basedOnId, observation.orderId].filter((id) => id !== null),
    ]),
  );
  const orders = await inBatches([...orderIds], (ids) => knownOrders(client, scope, ids));
  const known = new Map(orders.map((order) => [order.id, order]));
  const patientOf = (id: string) => known.get(id)?.patientId;
  const assigned = assignResults({ observations, panels }, patientOf);
  const under = Map.groupBy(observations, ({ id }) => assigned.get(id) ?? '');
  const made = gatheredOrders(under).filter(({ id }) => !known.has(id));
  for (const some of batchesOf(made)) await writeMadeUpOrders(client, scope, some);
  // Members come last: what they are members of tells where the order leads that both leave.
  const memberLast = ({ id }: GroupedObservation) => `${panels.has(id) ? 1 : 0}${id}`;
  const rows = placed.sort((a, b) => (memberLast(a) < memberLast(b) ? -1 : 1));
  const placing = { assigned, patientOf, affected, left };
  const moved = new Set(
    await move(client, scope, { table: 'observation', rows, changed: touched, ...placing }),
  );
  const ofReports = new Set(observations.flatMap(({ reportOrderIds }) => reportOrderIds));
  const changed = [...affected].filter((id) => known.get(id)?.madeUp === true && !ofReports.has(id));
  await writeGathered(client, scope, changed);
  // A result that two reports list is shown by both of their orders, and names the one that it is under.
  for (const { id, reportOrderIds } of placed)
    if (touched.has(id) || moved.has(id)) for (const orderId of reportOrderIds) affected.add(orderId);
}

/** These results and the panels above them, up to the last level that counts, and the panel that each is a member of. */
async function withPanels(
  below: Loaded,
  load: (ids: readonly string[]) => Promise<GroupedObservation[]>,
  panelsOfSome: (ids: readonly string[]) => Promise<readonly PanelOf[]>,
): Promise<{ all: Loaded; panels: Map<string, string> }> {
  const all: Loaded = new Map(below);
  const panels = new Map<string, string>();
  let level = [...all.keys()];
  for (let up = 0; up <= PANEL_LEVELS && level.length > 0; up += 1) {
    const found = await inBatches(level, panelsOfSome);
    for (const { memberId, panelId } of found) panels.set(memberId, panelId);
    level = [...new Set(found.map(({ panelId }) => panelId))].filter((id) => !all.has(id));
    for (const panel of await load(level)) all.set(panel.id, panel);
  }
  return { all, panels };
}

/** Made-up orders that were there before take their content from all results that are under them now. */
async function writeGathered(
  client: Client,
  scope: FacilityScope,
  orderIds: readonly string[],
): Promise<void> {
  for (const some of batchesOf(orderIds)) {
    const results = await resultsUnder(client, scope, some);
    const orders = gatheredOrders(Map.groupBy(results, ({ orderId }) => orderId ?? ''));
    if (orders.length > 0) await writeMadeUpOrders(client, scope, orders);
  }
}

/** These, and the members of those that are panels, down to the last level that counts. */
async function withMembers(
  ids: readonly string[],
  limit: number,
  load: (ids: readonly string[]) => Promise<GroupedObservation[]>,
): Promise<Loaded> {
  const loaded: Loaded = new Map();
  const most = ids.length + limit;
  let level = ids;
  for (let down = 0; down <= PANEL_LEVELS && level.length > 0; down += 1) {
    const members = new Set<string>();
    for (const observation of await load(level)) {
      loaded.set(observation.id, observation);
      for (const id of observation.memberIds) members.add(id);
    }
    level = [...members].filter((id) => !loaded.has(id)).slice(0, Math.max(0, most - loaded.size));
  }
  return loaded;
}
