/** Making organisations and facilities, listing and changing facilities. Contract: ADM-20, ADM-21. */
import { randomUUID } from 'node:crypto';
import { isTimeZone } from '../../fhir/date-time.ts';
import { type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import { definedMembers } from '../../platform/defined-members.ts';
import { type ListDependencies, openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import { isUuid } from '../../platform/uuid.ts';
import { administer } from '../administration/administer.ts';
import { type Author, OPERATOR } from '../administration/author.ts';
import { requirePermission, usesAll } from '../administration/manager.ts';
import { recordChange } from '../audit/audit.ts';
import type { Caller } from '../callers/caller.ts';
import { notFound, tenancyError } from '../errors.ts';
import type { OrganisationScope } from '../scope.ts';
import { isModule, MODULES, type Module } from './modules.ts';
import { checkedName } from './name.ts';
import {
  type Facility,
  type FacilityPosition,
  findOrganisation,
  insertFacility,
  insertOrganisation,
  listFacilities,
  replaceModules,
  updateFacility,
} from './organisation.store.ts';

export async function createOrganisation(
  db: Pool,
  input: { name: string; id?: string },
): Promise<{ id: string }> {
  const id = checkedId('id', input.id ?? randomUUID());
  const name = checkedName(input.name);
  await transaction(db, async (client) => {
    if (!(await insertOrganisation(client, { id, name }))) throw tenancyError('organisation_exists', { id });
    await recordChange(client, { organisationId: id }, OPERATOR, {
      action: 'organisation.create',
      subject: { type: 'organisation', id, name },
      facilityIds: null,
      after: { name },
    });
  });
  return { id };
}

export interface NewFacility {
  organisationId: string;
  name: string;
  id?: string;
  timeZone?: string;
  /** All, when not given. */
  modules?: readonly string[];
}

export async function createFacility(db: Pool, input: NewFacility): Promise<{ id: string }> {
  const organisationId = checkedId('organisationId', input.organisationId);
  const id = checkedId('id', input.id ?? randomUUID());
  const timeZone = input.timeZone ?? 'UTC';
  if (!isTimeZone(timeZone)) throw tenancyError('bad_time_zone', { field: 'timeZone' });
  const name = checkedName(input.name);
  const modules = checkedModules(input.modules ?? MODULES);
  await administer(db, { organisationId }, OPERATOR, async (client) => {
    if (!(await insertFacility(client, { organisationId }, { id, name, timeZone })))
      throw tenancyError('facility_exists', { id });
    await replaceModules(client, { organisationId }, { facilityId: id, modules });
    await recordChange(client, { organisationId }, OPERATOR, {
      action: 'facility.create',
      subject: { type: 'facility', id, name },
      facilityIds: [id],
      after: { name, timeZone, modules: [...modules].sort() },
    });
  });
  return { id };
}

/** Those that the account may use; for the operator, without one, all. 400 for a cursor of another list. */
export async function listFacilityPage(
  { db, cursors }: ListDependencies,
  { organisationId }: OrganisationScope,
  { account, ...request }: PageRequest & { account?: Pick<Caller, 'accountId' | 'facilities'> },
): Promise<Page<Facility>> {
  const binding = ['facilities', organisationId, account?.accountId];
  const page = openPage<FacilityPosition>(cursors, request, binding);
  const facilityIds = account && [...account.facilities.keys()];
  const found = await listFacilities(db, { organisationId }, { ...page.slice, facilityIds });
  return page.close(found, ({ name, id }) => [name, id]);
}

/** What is left out stays as it is. */
export interface FacilityChanges {
  name?: string | undefined;
  timeZone?: string | undefined;
  /** The ones that are on. */
  modules?: readonly string[] | undefined;
}

/** Every node knows with the next call. 404 for a facility that the author may not use. Contract: ADM-78. */
export async function changeFacility(
  db: Pool,
  {
    organisationId,
    facilityId,
    changes,
  }: OrganisationScope & { facilityId: string; changes: FacilityChanges },
  author: Author,
): Promise<{ facility: Facility; changed: boolean }> {
  const scope = { organisationId };
  const checked = checkedChanges(changes);
  return administer(db, scope, author, async (client, manager) => {
    requirePermission(manager, ['facilities.manage']);
    if (!usesAll(manager, [facilityId])) throw notFound('The facility');
    const standing = await requireFacility(client, organisationId, facilityId);
    const facility = { ...standing, ...definedMembers(checked) };
    await updateFacility(client, scope, facility);
    if (checked.modules !== undefined)
      await replaceModules(client, scope, { facilityId: standing.id, modules: checked.modules });
    const changed = await recordChange(client, scope, author, {
      action: 'facility.change',
      subject: { type: 'facility', id: standing.id, name: standing.name },
      facilityIds: [standing.id],
      before: membersOf(standing),
      after: membersOf(facility),
    });
    return { facility, changed };
  });
}

/** Make `modules` the ones that are on, for the operator. */
export async function setModules(
  db: Pool,
  { modules, ...facility }: { organisationId: string; facilityId: string; modules: readonly string[] },
): Promise<{ facility: Facility; changed: boolean }> {
  return changeFacility(db, { ...facility, changes: { modules } }, OPERATOR);
}

function membersOf({ name, timeZone, modules }: Facility) {
  return { name, timeZone, modules };
}

function checkedChanges({ name, timeZone, modules }: FacilityChanges) {
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw tenancyError('bad_time_zone', { field: 'timeZone' });
  return {
    name: name === undefined ? undefined : checkedName(name),
    timeZone,
    modules: modules && [...new Set(checkedModules(modules))].sort(),
  };
}

/** The scope of the organisation. Throws when the id is malformed or unknown. */
export async function requireOrganisation(db: Queryable, id: string): Promise<OrganisationScope> {
  const organisationId = checkedId('organisationId', id);
  if ((await findOrganisation(db, organisationId)) === undefined)
    throw tenancyError('unknown_organisation', { organisationId });
  return { organisationId };
}

/** Throws when either id is malformed or unknown. */
export async function requireFacility(
  db: Queryable,
  organisationId: string,
  facilityId: string,
): Promise<Facility> {
  const [facility] = await requireFacilities(db, organisationId, [facilityId]);
  return facility as Facility;
}

/** By their name. Throws like {@link requireFacility} for the first that is malformed or unknown. */
export async function requireFacilities(
  db: Queryable,
  organisationId: string,
  facilityIds: readonly string[],
): Promise<Facility[]> {
  await requireOrganisation(db, organisationId);
  const ids = facilityIds.map((id) => checkedId('facilityId', id));
  const facilities = await listFacilities(db, { organisationId }, { facilityIds: ids });
  const known = new Set(facilities.map(({ id }) => id));
  const facilityId = ids.find((id) => !known.has(id));
  if (facilityId !== undefined) throw tenancyError('unknown_facility', { organisationId, facilityId });
  return facilities;
}

function checkedId(field: string, id: string): string {
  if (!isUuid(id)) throw tenancyError('malformed_id', { field });
  return id.toLowerCase();
}

function checkedModules(modules: readonly string[]): Module[] {
  return modules.map((name) => {
    if (!isModule(name)) throw tenancyError('unknown_module', { name });
    return name;
  });
}
