/** The routes that publish an order, and list what was published of it. Contract: PUB-1, PUB-2. */
import type { Discipline } from '../clinical/resources/discipline.ts';
import type { Route } from '../platform/http/route.ts';
import type { ListPublicationsDependencies } from '../publish/history/list-publications.ts';
import { type PublishRouteOptions, publicationsRoute, publishRoute } from '../publish/runs/publish.route.ts';
import type { Publisher } from '../publish/runs/publish.ts';
import type { Access } from '../tenancy/callers/access.ts';
import { type EmitDependencies, orderSource } from './emit-investigation.ts';

export interface PublishedOrder
  extends Pick<PublishRouteOptions, 'what' | 'operation' | 'permission' | 'module'>,
    Pick<PublishRouteOptions['source'], 'kind' | 'placeOf'> {
  discipline: Discipline;
}

export function publishOrderRoute(
  deps: EmitDependencies & { publisher: Publisher },
  published: PublishedOrder,
): Route<Access> {
  return publishRoute(deps, options(deps, published));
}

export function orderPublicationsRoute(
  deps: EmitDependencies & ListPublicationsDependencies,
  published: PublishedOrder,
): Route<Access> {
  return publicationsRoute(deps, options(deps, published));
}

function options(
  deps: EmitDependencies,
  { discipline, kind, placeOf, ...told }: PublishedOrder,
): PublishRouteOptions {
  return {
    idName: 'orderId',
    ...told,
    source: {
      kind,
      placeOf,
      ...orderSource(deps, discipline),
    },
  };
}
