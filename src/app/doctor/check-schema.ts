/** Checks of what is in the database: schema, rights of the service's role, where tables lie, whether it is a copy. */

import { onOwnConnection } from '../../platform/db/connection/own-connection.ts';
import type { Pool, Queryable } from '../../platform/db/database.ts';
import { readSchemaState } from '../../platform/db/migrate.ts';
import { findRoleFault, type Right, readRoleRights, roleFaultText } from '../../platform/db/service-role.ts';
import { isUnmarkedCopy, UNMARKED_COPY } from '../backup/database-place.ts';
import type { Config } from '../config/config.ts';
import { isDistributed } from '../scale-out/citus.store.ts';
import { checkPlacement } from '../scale-out/scale-out.ts';
import { findServiceUserFault } from '../serving/service-user.ts';
import { type CheckResult, counted, failed, notApplicable, ok, warning } from './finding.ts';

const MIGRATE = 'Run: npx interchange migrate';

export async function checkSchema(owner: Queryable): Promise<CheckResult> {
  const { applied, missing, unknown, changed } = await readSchemaState(owner);
  if (unknown.length > 0)
    return failed(
      `The schema is newer than this version of interchange: ${counted(unknown.length, 'migration')} unknown here, from ${unknown[0]} on.`,
      'Run the version of interchange that applied them, or a newer one.',
    );
  if (changed.length > 0)
    return failed(
      `${counted(changed.length, 'migration')} changed after being applied, ${changed[0]} first.`,
      'Install interchange again, so that the files are those of its version.',
    );
  if (missing.length > 0)
    return failed(`${counted(missing.length, 'migration')} missing, from ${missing[0]} on.`, MIGRATE);
  return ok(`The schema is that of this version: ${counted(applied, 'migration')}.`);
}

export async function checkRole(owner: Queryable): Promise<CheckResult> {
  const fault = await findRoleFault(owner);
  if (fault !== undefined) return failed(roleFaultText(fault), MIGRATE);
  const { missing, excess, attributes } = await readRoleRights(owner);
  if (missing.length > 0)
    return failed(
      `The service's role lacks ${counted(missing.length, 'right')}: ${named(missing)}.`,
      MIGRATE,
    );
  if (attributes.length > 0)
    return warning(
      `The service's role is more than a plain role: ${attributes.join(', ')}. It can get round its rights.`,
      'Take these from the role. Where it says "(by a role)", take that role. docs/environment.md says how the role is made.',
    );
  if (excess.length > 0)
    return warning(
      `The service's role has ${counted(excess.length, 'right')} that it does not need: ${named(excess)}.`,
      'Revoke them, unless you gave them on purpose.',
    );
  return ok("The service's role has the rights that it needs, and no others.");
}

export async function checkServiceUser(owner: Queryable, { database }: Config): Promise<CheckResult> {
  if (database.kind === 'embedded') return ok('The embedded database has a user of its own for the service.');
  if (database.serviceUrl === undefined)
    return notApplicable(
      'DATABASE_SERVICE_URL is not set: the service signs in as the user of DATABASE_URL.',
    );
  const fault = await findServiceUserFault(owner, database.serviceUrl);
  if (fault !== undefined) return failed(fault.text, fault.remedy);
  return ok("DATABASE_SERVICE_URL means the same database, as a user that is the service's role only.");
}

function named(rights: readonly Right[]): string {
  const shown = rights.slice(0, 5).map(({ object, right }) => `${right} on ${object}`);
  return shown.join(', ') + (rights.length > shown.length ? ', …' : '');
}

export async function checkMark(owner: Queryable): Promise<CheckResult> {
  if (await isUnmarkedCopy(owner))
    return failed(
      `${UNMARKED_COPY} The service does not start on it.`,
      'Run: npx interchange restore --mark',
    );
  return ok('It is the database that the service ran on last, or one that was marked as restored.');
}

export async function checkTables(owner: Pool): Promise<CheckResult> {
  if (!(await isDistributed(owner))) return notApplicable('The database is not distributed.');
  const { problems, differences } = await onOwnConnection(owner, checkPlacement);
  const [problem] = problems;
  const [difference] = differences;
  if (problem === undefined && difference === undefined) return ok('Every table lies where it should.');
  return failed(
    problem ?? `${difference?.table}: ${difference?.actual} instead of ${difference?.expected}.`,
    'See every difference with: npx interchange scale-out --check',
  );
}
