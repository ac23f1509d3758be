/** GET /investigations/lab/orders and /investigations/imaging/orders (docs/lab.md, docs/imaging.md). Contract: FETCH-20. */
import { CODE_SCHEMAS, LIST_QUERY } from '../clinical/fetch/clinical.schema.ts';
import { ENCOUNTER_ID, ORDER_ID, PATIENT_ID } from '../clinical/fetch/fetched-examples.ts';
import type { CodedListDependencies } from '../clinical/fetch/list-of-patient.ts';
import { named } from '../platform/http/named-schema.ts';
import { pageSchema } from '../platform/http/paging.ts';
import type { Route } from '../platform/http/route.ts';
import { Type } from '../platform/json-schema.ts';
import { type Access, facilityRoute } from '../tenancy/callers/access.ts';
import { listOrders } from './list-orders.ts';

const OrderPageSchema = pageSchema(
  named(
    'ListedOrder',
    Type.Object({
      orderId: Type.String({ examples: [ORDER_ID] }),
      patientId: Type.String({ examples: [PATIENT_ID] }),
      encounterId: Type.Union([Type.String(), Type.Null()], { examples: [ENCOUNTER_ID] }),
      status: Type.String({ description: 'FHIR status of the order.', examples: ['completed'] }),
      ...CODE_SCHEMAS,
      orderedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        examples: ['2026-01-10T08:00:00Z'],
        description:
          'When the order was written. If that is not known, when it is due, else the time of its oldest part; a part that only has a month or a year counts from its beginning. null if none of these is known, or if the order itself only has a month or a year. If only the day is known, midnight at the facility.',
      }),
      orderedOn: Type.Optional(
        Type.String({ description: 'The date as the source wrote it, if it gave no time of day.' }),
      ),
    }),
  ),
);

const LISTS = {
  laboratory: { operationId: 'listLabOrders', module: 'lab', permission: 'investigations.lab.list' },
  imaging: { operationId: 'listImagingOrders', module: 'imaging', permission: 'investigations.imaging.list' },
} as const;

export function listOrdersRoute(deps: CodedListDependencies, discipline: keyof typeof LISTS): Route<Access> {
  const { operationId, module, permission } = LISTS[discipline];
  return facilityRoute(
    { permissions: [permission], module, purposeOfUse: 'default' },
    {
      docs: {
        operationId,
        summary: `List a patient's ${discipline} orders`,
        description: 'Newest first. Use it to find the ids.',
        tag: 'Investigations',
      },
      query: LIST_QUERY,
      responses: { 200: { description: 'One page.', schema: OrderPageSchema } },
      handle: async ({ query }, context) => ({
        body: await listOrders(deps, { discipline, ...query }, context),
      }),
    },
  );
}
