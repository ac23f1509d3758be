/** GET /exchange/callbacks: what exchanges said, conflicts among it, for review. Contract: EXC-40. */
import type { Static } from 'typebox';
import { requireUuid } from '../../platform/http/input.ts';
import { named } from '../../platform/http/named-schema.ts';
import { mapPage, onePage, PAGE_PARAMETERS } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice, Instant, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import type { TracedListDependencies } from '../../privacy/authorise-access.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import type { ListedCallback } from './callback.store.ts';
import { listCallbackPage } from './list-callbacks.ts';

const CallbackSchema = named(
  'ReceivedCallback',
  Type.Object(
    {
      id: Type.String(),
      connectionId: Type.String(),
      deliveryId: Type.String(),
      patientId: NullableText('If the patient refuses the purpose, this, assignedId and message are null.'),
      facilityId: Type.String(),
      status: Type.String(),
      assignedId: NullableText(),
      message: NullableText(),
      outcome: Type.String({
        description: '`applied`, or `conflict` if the exchange had assigned another id before.',
      }),
      receivedAt: Instant(),
      correlationId: Type.String(),
    },
    {
      examples: [
        {
          id: '01a1fc08-5a10-7c31-8d52-41f09a1b7e66',
          connectionId: '906fa990-12a1-4f92-a7c1-2daa3aaee448',
          deliveryId: '01a1fc08-424a-7d97-b9c6-c8abb2ae8675',
          patientId: 'b8a1f6d2-54c7-4e0b-8f19-2c3d4e5f6a7b',
          facilityId: '1ad45065-64ba-4128-b0b5-1666625efdaf',
          status: 'accepted',
          assignedId: 'HIE-000042',
          message: null,
          outcome: 'applied',
          receivedAt: '2026-01-10T08:00:05.310Z',
          correlationId: '6f1c2c2e-6d7e-4b1c-9d53-0a4f6f0c1b7d',
        },
      ],
    },
  ),
);

export function listCallbacksRoute(deps: TracedListDependencies): Route<Access> {
  return facilityRoute(
    { permissions: ['exchange.deliveries.read'], module: 'exchange', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'listExchangeCallbacks',
        summary: 'List callbacks about deliveries of the facility',
        description:
          'Newest first. `outcome=conflict` lists those that are kept for review. The service enters each patient shown in that ' +
          "patient's access log. It does not name a patient who refuses the purpose.",
        tag: 'Exchange',
      },
      query: Type.Object({
        connection: Type.Optional(Type.String({ description: 'UUID of a connection: only its callbacks.' })),
        outcome: Type.Optional(Choice(['applied', 'conflict'])),
        status: Type.Optional(Choice(['accepted', 'rejected'])),
        ...PAGE_PARAMETERS,
      }),
      responses: onePage(CallbackSchema),
      handle: async ({ query }, context) => {
        requireUuid('connection', query.connection);
        const { mayShow, ...found } = await listCallbackPage(deps, context, query);
        return { body: mapPage(found, (item) => callbackView(item, mayShow(item))) };
      },
    },
  );
}

function callbackView(callback: ListedCallback, mayShow: boolean): Static<typeof CallbackSchema> {
  const { organisationId: _organisationId, refusedPurposes: _refusedPurposes, ...view } = callback;
  return mayShow ? view : { ...view, patientId: null, assignedId: null, message: null };
}
