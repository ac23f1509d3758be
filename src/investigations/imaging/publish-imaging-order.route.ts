/** POST and GET /investigations/imaging/orders/<imaging_order_id>/clinical/publish-fhir. Contract: PUB-2. */
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
  loadImagingOrderResources,
  orderChangedSince,
  replacementOf,
} from '../emit-investigation.ts';
import { imagingPlace } from './fetch-imaging-order.ts';

export function publishImagingOrderRoute(deps: EmitDependencies & { publisher: Publisher }): Route<Access> {
  return publishRoute(deps, options(deps));
}

export function listImagingOrderPublicationsRoute(
  deps: EmitDependencies & ListPublicationsDependencies,
): Route<Access> {
  return publicationsRoute(deps, options(deps));
}

function options(deps: EmitDependencies): PublishRouteOptions {
  return {
    idName: 'orderId',
    what: 'an imaging order, its studies and its reports',
    operation: 'ImagingOrder',
    tag: 'Publishing',
    permission: 'investigations.imaging.write',
    module: 'imaging',
    source: {
      kind: 'imaging-order',
      name: 'The imaging order',
      resourceType: 'ServiceRequest',
      findReplacement: (scope, id) => replacementOf(deps, scope, id),
      load: (scope, id) => loadImagingOrderResources(deps, scope, id),
      changedSince: (scope, id, version) =>
        orderChangedSince(deps.db, scope, { orderId: id, discipline: 'imaging', version }),
      placeOf: imagingPlace,
    },
  };
}
