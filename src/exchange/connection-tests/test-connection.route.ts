/** POST /exchange/connections/<connection_id>/test. Contract: EXC-49, ADM-71. */

import type { Route } from '../../platform/http/route.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { ConnectionParams } from '../connections/connection.schema.ts';
import { CONNECTION_ACCESS } from '../connections/connections.route.ts';
import type { ManageDependencies } from '../connections/manage-connections.ts';
import { ConnectionTestSchema } from './connection-test.schema.ts';
import { testConnection } from './test-connection.ts';

export function testConnectionRoute(deps: ManageDependencies): Route<Access> {
  return facilityRoute(CONNECTION_ACCESS, {
    docs: {
      operationId: 'testExchangeConnection',
      summary: 'Send a signed test request to the exchange',
      description:
        'The request is signed and sent as a delivery is, with the event connection.test and without patient data. It is not in the queue, and is not tried again. A connection is tested once at a time, and once in 5 seconds, by all processes together.',
      tag: 'Exchange',
    },
    params: ConnectionParams,
    responses: {
      200: { description: 'What came back, or why nothing did.', schema: ConnectionTestSchema },
      409: { description: 'The connection is disabled. Nothing was sent.' },
      429: {
        description:
          'It was tested less than 5 seconds ago, or is being tested. Wait for the seconds in `retry-after`.',
      },
    },
    handle: async ({ params }, context) => ({
      body: await testConnection(deps, context, params.connectionId),
    }),
  });
}
