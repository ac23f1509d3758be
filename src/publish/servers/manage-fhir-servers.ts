/** What the operator does with targets: make, change, switch, remove (docs/publish.md). Contract: PUB-55. */
import { randomUUID } from 'node:crypto';
import { CommandError } from '../../platform/command/command.ts';
import { shareDataKeys } from '../../platform/crypto/data-key.store.ts';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import { requireOrganisation } from '../../tenancy/organisations/facilities.ts';
import {
  hasDefault,
  insertTarget,
  markRemoved,
  type StoredTarget,
  setDefault,
  setEnabled,
  targetNamed,
  updateTarget,
} from './fhir-server.store.ts';
import {
  checkedSettings,
  checkSecret,
  DEFAULT_SETTINGS,
  type Target,
  type TargetSettings,
} from './fhir-server.ts';
import { sealSecret } from './fhir-server-secret.ts';
import { forgetRecordedIds, hasRecordedIds } from './recorded-ids.store.ts';

export interface TargetDependencies {
  db: Pool;
  keys: KeyRing;
}

/** A target as its operator names it. */
export interface TargetName {
  name: string;
  /** Null: the one of all organisations. */
  organisationId: string | null;
}

export type NewTarget = Pick<TargetSettings, 'name' | 'base' | 'auth'> & Partial<TargetSettings>;

/** Throws TargetSettingError; CommandError for an unknown organisation or a name that is taken. */
export async function createTarget(
  { db, keys }: TargetDependencies,
  input: {
    organisationId: string | null;
    settings: NewTarget;
    secret: string | undefined;
    makeDefault: boolean;
  },
): Promise<StoredTarget> {
  const { organisationId, secret } = input;
  const settings = checkedSettings({ ...DEFAULT_SETTINGS, ...input.settings });
  checkSecret(settings.auth, secret);
  if (organisationId !== null) await requireOrganisation(db, organisationId);
  const id = randomUUID();
  await transaction(db, async (client) => {
    const sealed = secret === undefined ? undefined : await sealSecret({ db: client, keys }, id, secret);
    await requireFreeName(client, { organisationId, name: settings.name });
    // The first target is the default one.
    const isDefault = !(await hasDefault(client, organisationId));
    await insertTarget(client, { id, organisationId, isDefault }, { settings, secret: sealed });
    if (input.makeDefault && !isDefault) await setDefault(client, { id, organisationId });
  });
  return requireTarget(db, { organisationId, name: settings.name });
}

async function requireFreeName(db: Queryable, which: TargetName): Promise<void> {
  if ((await targetNamed(db, which)) !== undefined)
    throw new CommandError(`There is a target ${which.name} already. Change it: interchange target update.`);
}

/** What becomes of the ids that are recorded of a target: they are those of the server at its new address, or not. */
export type RecordedIds = 'keep' | 'forget';

/** Change settings; a changed way of authentication needs its secret, a changed base address a word on the ids. */
export async function changeTarget(
  { db, keys }: TargetDependencies,
  which: TargetName,
  input: {
    settings: Partial<TargetSettings>;
    secret: string | undefined;
    makeDefault: boolean;
    ids?: RecordedIds | undefined;
  },
): Promise<StoredTarget> {
  return transaction(db, async (client) => {
    await shareDataKeys(client);
    const before = await requireTarget(client, which, true);
    const settings = checkedSettings({ ...before, ...ofAuthentication(before, input.settings) });
    const keep = input.secret === undefined && settings.auth === before.auth;
    if (!keep) checkSecret(settings.auth, input.secret);
    const sealing = { db: client, keys };
    const sealed =
      input.secret === undefined ? undefined : await sealSecret(sealing, before.id, input.secret);
    if (settings.name !== before.name) await requireFreeName(client, { ...which, name: settings.name });
    await settleIds(client, before, { base: settings.base, ids: input.ids });
    await updateTarget(client, before.id, { settings, secret: keep ? before.secret : sealed });
    if (input.makeDefault) await setDefault(client, before);
    return requireTarget(client, { ...which, name: settings.name });
  });
}

/** Ids of one server, sent to another, would name records of somebody else there. */
async function settleIds(
  db: Queryable,
  before: StoredTarget,
  { base, ids }: { base: string; ids: RecordedIds | undefined },
): Promise<void> {
  if (ids === 'forget') await forgetRecordedIds(db, before);
  if (ids !== undefined || base === before.base || !(await hasRecordedIds(db, before))) return;
  throw new CommandError(
    `Ids of the server at ${before.base} are recorded for ${before.name}. With --keep-ids the new address is that of the same server; with --forget-ids of another one, or of one that was set up anew.`,
  );
}

/** Replace the secret; from the next publish on the new one is sent. */
export async function rotateTargetSecret(
  { db, keys }: TargetDependencies,
  which: TargetName,
  secret: string,
): Promise<StoredTarget> {
  return transaction(db, async (client) => {
    await shareDataKeys(client);
    const target = await requireTarget(client, which, true);
    if (target.auth === 'none') throw new CommandError(`The target ${target.name} has no authentication.`);
    checkSecret(target.auth, secret);
    const sealed = await sealSecret({ db: client, keys }, target.id, secret);
    await updateTarget(client, target.id, { settings: target, secret: sealed });
    return requireTarget(client, which);
  });
}

export async function switchTarget(
  { db }: Pick<TargetDependencies, 'db'>,
  which: TargetName,
  { enabled, now }: { enabled: boolean; now: Date },
): Promise<StoredTarget> {
  const target = await requireTarget(db, which);
  await setEnabled(db, target.id, enabled, now);
  return requireTarget(db, which);
}

export async function removeTarget(
  { db }: Pick<TargetDependencies, 'db'>,
  which: TargetName,
  now: Date,
): Promise<Target> {
  const target = await requireTarget(db, which);
  await markRemoved(db, target.id, now);
  return target;
}

/** CommandError when there is none of that name. `lock`: until the transaction ends. */
export async function requireTarget(
  db: Queryable,
  { organisationId, name }: TargetName,
  lock = false,
): Promise<StoredTarget> {
  if (organisationId !== null) await requireOrganisation(db, organisationId);
  const target = await targetNamed(db, { organisationId, name }, lock);
  if (target === undefined)
    throw new CommandError(
      `There is no target ${name} ${organisationId === null ? 'of all organisations' : 'of this organisation'}. See interchange target list.`,
    );
  return target;
}

/** Header and user belong to one way of authentication; they go when it changes. */
function ofAuthentication(before: Target, changes: Partial<TargetSettings>): Partial<TargetSettings> {
  if (changes.auth === undefined || changes.auth === before.auth) return changes;
  return { authHeader: null, authUser: null, ...changes };
}
