/** GET /overview and GET /overview/activity. Contract: ADM-52, ADM-55. */

import type { Queryable } from '../../platform/db/database.ts';
import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice, Instant } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { UserTypeSchema } from '../../sign-in/administration/account.schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { OVERVIEW_PERMISSIONS } from './overview-permissions.ts';
import { ACTIVITY_SERIES, readActivitySeries } from './read-activity.ts';
import { ATTENTION_KINDS, type OverviewDependencies, readOverview } from './read-overview.ts';

const ACCESS = { permissions: OVERVIEW_PERMISSIONS, purposeOfUse: 'none' } as const;

const AttentionSchema = named(
  'AttentionItem',
  Type.Object({
    kind: Choice(ATTENTION_KINDS),
    count: Type.Integer({ description: 'Counted up to 1,000.' }),
    more: Type.Boolean({ description: 'true: there are more than count.' }),
    userTypes: Type.Optional(Type.Array(UserTypeSchema, { description: 'Only for accounts: their types.' })),
  }),
);

export function overviewRoute(deps: OverviewDependencies): Route<Access> {
  return facilityRoute(ACCESS, {
    docs: {
      operationId: 'readOverview',
      summary: 'What somebody should look at, at the facility',
      description:
        'You see a kind if you have its permission and its module is on. Kinds with nothing to look at are left out.',
      tag: 'Overview',
    },
    responses: {
      200: {
        description: 'What there is to look at.',
        schema: named(
          'Overview',
          Type.Object(
            { attention: Type.Array(AttentionSchema) },
            { examples: [{ attention: [{ kind: 'held-deliveries', count: 3, more: false }] }] },
          ),
        ),
      },
    },
    handle: async (_request, context) => ({ body: { attention: await readOverview(deps, context) } }),
  });
}

const SeriesSchema = named(
  'ActivitySeries',
  Type.Object({
    name: Choice(ACTIVITY_SERIES),
    points: Type.Array(Type.Integer(), { description: 'One number for each hour, the oldest first.' }),
  }),
);

export function activityRoute({ db }: { db: Queryable }): Route<Access> {
  return facilityRoute(ACCESS, {
    docs: {
      operationId: 'readActivity',
      summary: 'How much happened at the facility, by the hour',
      description:
        'calls: answered calls; calls-refused and calls-failed are those of them that were answered 4xx and 5xx. The numbers are a few seconds old.',
      tag: 'Overview',
    },
    query: Type.Object({
      hours: Type.Optional(
        Type.Unsafe<24 | 168>({
          type: 'integer',
          enum: [24, 168],
          default: 24,
          description: 'How many hours, the one that runs included.',
        }),
      ),
    }),
    responses: {
      200: {
        description: 'The series.',
        schema: named(
          'Activity',
          Type.Object(
            {
              from: Instant('When the first hour began.'),
              to: Instant('When the last hour ends.'),
              stepSeconds: Type.Integer(),
              series: Type.Array(SeriesSchema),
            },
            {
              examples: [
                {
                  from: '2026-01-09T12:00:00.000Z',
                  to: '2026-01-10T12:00:00.000Z',
                  stepSeconds: 3600,
                  series: [{ name: 'calls', points: [...Array(23).fill(0), 12] }],
                },
              ],
            },
          ),
        ),
      },
    },
    handle: async ({ query: { hours = 24 } }, { scope, now }) => ({
      body: await readActivitySeries(db, scope, { hours, now }),
    }),
  });
}
