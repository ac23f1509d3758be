import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { asCommand } from '../../../test-support/service/worded-errors.ts';
import { CommandError, UsageError } from '../../platform/command/command.ts';
import { OPERATOR } from '../../tenancy/administration/author.ts';
import { createOrganisation } from '../organisations/facilities.ts';
import { PERMISSIONS } from './permissions.ts';
import { createRole, permissionsHelp, requireRole, setPermissions } from './roles.ts';

const database = await useTestDatabase();
const organisationId = (await createOrganisation(database.pool, { name: 'Test' })).id;

test('a role keeps its permissions once each, and is found by its name [ACC-20]', async () => {
  const permissions = ['patients.patients.list', 'encounters.access', 'patients.patients.list'];
  const { id } = await createRole(database.pool, { organisationId, name: ' reader ', permissions }, OPERATOR);
  const role = await requireRole(database.pool, { organisationId, name: 'reader' });
  assert.deepEqual(role, {
    id,
    name: 'reader',
    permissions: ['encounters.access', 'patients.patients.list'],
    requiresSecondFactor: false,
  });
});

test('permissions can be replaced [ACC-21]', async () => {
  const { id } = await createRole(
    database.pool,
    {
      organisationId,
      name: 'changing',
      permissions: ['encounters.access'],
    },
    OPERATOR,
  );
  const changed = { organisationId, name: 'changing', permissions: ['records.import'] };
  assert.deepEqual(await setPermissions(database.pool, changed), { id, changed: true });
  assert.deepEqual((await requireRole(database.pool, { organisationId, name: 'changing' })).permissions, [
    'records.import',
  ]);
});

test('a role requires a second factor until it is said otherwise [SIGN-IN-64]', async () => {
  const role = { organisationId, name: 'strict', permissions: ['encounters.access'] };
  const required = async () => (await requireRole(database.pool, role)).requiresSecondFactor;
  await createRole(database.pool, { ...role, requiresSecondFactor: true }, OPERATOR);
  assert.equal(await required(), true);
  await setPermissions(database.pool, role);
  assert.equal(await required(), true);
  await setPermissions(database.pool, { ...role, requiresSecondFactor: false });
  assert.equal(await required(), false);
});

test('unknown permissions, organisations and roles, taken names and empty input are said so [ACC-20]', async () => {
  const role = { organisationId, name: 'taken', permissions: ['encounters.access'] };
  await createRole(database.pool, role, OPERATOR);
  const create = (changed: Partial<typeof role>) =>
    asCommand(createRole(database.pool, { ...role, name: 'new', ...changed }, OPERATOR));
  await assert.rejects(asCommand(createRole(database.pool, role, OPERATOR)), CommandError);
  await assert.rejects(create({ organisationId: randomUUID() }), CommandError);
  await assert.rejects(create({ organisationId: '7' }), { name: 'UsageError', message: /must be a UUID/ });
  await assert.rejects(create({ permissions: ['encounters.access', 'everything'] }), {
    name: 'UsageError',
    message: /everything/,
  });
  await assert.rejects(create({ permissions: [] }), UsageError);
  await assert.rejects(create({ name: ' ' }), UsageError);
  await assert.rejects(asCommand(setPermissions(database.pool, { ...role, name: 'none' })), CommandError);
  await assert.rejects(asCommand(requireRole(database.pool, { organisationId, name: 'none' })), CommandError);
});

test('the help lists every permission', () => {
  for (const [name, allows] of Object.entries(PERMISSIONS))
    assert.ok(permissionsHelp().replaceAll(/\s+/g, ' ').includes(` ${name} ${allows}`), name);
  for (const line of permissionsHelp().split('\n')) assert.ok(line.length <= 80, line);
});
