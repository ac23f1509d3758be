/**
 * Gives a connection new secrets, and decides from when each is used (docs/adr/0088).
 * Contract: EXC-46, EXC-47, EXC-57.
 */
import type { Client, Pool } from '../../platform/db/database.ts';
import { type DatabaseTime, readDatabaseTime } from '../../platform/db/database-time.ts';
import { type Author, OPERATOR } from '../../tenancy/administration/author.ts';
import { exchangeError } from '../errors.ts';
import { waitingDueNow } from '../queue/connection-state.store.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import { inTurn, type RequireRight } from './change-connection.ts';
import { callbackUrl, type RotatedSecrets } from './connection.schema.ts';
import {
  type ActiveFrom,
  activateOutboundSecret,
  endCallbackSecrets,
  insertSecret,
  type SecretDirection,
  succeedOutboundSecret,
} from './connection-secret.store.ts';
import { makeConnectionSecret } from './connection-secret.ts';
import type { ConnectionDependencies } from './create-connection.ts';
import { recordConnection } from './record-connection.ts';

export interface SecretRotation {
  /** Undefined: both. */
  direction?: SecretDirection;
  /** For how long callbacks under the old secret are taken. Zero: it ends at once, and the old outbound one too. */
  overlapSeconds: number;
  /** From when the new outbound secret signs. Undefined: from when it is activated. */
  activate?: 'now' | Date;
}

export const DEFAULT_OVERLAP_SECONDS = 86_400;
const MAX_WAIT_MS = 90 * 86_400_000;

type RotateDependencies = Pick<ConnectionDependencies, 'db' | 'keys' | 'now' | 'publicBaseUrl'> & {
  /** Default: the operator. */
  by?: Author;
  requireRight?: RequireRight;
  /** Default: that of the database. */
  databaseTime?: DatabaseTime;
};

/** Throws `bad_connection_setting` for a time that is not valid. The connection must exist. */
export async function rotateSecret(
  deps: RotateDependencies,
  key: ConnectionKey,
  rotation: SecretRotation,
): Promise<RotatedSecrets> {
  const activeFrom = activationOf(rotation, deps.now);
  const { direction, overlapSeconds } = rotation;
  return inTurn(deps.db, key, deps, async (client, { name, facilityIds }) => {
    const after = { direction: direction ?? 'both', overlapSeconds };
    const action = 'connection.rotate-secret';
    await recordConnection(client, key, deps.by ?? OPERATOR, { action, name, facilityIds, after });
    return {
      id: key.connectionId,
      ...(direction === 'callback' ? {} : await rotateOutbound(client, deps, { key, activeFrom })),
      ...(direction === 'outbound' ? {} : await rotateCallback(client, deps, { key, overlapSeconds })),
      callbackUrl: callbackUrl(deps.publicBaseUrl, key.connectionId),
    };
  });
}

function activationOf({ direction, overlapSeconds, activate }: SecretRotation, now: Date): ActiveFrom {
  if (activate !== undefined && direction === 'callback')
    throw exchangeError('bad_connection_setting', {
      problem: {
        en: 'Only an outbound secret can be activated. A new callback secret works at once. Leave out the time to activate it.',
        fr: 'Seul un secret d’envoi peut être activé. Un nouveau secret de réponse vaut aussitôt. Omettez le moment de l’activation.',
      },
    });
  if (activate === undefined) return overlapSeconds === 0 ? 'now' : 'infinity';
  if (activate === 'now') return 'now';
  const waitMs = activate.getTime() - now.getTime();
  if (waitMs <= 0)
    throw exchangeError('bad_connection_setting', {
      problem: {
        en: 'The time to activate the secret is in the past. Give a time in the future, or activate the secret now.',
        fr: 'Le moment de l’activation du secret est passé. Donnez un moment à venir, ou activez le secret maintenant.',
      },
    });
  if (waitMs > MAX_WAIT_MS)
    throw exchangeError('bad_connection_setting', {
      problem: {
        en: 'The time to activate the secret must be within 90 days.',
        fr: 'L’activation du secret doit avoir lieu dans les 90 jours.',
      },
    });
  return activate.toISOString();
}

async function rotateOutbound(
  client: Client,
  { keys, now }: RotateDependencies,
  { key, activeFrom }: { key: ConnectionKey; activeFrom: ActiveFrom },
): Promise<Partial<RotatedSecrets>> {
  const { text, stored } = await makeConnectionSecret({ db: client, keys }, key, 'outbound');
  const succeeded = await succeedOutboundSecret(client, key, { secret: stored, createdAt: now, activeFrom });
  if (activeFrom === 'now') await waitingDueNow(client, key);
  return {
    outboundSecret: text,
    outboundActiveFrom: succeeded.activeFrom?.toISOString() ?? null,
    ...(succeeded.removed ? { discardedWaiting: true } : {}),
  };
}

/** The overlap ends by the clock that callbacks are judged by (docs/adr/0091). */
async function rotateCallback(
  client: Client,
  { keys, now, databaseTime }: RotateDependencies,
  { key, overlapSeconds }: { key: ConnectionKey; overlapSeconds: number },
): Promise<Partial<RotatedSecrets>> {
  const { text, stored } = await makeConnectionSecret({ db: client, keys }, key, 'callback');
  const rotatedAt = await readDatabaseTime(client, databaseTime);
  const goodUntil = new Date(rotatedAt.getTime() + overlapSeconds * 1_000);
  await endCallbackSecrets(client, key, goodUntil);
  await insertSecret(client, key, stored, now);
  return { callbackSecret: text, oldGoodUntil: goodUntil.toISOString() };
}

/** Let the new outbound secret sign from the next request on. Throws `no_waiting_secret`. The connection must exist. */
export async function activateSecret(
  db: Pool,
  key: ConnectionKey,
  { by = OPERATOR, requireRight }: Pick<RotateDependencies, 'by' | 'requireRight'> = {},
): Promise<void> {
  await inTurn(db, key, { requireRight }, async (client, { name, facilityIds }) => {
    if (!(await activateOutboundSecret(client, key))) throw exchangeError('no_waiting_secret');
    await waitingDueNow(client, key);
    const action = 'connection.activate-secret';
    await recordConnection(client, key, by, { action, name, facilityIds, after: {} });
  });
}
