/** The demo organisation: made once, and made whole again when the first start was cut short. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { handToOwnerOf } from '../../local-postgres/postgres-user.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { findByEmail, type UserType } from '../../src/sign-in/accounts/account.store.ts';
import { createAccount, type ManageAccountDependencies } from '../../src/sign-in/accounts/create-account.ts';
import { generatePassword } from '../../src/sign-in/credentials/password.ts';
import { OPERATOR } from '../../src/tenancy/administration/author.ts';
import { createFacility, createOrganisation } from '../../src/tenancy/organisations/facilities.ts';
import { findOrganisation, listFacilities } from '../../src/tenancy/organisations/organisation.store.ts';
import { PERMISSIONS } from '../../src/tenancy/roles/permissions.ts';
import { findRole } from '../../src/tenancy/roles/role.store.ts';
import { createRole } from '../../src/tenancy/roles/roles.ts';
import { toolError } from '../errors.ts';

/** What the demo must remember: ids, and the password that nobody else knows. */
export interface DemoIdentity {
  organisationId: string;
  facilityId: string;
  email: string;
  password: string;
  /** Of the person at the console; one of an older demo has none until it is made. */
  administrator: { email: string; password: string };
}

export const DEMO_TIME_ZONE = 'Africa/Lagos';
const INTEGRATION_EMAIL = 'demo@example.org';
const ADMINISTRATOR_EMAIL = 'admin@example.org';
const ROLE = 'demo integration';
const SYSTEM_PERMISSIONS = [
  'patients.patients.list',
  'patients.patients.get',
  'patients.access-log.read',
  'encounters.access',
  'encounters.vitals.read',
  'encounters.vitals.manage',
  'investigations.lab.list',
  'investigations.lab.release',
  'investigations.imaging.list',
  'investigations.imaging.write',
];

const PATIENT_PERMISSIONS = ['patients.patients.list', 'patients.patients.get'];
const SYSTEMS = [
  {
    role: 'laboratory system',
    permissions: [...PATIENT_PERMISSIONS, 'investigations.lab.list', 'investigations.lab.write'],
    email: 'lis@example.org',
  },
  {
    role: 'radiology system',
    permissions: [...PATIENT_PERMISSIONS, 'investigations.imaging.list', 'investigations.imaging.write'],
    email: 'radiology@example.org',
  },
];

/**
 * Read the identity from the data folder, or choose one and keep it there before anything is made of it. A database that
 * was restored may have the accounts of a demo whose passwords nobody here knows.
 */
export async function demoIdentity(db: Queryable, dataDir: string): Promise<DemoIdentity> {
  const path = join(dataDir, 'demo.json');
  const kept = await readKept(path);
  for (const email of [INTEGRATION_EMAIL, ADMINISTRATOR_EMAIL]) {
    const account = await findByEmail(db, email);
    if (account !== undefined && account.organisationId !== kept?.organisationId)
      throw toolError('demo_made_before', { email, path });
  }
  if (kept?.administrator !== undefined) return kept as DemoIdentity;
  const identity: DemoIdentity = {
    organisationId: randomUUID(),
    facilityId: randomUUID(),
    email: INTEGRATION_EMAIL,
    password: generatePassword(),
    ...kept,
    administrator: { email: ADMINISTRATOR_EMAIL, password: generatePassword() },
  };
  await mkdir(dataDir, { recursive: true });
  await writeFile(`${path}.new`, `${JSON.stringify(identity, null, 2)}\n`, { mode: 0o600, flush: true });
  await handToOwnerOf(dataDir, `${path}.new`);
  await rename(`${path}.new`, path);
  return identity;
}

/** Undefined when there is none yet. What a damaged file holds is told to nobody: it may be the password. */
async function readKept(path: string): Promise<Partial<DemoIdentity> | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Partial<DemoIdentity>;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw toolError('demo_file_unreadable', { path, code });
  }
}

/** Make what is not there yet. Returns the user id of the account. */
export async function makeDemoOrganisation(
  deps: ManageAccountDependencies,
  identity: DemoIdentity,
  now: Date,
): Promise<string> {
  const { db } = deps;
  const { organisationId, facilityId, email, password } = identity;
  const scope = { organisationId };
  if ((await findOrganisation(db, organisationId)) === undefined)
    await createOrganisation(db, { id: organisationId, name: 'Demo Hospitals' });
  if ((await listFacilities(db, scope, { facilityIds: [facilityId] })).length === 0)
    await createFacility(db, {
      organisationId,
      id: facilityId,
      name: 'Demo Clinic',
      timeZone: DEMO_TIME_ZONE,
    });
  const { administrator } = identity;
  await makeAccount(deps, identity, now, {
    role: 'Demo administrator',
    permissions: Object.keys(PERMISSIONS),
    userType: 'STAFF',
    ...administrator,
  });
  return makeAccount(deps, identity, now, {
    role: ROLE,
    permissions: SYSTEM_PERMISSIONS,
    userType: 'EHR',
    email,
    password,
  });
}

/** Accounts of systems to look after at the console. Nobody is told their passwords: an administrator can reset them. */
export async function makeDemoSystems(
  deps: ManageAccountDependencies,
  identity: DemoIdentity,
  now: Date,
): Promise<void> {
  for (const system of SYSTEMS)
    await makeAccount(deps, identity, now, { ...system, userType: 'EHR', password: generatePassword() });
}

interface DemoAccount {
  role: string;
  permissions: readonly string[];
  userType: UserType;
  email: string;
  password: string;
}

async function makeAccount(
  deps: ManageAccountDependencies,
  { organisationId, facilityId }: DemoIdentity,
  now: Date,
  { role, permissions, userType, email, password }: DemoAccount,
): Promise<string> {
  const { db } = deps;
  const existing = await findByEmail(db, email);
  if (existing !== undefined) return existing.userId;
  if ((await findRole(db, { organisationId }, { name: role })) === undefined)
    await createRole(db, { organisationId, name: role, permissions }, OPERATOR);
  const account = await createAccount(
    deps,
    {
      organisationId,
      facilityIds: [facilityId],
      email,
      role: { name: role },
      userType,
      password: { kind: 'given', password },
      mustChangePassword: false,
    },
    { now, author: OPERATOR },
  );
  return account.userId;
}
