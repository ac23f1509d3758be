/** POST and GET /investigations/lab/orders/<lab_order_id>/clinical/publish-fhir. Contract: PUB-1. */
import type { Route } from '../../platform/http/route.ts';
import type { ListPublicationsDependencies } from '../../publish/history/list-publications.ts';
import {
  type PublishRouteOptions,
  publicationsRoute,
  publishRoute,
} from '../../publish/runs/publish.route.ts';
import type { Publisher } from '../../publish/runs/publish.ts';
import type { Access } from '../../tenancy/callers/access.ts';
import {
  type EmitDependencies,
  loadLabOrderResources,
  orderChangedSince,
  replacementOf,
} from '../emit-investigation.ts';
import { labPlace } from './fetch-lab-order.ts';

export function publishLabOrderRoute(deps: EmitDependencies & { publisher: Publisher }): Route<Access> {
  return publishRoute(deps, options(deps));
}

export function listLabOrderPublicationsRoute(
  deps: EmitDependencies & ListPublicationsDependencies,
): Route<Access> {
  return publicationsRoute(deps, options(deps));
}

function options(deps: EmitDependencies): PublishRouteOptions {
  return {
    idName: 'orderId',
    what: 'a laboratory order, its results and its reports',
    operation: 'LabOrder',
    tag: 'Publishing',
    permission: 'investigations.lab.release',
    module: 'lab',
    source: {
      kind: 'lab-order',
      name: 'The laboratory order',
      resourceType: 'ServiceRequest',
      findReplacement: (scope, id) => replacementOf(deps, scope, id),
      load: (scope, id) => loadLabOrderResources(deps, scope, id),
      changedSince: (scope, id, version) =>
        orderChangedSince(deps.db, scope, { orderId: id, discipline: 'laboratory', version }),
      placeOf: labPlace,
    },
  };
}
