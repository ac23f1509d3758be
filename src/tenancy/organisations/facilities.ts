/** Making organisations and facilities, and switching modules. */
import { randomUUID } from 'node:crypto';
import { isTimeZone } from '../../fhir/date-time.ts';
import { type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/uuid.ts';
import { tenancyError } from '../errors.ts';
import { notifyLive } from '../live.ts';
import { isModule, MODULES, type Module } from './modules.ts';
import { checkedName } from './name.ts';
import {
  type Facility,
  findOrganisation,
  insertFacility,
  insertOrganisation,
  listFacilities,
  replaceModules,
} from './organisation.store.ts';

export async function createOrganisation(
  db: Pool,
  input: { name: string; id?: string },
): Promise<{ id: string }> {
  const id = checkedId('id', input.id ?? randomUUID());
  if (!(await insertOrganisation(db, { id, name: checkedName(input.name) })))
    throw tenancyError('organisation_exists', { id });
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
  await requireOrganisation(db, organisationId);
  await transaction(db, async (client) => {
    if (!(await insertFacility(client, { organisationId }, { id, name, timeZone })))
      throw tenancyError('facility_exists', { id });
    await replaceModules(client, { organisationId }, { facilityId: id, modules });
    await notifyLive(client, { organisationId });
  });
  return { id };
}

/** Make `modules` the ones that are on; every node knows with the next call. */
export async function setModules(
  db: Pool,
  input: { organisationId: string; facilityId: string; modules: readonly string[] },
): Promise<void> {
  const { organisationId, facilityId } = input;
  const modules = checkedModules(input.modules);
  await requireFacility(db, organisationId, facilityId);
  await transaction(db, async (client) => {
    await replaceModules(client, { organisationId }, { facilityId, modules });
    await notifyLive(client, { organisationId });
  });
}

/** Throws when the id is malformed or unknown. */
export async function requireOrganisation(db: Queryable, organisationId: string): Promise<void> {
  checkedId('organisationId', organisationId);
  if ((await findOrganisation(db, organisationId)) === undefined)
    throw tenancyError('unknown_organisation', { organisationId });
}

/** Throws when either id is malformed or unknown. */
export async function requireFacility(
  db: Pool,
  organisationId: string,
  facilityId: string,
): Promise<Facility> {
  await requireOrganisation(db, organisationId);
  checkedId('facilityId', facilityId);
  const [facility] = await listFacilities(db, { organisationId }, facilityId);
  if (facility === undefined) throw tenancyError('unknown_facility', { organisationId, facilityId });
  return facility;
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
