/**
 * POST and GET /investigations/lab/orders/<lab_order_id>/clinical/publish-fhir, and the same of imaging orders.
 * Contract: PUB-1, PUB-2.
 */
import type { PublishRouteOptions } from '../publish/runs/publish.route.ts';
import { type EmitDependencies, orderSource } from './emit-investigation.ts';
import type { FetchedDiscipline } from './investigation.ts';

const PUBLISHES = {
  laboratory: {
    what: 'a laboratory order, its results and its reports',
    operation: 'LabOrder',
    permission: 'investigations.lab.release',
    module: 'lab',
  },
  imaging: {
    what: 'an imaging order, its studies and its reports',
    operation: 'ImagingOrder',
    permission: 'investigations.imaging.write',
    module: 'imaging',
  },
} as const;

export function publishedOrder(deps: EmitDependencies, discipline: FetchedDiscipline): PublishRouteOptions {
  return { idName: 'orderId', ...PUBLISHES[discipline], source: orderSource(deps, discipline) };
}
