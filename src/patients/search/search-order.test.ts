/** Pages of a search, one after the other, are all whom it finds, each once, in the order of their names. */
import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { lines, useImportTest } from '../../../test-support/records/import.ts';
import { sized } from '../../../test-support/sized.ts';
import { patientSearchKeys, searchTerms } from '../../clinical/resources/search-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { createPatientSearcher, type PatientPosition } from './search-patients.store.ts';

const SEARCHES = sized(15, 600);
const IMPORTS = 4;
const PEOPLE = 120;
/** Many have the first of them, so that the page of a name ends before the pages of others. */
const NAMES = [
  'Ada',
  'Ada',
  'Ada',
  'Ada',
  'Adam',
  'Adán',
  'ad%',
  'ad_m',
  'Öz-Berg',
  "O'Neil",
  'oz%\\',
  'Zoë',
  'Bo',
];

interface Person {
  resourceType: 'Patient';
  id: string;
  birthDate: string;
  name: { family: string; given: string[] }[];
  link: { type: string; other: { reference: string } }[] | undefined;
}
/** As each was imported last. */
const people = new Map<string, Person>();

const oneOf = <Item>(items: readonly Item[]): Item => items[randomInt(items.length)] as Item;

function person(id: string = randomUUID()): Person {
  const others = [...people.keys()].filter((other) => other !== id);
  const isLinked = randomInt(5) === 0 && others.length > 0;
  return {
    resourceType: 'Patient',
    id,
    // The same person, whatever the name.
    birthDate: '1970-01-01',
    name: Array.from({ length: 1 + randomInt(2) }, () => ({ family: oneOf(NAMES), given: [oneOf(NAMES)] })),
    link: isLinked
      ? Array.from({ length: 1 + randomInt(2) }, () => ({
          type: oneOf(['replaces', 'replaced-by']),
          other: { reference: `Patient/${oneOf(others)}` },
        }))
      : undefined,
  };
}

const t = await useImportTest();
const here = t.scope;
const elsewhere = await t.createFacility(here.organisationId);
for (let round = 0; round < IMPORTS; round += 1) {
  const again = [...people.keys()].filter(() => randomInt(5) === 0).map((id) => person(id));
  const coming = [...again, ...Array.from({ length: PEOPLE }, () => person())];
  for (const one of coming) people.set(one.id, one);
  const { rejected } = await t.run([lines(coming)], { reach: 'organisation' });
  assert.deepEqual(rejected, []);
}
// Two in three are registered at the other facility, of whom half are here too.
const there = [...people.keys()].filter(() => randomInt(3) > 0);
await t.rows(
  `insert into patient_registration (organisation_id, facility_id, patient_id) select $1, $2, unnest($3::uuid[])`,
  [here.organisationId, elsewhere.facilityId, there],
);
await t.rows(
  `delete from patient_registration where organisation_id = $1 and facility_id = $2 and patient_id = any($3)`,
  [here.organisationId, here.facilityId, there.filter(() => randomInt(2) === 0)],
);
await t.rows(`update patient set refused_purposes = '{OPS}' where id = any($1)`, [
  [...people.keys()].filter(() => randomInt(6) === 0),
]);

/** Whom a search finds, looked up one by one. */
async function expected(scope: FacilityScope, search: string): Promise<PatientPosition[]> {
  const shown = new Map(
    (
      await t.rows<{ id: string; name: string }>(
        `select p.id, p.sort_name as name
         from patient p
         join patient_registration r on r.patient_id = p.id
         where r.facility_id = $1 and not 'OPS' = any(p.refused_purposes)`,
        [scope.facilityId],
      )
    ).map(({ id, name }) => [id, name]),
  );
  const links = await t.rows<{ replaced: string; survivor: string }>(
    'select replaced_id as replaced, survivor_id as survivor from patient_link where replaced_id is not null',
  );
  const words = searchTerms(search).nameStarts;
  const meets = (id: string) => {
    const names = people.get(id)?.name ?? [];
    const keys = patientSearchKeys({ names, identifiers: [], telecoms: [] }).map(({ key }) => key);
    return words.every((word) => keys.some((key) => key.startsWith(word)));
  };
  const found = new Set<string>();
  const add = (id: string) => {
    if (found.has(id) || !shown.has(id)) return;
    found.add(id);
    for (const { replaced, survivor } of links) if (replaced === id) add(survivor);
  };
  for (const id of people.keys()) if (meets(id)) add(id);
  return (
    await t.rows<{ id: string; name: string }>(
      'select id, sort_name as name from patient where id = any($1) order by sort_name, id',
      [[...found]],
    )
  ).map(({ id, name }) => [name, id]);
}

async function pages(scope: FacilityScope, search: string, limit: number): Promise<PatientPosition[]> {
  const all: PatientPosition[] = [];
  for (;;) {
    const { patients: page } = await createPatientSearcher(t.database.pool)(scope, {
      terms: searchTerms(search),
      purposeOfUse: 'OPS',
      after: all.at(-1),
      limit,
    });
    all.push(...page.map(({ position }) => position));
    if (page.length < limit) return all;
  }
}

function randomSearch(): string {
  const word = () => {
    const name = oneOf(NAMES);
    const start = name.slice(0, 1 + randomInt(name.length));
    return oneOf([start, start.toLowerCase(), start.toUpperCase()]);
  };
  return Array.from({ length: oneOf([1, 1, 1, 2]) }, word).join(' ');
}

async function assertPages(): Promise<void> {
  for (let number = 0; number < SEARCHES; number += 1) {
    const [search, limit, scope] = [randomSearch(), oneOf([7, 21, 101]), oneOf([here, elsewhere])];
    assert.deepEqual(
      await pages(scope, search, limit),
      await expected(scope, search),
      `${search}, ${limit} at a time, at ${scope === here ? 'one' : 'the other'} facility`,
    );
  }
}

test('all pages of a search are all whom it finds, in the order of their names [PAT-2, PAT-4, PAT-5, PAT-11]', () =>
  assertPages());

test('searches that arrive together share statements, and each gets the page that it gets alone [PAT-2, ACC-3]', async () => {
  const everywhere = await t.createFacility(here.organisationId);
  await t.rows(
    'insert into patient_registration (organisation_id, facility_id, patient_id) select $1, $2, unnest($3::uuid[])',
    [here.organisationId, everywhere.facilityId, [...people.keys()]],
  );
  const scopes = [everywhere, everywhere, here, await t.createOrganisation()];
  const searches = Array.from({ length: 60 }, () => ({
    scope: oneOf(scopes),
    // Few have several such names, so that one statement fills the page where everybody is shown.
    terms: searchTerms(oneOf(['bo', 'one', 'zo', 'öz-b'])),
    purposeOfUse: oneOf(['OPS', 'TREATMENT'] as const),
    after: oneOf([undefined, ['bo', randomUUID()] as const]),
    limit: 21,
  }));
  const sizes: number[] = [];
  const counted = {
    async query(statement: { name?: string; text: string; values: unknown[] }) {
      if (statement.name?.startsWith('patient-walk-') === true)
        sizes.push((statement.values[2] as string[]).length);
      return t.database.pool.query(statement);
    },
  } as unknown as Queryable;
  const search = createPatientSearcher(counted);
  const together = await Promise.all(searches.map(({ scope, ...one }) => search(scope, one)));
  assert.ok(Math.max(...sizes) > 1, `${sizes.join(', ')} searches in a statement`);
  for (const [index, { scope, ...one }] of searches.entries())
    assert.deepEqual(together[index], await search(scope, one));
  assert.ok(together.some((found) => found.patients.length === 21));
});
