/** Imports of the same content at the same time: the database decides, and nothing is counted twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callDuring } from '../../../../test-support/call-during.ts';
import { encounter, patient, practitioner, type Resource } from '../../../../test-support/records/clinic.ts';
import { lines, useImportTest } from '../../../../test-support/records/import.ts';
import { waitForLocks } from '../../../../test-support/wait-until.ts';

const t = await useImportTest();

const TABLES = ['patient', 'practitioner', 'encounter'];
const IMPORTS = 2;

/** Each version with the number of records that have it, by table. */
async function versions(): Promise<Record<string, Record<string, number>>> {
  const found = TABLES.map(async (table) => {
    const counted = await t.rows<{ version: string; records: number }>(
      `select version::text, count(*)::int as records from ${table} group by version`,
    );
    return [table, Object.fromEntries(counted.map(({ version, records }) => [version, records]))] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

/** Runs imports of the records that all find the same state stored, and write at the same time. */
async function importAtOnce(records: readonly Resource[]) {
  const { pool } = t.database;
  return callDuring(pool, {
    change: async (client) => {
      for (const table of TABLES) await client.query(`lock table ${table} in share row exclusive mode`);
    },
    call: () => Promise.all(Array.from({ length: IMPORTS }, () => t.run([lines(records)]))),
    waits: () => waitForLocks(pool, IMPORTS),
  });
}

test('a change that several imports bring at once counts once, and so does a record [IN-15, IN-34]', async () => {
  const people = Array.from({ length: 20 }, () => patient());
  const staff = Array.from({ length: 20 }, () => practitioner());
  const visits = people.map(({ id }) => encounter(`Patient/${id}`));
  const first = await importAtOnce([...staff, ...people, ...visits]);
  assert.deepEqual(
    first.map(({ rejected }) => rejected),
    Array(IMPORTS).fill([]),
  );
  const once = { '1': 20 };
  assert.deepEqual(await versions(), { patient: once, practitioner: once, encounter: once });

  const later = [
    ...staff.map((one) => ({ ...one, birthDate: '1970' })),
    ...people.map((one) => ({ ...one, active: true })),
    ...visits.map((one) => ({ ...one, priority: { text: 'urgent' } })),
  ];
  const second = await importAtOnce(later);
  const changed = second.map(({ resources, unchanged }) => {
    const all = Object.values(resources).reduce((sum, count) => sum + count, 0);
    return all - Object.values(unchanged).reduce((sum, count) => sum + count, 0);
  });
  assert.equal(
    changed.reduce((sum, count) => sum + count, 0),
    60,
    'each change was made by one of them',
  );
  const twice = { '2': 20 };
  assert.deepEqual(await versions(), { patient: twice, practitioner: twice, encounter: twice });

  await Promise.all(Array.from({ length: IMPORTS }, () => t.run([lines(later)])));
  assert.deepEqual(await versions(), { patient: twice, practitioner: twice, encounter: twice });
});
