/** Commands over all organisations while the database refuses one: the others are told of, and that one is named. */
import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import { ONE_FAILS, prepareFaults } from '../test-support/database/failing-organisation.ts';
import { connect, insertPatients, queue } from '../test-support/exchange/exchange-records.ts';
import { type Tenant, useEmptyApi } from '../test-support/service/api.ts';
import { runCommand } from '../test-support/service/command.ts';

const api = await useEmptyApi();
const faults = await prepareFaults(api.database);

describe('commands while the database refuses one organisation', ONE_FAILS, () => {
  /** In the order of their ids, so that the one that fails comes first. */
  let tenants: Tenant[];
  before(async () => {
    const { pool } = api.database;
    tenants = [await api.createTenant(), await api.createTenant()];
    tenants.sort((a, b) => (a.organisationId < b.organisationId ? -1 : 1));
    for (const tenant of tenants) {
      await connect({ pool, keys: api.keys }, tenant, { address: 'https://hie.example.org/in' });
      await queue(pool, tenant, await insertPatients(pool, tenant, 2));
    }
  });

  const run = async (...args: string[]) => {
    const { code, stdout } = await runCommand(['delivery', ...args, '--json'], { env: api.env });
    return {
      code,
      ...(JSON.parse(stdout) as {
        items: {
          id: string;
          organisationId: string;
          organisationName: string;
          connectionId: string;
          connectionName: string;
          connectionEnabled: boolean;
        }[];
        failed: string[];
        more?: boolean;
      }),
    };
  };

  for (const [table, how] of [
    [undefined, 'cannot be read'],
    ['access_log', 'cannot be entered in the access log'],
  ] as const)
    test(`\`delivery list\` shows the others, names the one that ${how}, and ends with code 1 [OPS-39]`, async () => {
      const [failing] = tenants as [Tenant];
      const whole = await run('list');
      assert.deepEqual([whole.code, whole.items.length, whole.failed], [0, 4, []]);
      await faults.fail(failing.organisationId, table);
      try {
        const part = await run('list');
        assert.deepEqual([part.code, part.items.length, part.failed], [1, 2, [failing.organisationId]]);
        const { stdout, stderr } = await runCommand(['delivery', 'list'], { env: api.env });
        assert.match(stdout, new RegExp(`organisation ${failing.organisationId} could not be listed`));
        assert.match(stderr, /^error: The database refused some organisations/);
      } finally {
        await faults.mend(failing.organisationId);
      }
    });

  test('`delivery list` names the connection of each where there is more than one', async () => {
    const { items } = await run('list');
    const text = async (...args: string[]) =>
      (await runCommand(['delivery', 'list', ...args], { env: api.env })).stdout.trim().split('\n');
    const lines = await text();
    assert.equal(lines.length, items.length);
    for (const [at, { id, connectionId }] of items.entries())
      assert.match(lines[at] ?? '', new RegExp(`^${id} .*, connection ${connectionId}$`));
    for (const line of await text('--connection', items[0]?.connectionId ?? ''))
      assert.doesNotMatch(line, /connection/);
  });

  test('`delivery list` says which connection each goes to by name, whose that is, and that it is disabled [EXC-28]', async (t) => {
    const { pool } = api.database;
    const { items } = await run('list');
    const [{ id, connectionId, organisationId }] = items as [(typeof items)[number]];
    const key = [organisationId, connectionId];
    await pool.query('update organisation set name = $2 where id = $1', [organisationId, 'Trial']);
    await pool.query(
      `update exchange_connection set name = 'Local exchange', disabled_at = now() where organisation_id = $1 and id = $2`,
      key,
    );
    t.after(() =>
      pool.query(
        'update exchange_connection set disabled_at = null where organisation_id = $1 and id = $2',
        key,
      ),
    );
    const lineOf = async (...args: string[]) => {
      const { stdout } = await runCommand(['delivery', ...args], { env: api.env });
      return stdout.split('\n').find((line) => line.startsWith(id)) ?? '';
    };
    assert.match(await lineOf('list'), / of patient \S+ to Local exchange of Trial \(disabled\) {2}/);
    for (const one of [
      ['list', '--connection', connectionId],
      ['show', '--id', id],
    ])
      assert.match(await lineOf(...one), / of patient \S+ to Local exchange \(disabled\) {2}/);
    const listed = await run('list', '--connection', connectionId);
    for (const { organisationName, connectionName, connectionEnabled } of listed.items)
      assert.deepEqual(
        [organisationName, connectionName, connectionEnabled],
        ['Trial', 'Local exchange', false],
      );
    const others = (await run('list')).items.filter((item) => item.organisationId !== organisationId);
    assert.deepEqual(new Set(others.map(({ connectionEnabled }) => connectionEnabled)), new Set([true]));
    assert.doesNotMatch(
      (await runCommand(['delivery', 'list', '--id', others[0]?.id ?? ''], { env: api.env })).stdout,
      /disabled/,
    );
  });

  test('every command about deliveries takes --organisation, and goes to no other [EXC-28, EXC-29]', async (t) => {
    const [first, second] = tenants as [Tenant, Tenant];
    const of = ({ organisationId }: Tenant) => ['--organisation', organisationId.toUpperCase()];
    const listed = await run('list', ...of(second));
    assert.deepEqual(
      listed.items.map(({ organisationId }) => organisationId),
      [second.organisationId, second.organisationId],
    );
    const counted = await run('count', ...of(second));
    assert.deepEqual(
      counted.items.map(({ organisationId }) => organisationId),
      [second.organisationId],
    );
    const { pool } = api.database;
    await pool.query(`update exchange_head set held_at = now(), held_reason = 'refused_422', due_at = null`);
    t.after(() => pool.query('update exchange_head set held_at = null, held_reason = null, due_at = now()'));
    const command = (...args: string[]) => runCommand(['delivery', ...args], { env: api.env });
    for (const args of [['replay'], ['skip', '--reason', 'old']])
      assert.match((await command(...args, '--dry-run', ...of(first))).stdout, /^2 would be/);
    assert.match((await command('replay', ...of(first))).stdout, /^2 replayed/);
    const held = await run('list', '--status', 'held');
    assert.deepEqual(
      held.items.map(({ organisationId }) => organisationId),
      [second.organisationId, second.organisationId],
    );
    const connection = held.items[0]?.connectionId ?? '';
    for (const args of [['list'], ['count'], ['replay']]) {
      const { code, stderr } = await command(...args, '--connection', connection, ...of(first));
      assert.equal(code, 2, stderr);
      assert.match(stderr, /is not of organisation/);
    }
    const elsewhere = await command('replay', '--id', held.items[0]?.id ?? '', ...of(first));
    assert.match(elsewhere.stderr, /There is no such delivery/);
    assert.match((await command('list', '--organisation', connection)).stderr, /no organisation/i);
  });

  test('`delivery list --limit` says whether there are more', async () => {
    const cut = await runCommand(['delivery', 'list', '--limit', '3'], { env: api.env });
    const lines = cut.stdout.trim().split('\n');
    assert.equal(lines.length, 4);
    assert.match(lines[3] ?? '', /^There are older ones\. See more with --limit/);
    assert.equal((await run('list', '--limit', '3')).more, true);
    const whole = await runCommand(['delivery', 'list', '--limit', '4'], { env: api.env });
    assert.doesNotMatch(whole.stdout, /older/);
    assert.equal((await run('list', '--limit', '4')).more, false);
  });

  test('`delivery list --id` finds what is of another organisation [OPS-39]', async () => {
    const [failing] = tenants as [Tenant];
    const { items } = await run('list');
    const ids = items.map(({ id }) => id).join();
    await faults.fail(failing.organisationId);
    try {
      assert.equal((await run('list', '--id', ids)).items.length, 2);
    } finally {
      await faults.mend(failing.organisationId);
    }
    assert.equal((await run('list', '--id', ids)).items.length, 4);
    assert.deepEqual((await run('list', '--id', ids, '--status', 'held')).items, []);
    const unknown = ['delivery', 'list', '--id', failing.organisationId];
    assert.match((await runCommand(unknown, { env: api.env })).stderr, /There is no such delivery/);
  });

  for (const args of [['show'], ['replay', '--dry-run']])
    test(`\`delivery ${args[0]}\` finds what is of another organisation, and says that it may be in the refused one [OPS-39]`, async () => {
      const { pool } = api.database;
      await pool.query(
        `update exchange_head set held_at = now(), held_reason = 'refused_422', due_at = null`,
      );
      const idOf = async ({ organisationId }: Tenant) => {
        const { rows } = await pool.query<{ id: string }>(
          'select id from exchange_delivery where organisation_id = $1 limit 1',
          [organisationId],
        );
        return rows[0]?.id ?? '';
      };
      const [failing, well] = tenants as [Tenant, Tenant];
      const [lost, found] = [await idOf(failing), await idOf(well)];
      const command = (id: string) => runCommand(['delivery', ...args, '--id', id], { env: api.env });
      await faults.fail(failing.organisationId);
      try {
        const { code, stderr } = await command(found);
        assert.deepEqual([code, stderr], [0, '']);
        const refused = await command(lost);
        assert.equal(refused.code, 1);
        assert.match(refused.stderr, /it may be in one of these/);
      } finally {
        await faults.mend(failing.organisationId);
      }
      assert.match((await command(failing.organisationId)).stderr, /There is no (such )?delivery/);
    });

  test('`delivery count` counts the others, names it, and ends with code 1 [OPS-39]', async () => {
    const [failing] = tenants as [Tenant];
    await faults.fail(failing.organisationId);
    try {
      const { code, items, failed } = await run('count');
      assert.deepEqual([code, items.length, failed], [1, 1, [failing.organisationId]]);
    } finally {
      await faults.mend(failing.organisationId);
    }
  });

  describe('of deliveries that are held in both', () => {
    let heldIds: string[];
    beforeEach(async () => {
      await api.database.pool.query(
        `update exchange_head set held_at = now(), held_reason = 'refused_422', due_at = null`,
      );
      heldIds = (await run('list', '--status', 'held')).items.map(({ id }) => id);
    });
    const command = (...args: string[]) => runCommand(['delivery', ...args], { env: api.env });
    const stillHeld = async () => (await run('list', '--status', 'held')).items.map(({ id }) => id);

    test('`delivery replay --id` takes ids of several organisations [EXC-29]', async () => {
      const { stdout } = await command('replay', '--id', heldIds.join().toUpperCase(), '--json');
      const { count, deliveryIds } = JSON.parse(stdout) as { count: number; deliveryIds: string[] };
      assert.deepEqual([count, deliveryIds.toSorted()], [4, heldIds.toSorted()]);
      assert.deepEqual(await stillHeld(), []);
    });

    test('one that is unknown, or held in none of them, keeps it from changing any [EXC-29]', async () => {
      const unknown = await command('replay', '--id', [...heldIds, crypto.randomUUID()].join());
      assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
      assert.match(unknown.stderr, /There is no such delivery/);
      const last = (await run('list')).items
        .toSorted((a, b) => (a.connectionId < b.connectionId ? 1 : -1))
        .map(({ id }) => id);
      await command('replay', '--id', last[0] ?? '');
      const left = await stillHeld();
      const notHeld = await command('skip', '--reason', 'x', '--id', last.join());
      assert.deepEqual([notHeld.code, notHeld.stdout], [1, '']);
      assert.match(notHeld.stderr, /is not held/);
      assert.deepEqual(await stillHeld(), left);
    });

    test('`delivery replay --patient` asks about the patient once, and names the organisation that may have some, too [EXC-29]', async () => {
      const { pool } = api.database;
      const [failing, well] = tenants as [Tenant, Tenant];
      const { rows } = await pool.query<{ patientId: string }>(
        'select patient_id as "patientId" from exchange_head where organisation_id = $1 limit 1',
        [well.organisationId],
      );
      const patientId = rows[0]?.patientId ?? '';
      const entries = async () =>
        (await pool.query('select from access_log where patient_id = $1', [patientId])).rowCount ?? 0;
      const before = await entries();
      const dryRun = await command('replay', '--patient', patientId, '--dry-run');
      assert.deepEqual([dryRun.code, dryRun.stdout], [0, '1 would be replayed\n']);
      assert.equal((await entries()) - before, 1);
      await faults.fail(failing.organisationId);
      try {
        const { code, stdout } = await command('replay', '--patient', patientId);
        assert.equal(code, 1);
        assert.match(
          stdout,
          new RegExp(`^1 replayed\nThe deliveries of organisation ${failing.organisationId}`),
        );
      } finally {
        await faults.mend(failing.organisationId);
      }
      assert.equal((await entries()) - before, 2);
    });

    for (const [index, which] of ['first', 'last'].entries())
      test(`\`delivery replay\` counts what it did, names the ${which} that the database refuses, and ends with code 1 [EXC-29]`, async () => {
        const { organisationId } = tenants[index] as Tenant;
        await faults.fail(organisationId);
        try {
          const { code, stdout } = await command('replay');
          assert.equal(code, 1);
          assert.match(
            stdout,
            new RegExp(`^2 replayed\nThe deliveries of organisation ${organisationId} could not be replayed`),
          );
        } finally {
          await faults.mend(organisationId);
        }
        assert.match((await command('replay')).stdout, /^2 replayed$/m);
      });
  });
});
