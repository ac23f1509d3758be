/** Checks the public address of the service: its form, and whether this service answers there. */
import type { Queryable } from '../../platform/db/database.ts';
import { isLoopback } from '../../sign-in/console/console-address.ts';
import { KEYS_MAX_AGE_SECONDS } from '../../sign-in/keys/rotate-signing-key.ts';
import { readSigningKeys } from '../../sign-in/keys/signing-key.store.ts';
import { secondsAfter } from '../../sign-in/settings.ts';
import type { Config } from '../config/config.ts';
import { readServiceAddress } from '../serving/service-address.store.ts';
import { type CheckResult, failed, notApplicable, ok, warning } from './finding.ts';

const ANSWER_MS = 5_000;

/** `running`: processes of the service are connected to the database. */
export async function checkAddress(owner: Queryable, config: Config, running: boolean): Promise<CheckResult> {
  const address = config.publicBaseUrl ?? (await readServiceAddress(owner));
  if (address === undefined)
    return notApplicable(
      'The API has not run yet, and PUBLIC_BASE_URL is not set. There is no address to check.',
    );
  const url = new URL(address);
  if (running) {
    const fault = await callFault(owner, address, config.publicBaseUrl !== undefined);
    if (fault !== undefined) return fault;
  }
  if (url.protocol === 'http:' && !isLoopback(url))
    return warning(
      `${address} is not https: tokens and records can be read on the way.`,
      'Put a proxy with TLS in front, and set PUBLIC_BASE_URL to its https address.',
    );
  return ok(
    `${address} ${running ? 'answers, and is this service' : 'is valid. The service does not run, so it was not called'}.`,
  );
}

/** The public keys tell this service from another one at that address. They are behind the path prefix of a proxy, too. */
async function callFault(
  owner: Queryable,
  address: string,
  isSet: boolean,
): Promise<CheckResult | undefined> {
  const fault = (what: string) =>
    failed(
      `${address} ${what}, although the service runs.`,
      isSet
        ? 'Correct PUBLIC_BASE_URL, DNS or the proxy in front, or start a process with the API.'
        : 'The API that was started last had this address. Start it again, or set PUBLIC_BASE_URL to the address of one that runs.',
    );
  try {
    const answer = await fetch(new URL('../../.well-known/jwks.json', `${address}/`), {
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (!answer.ok) return fault(`answers ${answer.status} at /.well-known/jwks.json`);
    const kids = keyIdsIn(await answer.text());
    const own = await readSigningKeys(owner);
    if (own.some(({ kid }) => kids.includes(kid))) return undefined;
    const since = secondsAfter(new Date(), -KEYS_MAX_AGE_SECONDS);
    // Where an older one is left, every process has that one.
    if ((own.at(-1)?.createdAt ?? since) <= since) return fault('is another service');
    return warning(
      `${address} does not show the keys of access tokens in the database. These keys were made less than ${KEYS_MAX_AGE_SECONDS} s ago.`,
      'A process may not have read them yet. Run the doctor again in half a minute.',
    );
  } catch (error) {
    const { cause, name } = error as { cause?: { code?: string }; name: string };
    return fault(`does not answer (${cause?.code ?? name})`);
  }
}

/** None where the answer is no key set, such as the page of a proxy. */
function keyIdsIn(text: string): unknown[] {
  try {
    const { keys } = JSON.parse(text) as { keys: { kid?: unknown }[] };
    return keys.map(({ kid }) => kid);
  } catch {
    return [];
  }
}
