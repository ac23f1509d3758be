/** What the routes that publish an order, and list what was published of it, go by. Contract: PUB-1, PUB-2. */
import type { Discipline } from '../clinical/resources/discipline.ts';
import type { PublishRouteOptions } from '../publish/runs/publish.route.ts';
import { type EmitDependencies, orderSource } from './emit-investigation.ts';

export interface PublishedOrder
  extends Pick<PublishRouteOptions, 'what' | 'operation' | 'permission' | 'module'>,
    Pick<PublishRouteOptions['source'], 'kind' | 'placeOf'> {
  discipline: Discipline;
}

export function publishedOrder(
  deps: EmitDependencies,
  { discipline, kind, placeOf, ...told }: PublishedOrder,
): PublishRouteOptions {
  return { idName: 'orderId', ...told, source: { kind, placeOf, ...orderSource(deps, discipline) } };
}
