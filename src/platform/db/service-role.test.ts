import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { makePartitions } from '../../privacy/access-log/access-log-partition.store.ts';
import { createPool } from './database.ts';
import { readRoleRights } from './service-role.ts';

const database = await createTestDatabase();
// One connection, so that begin and rollback are on the same.
const owner = createPool({ url: database.adminUrl, max: 1, applicationName: 'test' }, () => undefined);
await makePartitions(owner, new Date(), 2);
after(async () => {
  await owner.end();
  await database.drop();
});

async function afterChange(sql: string) {
  await owner.query(`begin; ${sql}`);
  try {
    return await readRoleRights(owner);
  } finally {
    await owner.query('rollback');
  }
}

test('the role has what grants.sql gives it, no less and no more [OPS-7]', async () => {
  assert.deepEqual(await readRoleRights(owner), { missing: [], excess: [], attributes: [] });
});

test('each right that is missing or too much is named [OPS-7]', async () => {
  const service = 'interchange_service';
  for (const [sql, expected] of [
    [`revoke insert on patient from ${service}`, { missing: [{ object: 'patient', right: 'insert' }] }],
    [
      `revoke truncate on write_probe from ${service}`,
      { missing: [{ object: 'write_probe', right: 'truncate' }] },
    ],
    [`grant delete on access_log to ${service}`, { excess: [{ object: 'access_log', right: 'delete' }] }],
    [
      `grant select on access_log_default to public`,
      { excess: [{ object: 'access_log_default', right: 'select' }] },
    ],
    [
      `create sequence counter`,
      { missing: ['select', 'usage'].map((right) => ({ object: 'counter', right })) },
    ],
    [`alter table facility owner to ${service}`, { attributes: ['owner of facility'] }],
    [`alter role ${service} bypassrls`, { attributes: ['bypassrls'] }],
    [
      `create role ${service}_heir; grant ${service}_heir to ${service}`,
      { attributes: [`member of ${service}_heir`] },
    ],
    [
      `create role ${service}_far; create role ${service}_near; grant ${service}_far to ${service}_near;
       grant ${service}_near to ${service}`,
      { attributes: [`member of ${service}_far (by ${service}_near) and ${service}_near`] },
    ],
  ] as const) {
    const { missing, excess, attributes } = await afterChange(sql);
    const found = 'attributes' in expected ? { attributes } : { missing, excess };
    assert.deepEqual(
      found,
      'attributes' in expected ? expected : { missing: [], excess: [], ...expected },
      sql,
    );
  }
});
