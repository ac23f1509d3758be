/** Renders orders in the background once they have changed, so that also their first fetch reads a text (docs/adr/0153). */
import { listOrganisations } from '../../tenancy/organisations/organisation.store.ts';
import { forEachOrganisation, type WorkContext } from '../../tenancy/organisations/organisation-work.ts';
import { renderChangedOrders } from './order-texts.store.ts';

/** Batches of one organisation in one call. The next call goes on. */
const BATCHES_AT_MOST = 250;

/** To be called about once a minute; safe to run on several processes at once. */
export async function renderOrders({ db, work }: WorkContext): Promise<void> {
  const organisations = await listOrganisations(db);
  await forEachOrganisation(
    work,
    organisations.map(({ id }) => id),
    async (organisationId) => {
      for (let batches = 0; batches < BATCHES_AT_MOST; batches += 1)
        if (!(await renderChangedOrders(db, organisationId))) return;
    },
  );
}
