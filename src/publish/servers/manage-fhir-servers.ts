/** What the operator does with FHIR servers: make, change, switch, remove (docs/publish.md). Contract: PUB-55. */
import { randomUUID } from 'node:crypto';
import { type SealedSecret, sealSecret } from '../../outbound/sealed-secret.ts';
import { shareDataKeys } from '../../platform/crypto/data-key.store.ts';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import { requireOrganisation } from '../../tenancy/organisations/facilities.ts';
import { listOrganisations } from '../../tenancy/organisations/organisation.store.ts';
import { publishError } from '../errors.ts';
import { hasRecordedIds } from '../send/resource.store.ts';
import {
  fhirServerNamed,
  insertFhirServer,
  lockFhirServers,
  markRemoved,
  secretSealedFor,
  setDefault,
  setEnabled,
  updateFhirServer,
} from './fhir-server.store.ts';
import {
  checkedSettings,
  checkSecret,
  DEFAULT_SETTINGS,
  type FhirServer,
  type FhirServerSettings,
} from './fhir-server.ts';

export interface FhirServerDependencies {
  db: Pool;
  keys: KeyRing;
}

/** A FHIR server as its operator names it. */
export interface FhirServerName {
  name: string;
  /** Null: the one of all organisations. */
  organisationId: string | null;
}

export type NewFhirServer = Pick<FhirServerSettings, 'name' | 'base' | 'auth'> & Partial<FhirServerSettings>;

/** Throws for a setting that is not valid, an unknown organisation, or a name that is taken. */
export async function createFhirServer(
  { db, keys }: FhirServerDependencies,
  input: {
    organisationId: string | null;
    settings: NewFhirServer;
    secret: string | undefined;
    makeDefault: boolean;
  },
): Promise<FhirServer> {
  const { organisationId, secret } = input;
  const settings = checkedSettings({ ...DEFAULT_SETTINGS, ...input.settings });
  checkSecret(settings.auth, secret);
  if (organisationId !== null) await requireOrganisation(db, organisationId);
  const id = randomUUID();
  await transaction(db, async (client) => {
    await lockFhirServers(client);
    const sealed = secret === undefined ? undefined : await sealFor({ db: client, keys }, id, secret);
    await requireFreeName(client, { organisationId, name: settings.name });
    await insertFhirServer(client, { id, organisationId }, { settings, secret: sealed });
    if (input.makeDefault) await setDefault(client, { id, organisationId });
  });
  return requireFhirServer(db, { organisationId, name: settings.name });
}

async function requireFreeName(db: Queryable, which: FhirServerName): Promise<void> {
  if ((await fhirServerNamed(db, which)) !== undefined)
    throw publishError('target_exists', { name: which.name });
}

/** Whether the recorded ids are valid at the new address of a FHIR server. */
export type RecordedIds = 'keep' | 'forget';

/** Change settings. A new authentication needs its secret. A new base address needs `ids` when ids are recorded. */
export async function changeFhirServer(
  { db, keys }: FhirServerDependencies,
  which: FhirServerName,
  input: {
    settings: Partial<FhirServerSettings>;
    secret: string | undefined;
    makeDefault: boolean;
    ids?: RecordedIds | undefined;
  },
): Promise<FhirServer> {
  return transaction(db, async (client) => {
    await lockFhirServers(client);
    await shareDataKeys(client);
    const before = await requireFhirServer(client, which, true);
    const settings = checkedSettings({ ...before, ...ofAuthentication(before, input.settings) });
    const keep = input.secret === undefined && settings.auth === before.auth;
    if (!keep) checkSecret(settings.auth, input.secret);
    const sealing = { db: client, keys };
    const sealed = input.secret === undefined ? undefined : await sealFor(sealing, before.id, input.secret);
    if (settings.name !== before.name) await requireFreeName(client, { ...which, name: settings.name });
    const forgetsIds = await settleIds(client, before, { base: settings.base, ids: input.ids });
    const secret = keep ? before.secret : sealed;
    await updateFhirServer(client, before.id, { settings, secret, forgetsIds });
    if (input.makeDefault) await setDefault(client, before);
    return requireFhirServer(client, { ...which, name: settings.name });
  });
}

/**
 * Whether ids of before are forgotten: the ids of one server would name records of somebody else at another server. A publish
 * under way may still record some.
 */
async function settleIds(
  db: Queryable,
  before: FhirServer,
  { base, ids }: { base: string; ids: RecordedIds | undefined },
): Promise<boolean> {
  if (ids !== undefined) return ids === 'forget';
  if (base === before.base) return false;
  const organisations =
    before.organisationId === null ? await listOrganisations(db) : [{ id: before.organisationId }];
  for (const { id: organisationId } of organisations)
    if (await hasRecordedIds(db, { organisationId }, before))
      throw publishError('target_has_recorded_ids', before);
  return true;
}

/** Replace the secret; from the next publish on the new one is sent. */
export async function rotateFhirServerSecret(
  { db, keys }: FhirServerDependencies,
  which: FhirServerName,
  secret: string,
): Promise<FhirServer> {
  return transaction(db, async (client) => {
    await shareDataKeys(client);
    const server = await requireFhirServer(client, which, true);
    if (server.auth === 'none') throw publishError('target_without_authentication', server);
    checkSecret(server.auth, secret);
    const sealed = await sealFor({ db: client, keys }, server.id, secret);
    await updateFhirServer(client, server.id, { settings: server, secret: sealed });
    return requireFhirServer(client, which);
  });
}

export async function switchFhirServer(
  { db }: Pick<FhirServerDependencies, 'db'>,
  which: FhirServerName,
  { enabled, now }: { enabled: boolean; now: Date },
): Promise<FhirServer> {
  const server = await requireFhirServer(db, which);
  await setEnabled(db, server.id, enabled, now);
  return requireFhirServer(db, which);
}

export async function removeFhirServer(
  { db }: Pick<FhirServerDependencies, 'db'>,
  which: FhirServerName,
  now: Date,
): Promise<FhirServer> {
  const server = await requireFhirServer(db, which);
  await markRemoved(db, server.id, now);
  return server;
}

/** Throws when there is none of that name. `lock`: until the transaction ends. */
export async function requireFhirServer(
  db: Queryable,
  { organisationId, name }: FhirServerName,
  lock = false,
): Promise<FhirServer> {
  if (organisationId !== null) await requireOrganisation(db, organisationId);
  const server = await fhirServerNamed(db, { organisationId, name }, lock);
  if (server === undefined) throw publishError('unknown_target', { name, ofAll: organisationId === null });
  return server;
}

/** Header and user belong to one kind of authentication. They are removed when it changes. */
function ofAuthentication(
  before: FhirServer,
  changes: Partial<FhirServerSettings>,
): Partial<FhirServerSettings> {
  if (changes.auth === undefined || changes.auth === before.auth) return changes;
  return { authHeader: null, authUser: null, ...changes };
}

function sealFor(
  sealing: Parameters<typeof sealSecret>[0],
  fhirServerId: string,
  text: string,
): Promise<SealedSecret> {
  return sealSecret(sealing, (id) => secretSealedFor(fhirServerId, id), text);
}
