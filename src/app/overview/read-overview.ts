/** What somebody should look at, as far as the permissions of the caller go. Contract: ADM-52, ADM-53. */
import type { Queryable } from '../../platform/db/database.ts';
import { listTargets } from '../../publish/history/list-targets.ts';
import type { Publisher } from '../../publish/runs/publish.ts';
import { USER_TYPES, type UserType } from '../../sign-in/accounts/account.store.ts';
import { MANAGING } from '../../sign-in/administration/managed-account.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import type { Caller } from '../../tenancy/callers/caller.ts';
import type { Module } from '../../tenancy/organisations/modules.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { listUnmapped } from '../../terminology/unmapped/unmapped.store.ts';
import {
  countAccounts,
  countHeldDeliveries,
  countOpenBreakers,
  countRejectedImports,
  MOST,
} from './attention.store.ts';

export interface Attention {
  kind: AttentionKind;
  count: number;
  /** There are more than `count`. */
  more: boolean;
  /** Only for accounts: their types. */
  userTypes?: readonly UserType[];
}

export interface OverviewDependencies {
  db: Queryable;
  publisher: Pick<Publisher, 'stateOf'>;
}

interface Question {
  /** Any one of these. */
  permissions: readonly string[];
  module?: Module;
  count(deps: OverviewDependencies, scope: FacilityScope, caller: Caller): Promise<number | CountByType>;
}

type CountByType = ReadonlyMap<UserType, number>;

const QUESTIONS = {
  'held-deliveries': {
    permissions: ['exchange.deliveries.read'],
    module: 'exchange',
    count: ({ db }, scope) => countHeldDeliveries(db, scope),
  },
  'exchanges-down': {
    permissions: ['exchange.connections.manage'],
    module: 'exchange',
    count: ({ db }, scope) => countOpenBreakers(db, scope),
  },
  'failing-targets': {
    permissions: ['publish.publications.read'],
    module: 'publish',
    count: countFailingTargets,
  },
  'rejected-imports': {
    permissions: ['records.import'],
    module: 'patients',
    count: ({ db }, scope) => countRejectedImports(db, scope),
  },
  'unmapped-codes': {
    permissions: ['terminology.maps.read', 'terminology.maps.manage'],
    count: async ({ db }, scope) =>
      (await listUnmapped(db, scope, { facilityId: scope.facilityId, limit: MOST + 1 })).length,
  },
  'accounts-must-change-password': accountQuestion('password-change'),
  'accounts-require-password-setup': accountQuestion('password-setup'),
} satisfies Readonly<Record<string, Question>>;
export type AttentionKind = keyof typeof QUESTIONS;
export const ATTENTION_KINDS = Object.keys(QUESTIONS) as AttentionKind[];

function accountQuestion(waitsFor: 'password-change' | 'password-setup'): Question {
  return {
    permissions: Object.values(MANAGING),
    async count({ db }, scope, { permissions }) {
      const userTypes = USER_TYPES.filter((type) => permissions.has(MANAGING[type]));
      const counts = await Promise.all(
        userTypes.map((userType) => countAccounts(db, scope, { userType, waitsFor })),
      );
      return new Map(userTypes.map((type, index) => [type, counts[index] ?? 0]));
    },
  };
}

/** Enabled targets that failed last, or that are left alone now. */
async function countFailingTargets(deps: OverviewDependencies, scope: FacilityScope): Promise<number> {
  const targets = await listTargets(deps, scope);
  return targets.filter(
    ({ enabled, state, lastSuccessAt, lastFailure }) =>
      enabled &&
      (state !== 'closed' ||
        (lastFailure !== null && (lastSuccessAt === null || lastFailure.at > lastSuccessAt))),
  ).length;
}

/** Only what there is something of. */
export async function readOverview(
  deps: OverviewDependencies,
  { scope, caller }: Pick<FacilityContext, 'scope' | 'caller'>,
): Promise<Attention[]> {
  const modules = caller.facilities.get(scope.facilityId)?.modules;
  const asked = ATTENTION_KINDS.filter((kind) => {
    const { permissions, module }: Question = QUESTIONS[kind];
    return (
      permissions.some((one) => caller.permissions.has(one)) &&
      (module === undefined || modules?.has(module) === true)
    );
  });
  const counts = await Promise.all(asked.map((kind) => QUESTIONS[kind].count(deps, scope, caller)));
  return asked.map((kind, index) => attention(kind, counts[index] ?? 0)).filter(({ count }) => count > 0);
}

function attention(kind: AttentionKind, counted: number | CountByType): Attention {
  if (typeof counted === 'number') return { kind, count: Math.min(counted, MOST), more: counted > MOST };
  const found = [...counted].filter(([, count]) => count > 0);
  const all = found.reduce((sum, [, count]) => sum + count, 0);
  return { ...attention(kind, all), userTypes: found.map(([type]) => type) };
}
