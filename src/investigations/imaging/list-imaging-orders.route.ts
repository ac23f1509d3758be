/** GET /investigations/imaging/orders (docs/imaging.md). Contract: FETCH-20. */
import { LIST_QUERY } from '../../clinical/fetch/clinical.schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { type ListOrdersDependencies, listOrders } from '../list-orders.ts';
import { OrderPageSchema } from '../order-list.schema.ts';

export function listImagingOrdersRoute(deps: ListOrdersDependencies): Route<Access> {
  return facilityRoute(
    { permissions: ['investigations.imaging.list'], module: 'imaging', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'listImagingOrders',
        summary: "List a patient's imaging orders",
        description: 'Newest first. Use it to find the ids.',
        tag: 'Investigations',
      },
      query: LIST_QUERY,
      responses: { 200: { description: 'One page.', schema: OrderPageSchema } },
      handle: async ({ query }, context) => ({
        body: await listOrders(deps, { discipline: 'imaging', ...query }, context),
      }),
    },
  );
}
