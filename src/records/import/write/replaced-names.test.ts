/** The names that patients inherit from those whom they replace, whichever of two imports comes first. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { useImportTest } from '../../../../test-support/records/import.ts';
import { waitForLock } from '../../../../test-support/wait-until.ts';

const t = await useImportTest();

const person = (id: string, family: string, links: readonly [type: string, other: string][] = []) => ({
  resourceType: 'Patient',
  id,
  birthDate: '1970-01-01',
  name: [{ family }],
  ...(links.length > 0 && {
    link: links.map(([type, other]) => ({ type, other: { reference: `Patient/${other}` } })),
  }),
});

async function take(...people: readonly object[]): Promise<void> {
  for (const one of people) assert.deepEqual((await t.run([one])).rejected, []);
}

/** Names that the patient inherits, with what they are ordered by. */
async function inherited(id: string): Promise<string[]> {
  const rows = await t.rows<{ text: string }>(
    `select key || ' as ' || sort_name as text from patient_search_key where patient_id = $1 and kind = 'replaced'`,
    [id],
  );
  return rows.map(({ text }) => text).sort();
}

test('a patient has the names of those whom it replaces, by way of others too [PAT-11]', async () => {
  const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
  await take(person(first, 'One'), person(second, 'Two', [['replaces', first]]), person(third, 'Three'));
  await take(
    person(second, 'Two', [
      ['replaces', first],
      ['replaced-by', third],
    ]),
  );
  assert.deepEqual(await inherited(third), ['one as three', 'two as three']);
  await take(person(first, 'Uno'), person(third, 'Tres'));
  assert.deepEqual(await inherited(third), ['two as tres', 'uno as tres']);
  assert.deepEqual(await inherited(first), []);
});

/** Starts the import while another transaction has done `work` and is open; it must wait for it. */
async function importBeside(
  one: object,
  work: (query: (text: string, values: unknown[]) => Promise<unknown>) => Promise<void>,
) {
  const holder = await t.database.pool.connect();
  try {
    await holder.query('begin');
    await work((text, values) => holder.query({ text, values }));
    const taken = take(one);
    // It fails if it is over before.
    await Promise.race([waitForLock(t.database.pool), taken.then(() => assert.fail('it waits for nobody'))]);
    await holder.query('commit');
    await taken;
  } finally {
    holder.release();
  }
}

test('a name that another import is changing is inherited as it is then [PAT-11]', async () => {
  const [old, next] = [randomUUID(), randomUUID()];
  await take(person(old, 'Before'), person(next, 'Next'));
  await importBeside(person(next, 'Next', [['replaces', old]]), async (query) => {
    await query(`update patient set sort_name = 'after' where id = $1`, [old]);
    await query(`update patient_search_key set key = 'after' where patient_id = $1 and kind = 'name'`, [old]);
  });
  assert.deepEqual(await inherited(next), ['after as next']);
});

test('a name that comes while another import links the patient is inherited [PAT-11]', async () => {
  const [old, next] = [randomUUID(), randomUUID()];
  const { organisationId } = t.scope;
  await take(person(old, 'Before'), person(next, 'Next'));
  await importBeside(person(old, 'After'), async (query) => {
    await query('select from patient where id = $1 for no key update', [old]);
    await query(
      `insert into patient_link (organisation_id, patient_id, position, other_id, type) values ($1, $2, 0, $3, 'replaces')`,
      [organisationId, next, old],
    );
  });
  assert.deepEqual(await inherited(next), ['after as next']);
});

/** Each replaces the one before. */
function chainOf(ids: readonly string[]): object[] {
  return ids.map((id, at) => person(id, `Link${at}`, at === 0 ? [] : [['replaces', ids[at - 1] ?? '']]));
}

test('a chain of links has an end, in a dry run too: each name stands with all who follow [IN-24, PAT-11]', async () => {
  const ids = (length: number) => Array.from({ length }, () => randomUUID());
  const [older, newer, between] = [ids(25), ids(25), randomUUID()];
  for (const one of [older, newer]) assert.deepEqual((await t.run(chainOf(one))).rejected, []);
  const joining = person(between, 'Between', [
    ['replaces', older.at(-1) ?? ''],
    ['replaced-by', newer[0] ?? ''],
  ]);
  const dry = await t.run([joining], { dryRun: true });
  const real = await t.run([joining]);
  assert.match(real.rejected[0]?.reason ?? '', /too many others/);
  assert.deepEqual(dry, real);
  assert.deepEqual(await t.rows('select from patient where id = $1', [between]), []);
  assert.equal((await inherited(newer.at(-1) ?? '')).length, 24);
});

test('a patient who replaces many has the names of all, whichever comes first [PAT-11]', async () => {
  const others = Array.from({ length: 100 }, (_, at) => [randomUUID(), `Other${at}`] as const);
  const current = person(
    randomUUID(),
    'Current',
    others.map(([id]) => ['replaces', id]),
  );
  const people = others.map(([id, family]) => person(id, family));
  assert.deepEqual((await t.run([...people.slice(0, 50), current, ...people.slice(50)])).rejected, []);
  assert.equal((await inherited(current.id)).length, 100);
});

test('the end of a chain has the names of all, whichever end comes first [PAT-11]', async () => {
  for (const turned of [false, true]) {
    const ids = Array.from({ length: 60 }, () => randomUUID());
    const people = turned ? chainOf(ids).toReversed() : chainOf(ids);
    assert.deepEqual((await t.run(people)).rejected, []);
    assert.equal((await inherited(ids.at(-1) ?? '')).length, 59);
  }
});
