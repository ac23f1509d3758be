/** GET /exchange/callbacks: what exchanges said, conflicts among it, for review (design 3.6). */
import Type from 'typebox';
import type { Pool } from '../platform/db/database.ts';
import type { CursorCodec } from '../platform/http/cursor.ts';
import { badRequest } from '../platform/http/errors.ts';
import type { Route } from '../platform/http/route.ts';
import { isUuid } from '../platform/uuid.ts';
import { type Access, facilityRoute } from '../tenancy/access.ts';
import { listCallbackPage } from './list-callbacks.ts';

const DEFAULT_LIMIT = 20;
const Nullable = Type.Union([Type.String(), Type.Null()]);
const CallbackSchema = Type.Object({
  id: Type.String(),
  connectionId: Type.String(),
  deliveryId: Type.String(),
  patientId: Type.String(),
  facilityId: Type.String(),
  status: Type.String(),
  assignedId: Nullable,
  message: Nullable,
  outcome: Type.String({ description: 'applied, or conflict: another id was assigned already' }),
  receivedAt: Type.String(),
  correlationId: Type.String(),
});

export function listCallbacksRoute(deps: { db: Pool; cursors: CursorCodec }): Route<Access> {
  return facilityRoute(
    { permissions: ['exchange.deliveries.read'], module: 'exchange', purposeOfUse: 'none' },
    {
      docs: {
        operationId: 'listExchangeCallbacks',
        summary: 'Callbacks about deliveries of the facility, newest first',
        description: 'With `outcome=conflict`, those that are kept for review.',
        tag: 'Exchange',
      },
      query: Type.Object({
        connection: Type.Optional(Type.String()),
        outcome: Type.Optional(
          Type.Unsafe<'applied' | 'conflict'>({ type: 'string', enum: ['applied', 'conflict'] }),
        ),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: DEFAULT_LIMIT })),
        cursor: Type.Optional(Type.String()),
      }),
      responses: {
        200: {
          description: 'A page. nextCursor is null on the last one.',
          schema: Type.Object({ items: Type.Array(CallbackSchema), nextCursor: Nullable }),
        },
      },
      handle: async ({ query }, { scope }) => {
        const { connection, outcome, limit = DEFAULT_LIMIT, cursor } = query;
        if (connection !== undefined && !isUuid(connection)) throw badRequest('connection must be a UUID.');
        const page = await listCallbackPage(deps, scope, { connection, outcome, limit, cursor });
        const items = page.items.map((callback) => ({
          ...callback,
          receivedAt: callback.receivedAt.toISOString(),
        }));
        return { body: { ...page, items } };
      },
    },
  );
}
