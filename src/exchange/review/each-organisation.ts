/** What a command asks of several organisations, one after the other. Contract: OPS-39. */
import type { Pool } from '../../platform/db/database.ts';
import { DomainError } from '../../platform/domain-error.ts';
import { requireOrganisation } from '../../tenancy/organisations/facilities.ts';
import { isWholeDatabase } from '../../tenancy/organisations/organisation-work.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { organisationsWithConnections } from '../connections/connection.store.ts';
import { requireConnection } from '../connections/named-connection.ts';
import { exchangeError } from '../errors.ts';
import type { DeliveryFilter } from './delivery.store.ts';
import { knownDeliveries } from './review.store.ts';

/** What an operator means: of one organisation, or of all. */
export interface OperatorFilter extends Omit<DeliveryFilter, 'facilityId'> {
  organisationId?: string | undefined;
}

/** The organisation that is named, or that of the connection that is named, or all that have connections. */
export async function organisations(
  db: Pool,
  { organisationId, connectionId }: Pick<OperatorFilter, 'organisationId' | 'connectionId'>,
): Promise<OrganisationScope[]> {
  const named = organisationId === undefined ? undefined : await requireOrganisation(db, organisationId);
  if (connectionId === undefined)
    return named === undefined
      ? (await organisationsWithConnections(db)).map((id) => ({ organisationId: id }))
      : [named];
  const { organisationId: its } = await requireConnection({ db }, connectionId);
  if (named !== undefined && named.organisationId !== its)
    throw exchangeError('bad_option', {
      problem: `Connection ${connectionId} is not of organisation ${organisationId}. Leave out --connection or --organisation.`,
    });
  return [{ organisationId: its }];
}

/** The deliveries that are named, of one organisation. */
interface FoundDeliveries extends OrganisationScope {
  ids: string[];
}

/**
 * Each delivery that is named is in one of the organisations: throws for one that is nowhere, or that may be in one that the
 * database refuses.
 */
export async function findDeliveries(
  db: Pool,
  filter: Pick<OperatorFilter, 'organisationId' | 'connectionId'> & { ids: readonly string[] },
): Promise<[FoundDeliveries, ...FoundDeliveries[]]> {
  const ids = [...new Set(filter.ids.map((id) => id.toLowerCase()))];
  const { found, failed } = await eachOrganisation(await organisations(db, filter), async (scope) => {
    const known = await knownDeliveries(db, scope, { ids });
    return known.size === 0 ? [] : [{ ...scope, ids: [...known] }];
  });
  const [first, ...others] = found;
  if (first !== undefined && ids.every((id) => found.some((some) => some.ids.includes(id))))
    return [first, ...others];
  if (failed.length > 0) throw exchangeError('delivery_not_read');
  throw exchangeError('unknown_delivery');
}

export interface EachAnswer<Found> {
  found: Found[];
  /** Ids of the organisations that the database refused. */
  failed: string[];
}

/**
 * Organisation by organisation: one whose part of the database does not answer keeps a command from telling of none of
 * the others (docs/adr/0133). Throws when the database itself is out of reach.
 */
export async function eachOrganisation<Scope extends OrganisationScope, Found>(
  scopes: readonly Scope[],
  ask: (scope: Scope) => Promise<readonly Found[]>,
): Promise<EachAnswer<Found>> {
  const answer: EachAnswer<Found> = { found: [], failed: [] };
  for (const scope of scopes)
    try {
      answer.found.push(...(await ask(scope)));
    } catch (error) {
      if (isWholeDatabase(error instanceof DomainError ? error.cause : error)) throw error;
      answer.failed.push(scope.organisationId);
    }
  return answer;
}
