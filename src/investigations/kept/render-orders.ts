/** Renders orders in the background once they have changed, so that also their first fetch reads a text (docs/adr/0153). */
import { listOrganisations } from '../../tenancy/organisations/organisation.store.ts';
import { forEachOrganisation, type WorkContext } from '../../tenancy/organisations/organisation-work.ts';
import { renderChangedOrders } from './order-rendering.store.ts';

/** One call ends after this, so that a process that stops waits for no more. The next call goes on. */
const LONGEST_MS = 10_000;

/** To be called about once a minute; safe to run on several processes at once. Each organisation has its turn. */
export async function renderOrders(
  { db, work }: WorkContext,
  { longestMs = LONGEST_MS }: { longestMs?: number } = {},
): Promise<void> {
  const until = performance.now() + longestMs;
  let due = (await listOrganisations(db)).map(({ id }) => id);
  while (due.length > 0 && performance.now() < until) {
    const more: string[] = [];
    await forEachOrganisation(work, due, async (organisationId) => {
      if (performance.now() >= until) return false;
      if (await renderChangedOrders(db, organisationId)) more.push(organisationId);
      return true;
    });
    due = more;
  }
}
