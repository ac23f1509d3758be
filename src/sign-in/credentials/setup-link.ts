/**
 * Setup links: a token in the fragment of a console page.
 * Contract: SIGN-IN-44, SIGN-IN-45.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { newOrganisationToken } from '../organisation-token.ts';
import { secondsAfter } from '../settings.ts';
import { deleteUnusedSetupLinks, insertSetupLink } from './setup-link.store.ts';

/** Beside the API: two segments up from `…/api/v1`, behind a path prefix of a proxy too. */
const PAGE = '../../console/set-password';

/**
 * A new link for an account; earlier ones stop working. The token stands in the fragment, which browsers do
 * not send to servers, so that it is in no log.
 */
export async function makeSetupLink(
  db: Queryable,
  link: { organisationId: string; accountId: string; publicBaseUrl: string; now: Date; ttlSeconds: number },
): Promise<string> {
  const { organisationId, accountId, now } = link;
  const { text, hash } = newOrganisationToken(organisationId);
  await deleteUnusedSetupLinks(db, { organisationId }, accountId);
  const expiresAt = secondsAfter(now, link.ttlSeconds);
  await insertSetupLink(db, { organisationId }, { tokenHash: hash, accountId, createdAt: now, expiresAt });
  return `${new URL(PAGE, `${link.publicBaseUrl}/`).href}#token=${text}`;
}
