/** The tables by which panels are found by their members, and reports by their studies (docs/adr/0131). */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, test } from 'node:test';
import pg from 'pg';
import { needsPlainPostgres } from '../../../../test-support/database/plain-postgres.ts';
import { createImportTest, type ImportTest } from '../../../../test-support/records/import.ts';
import { migrate } from '../../../platform/db/migrate.ts';

const TRIGGERS = needsPlainPostgres('a distributed table has no triggers');

let t: ImportTest;
let owner: pg.Client;
beforeEach(async () => {
  t = await createImportTest();
  owner = new pg.Client({ connectionString: t.database.url });
  await owner.connect();
});
afterEach(async () => {
  await owner.end();
  await t.database.drop();
});

const subject = { reference: 'Patient/p' };
/** FHIR has no empty lists. */
const refer = (type: string, ids: readonly string[]) =>
  ids.length === 0 ? undefined : ids.map((id) => ({ reference: `${type}/${id}` }));
const result = (id: string, members: readonly string[] = []) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { text: id },
  subject,
  hasMember: refer('Observation', members),
});
const study = (id: string) => ({ resourceType: 'ImagingStudy', id, status: 'available', subject });
const report = (studies: readonly string[]) => ({
  resourceType: 'DiagnosticReport',
  id: 'report',
  status: 'final',
  code: { text: 'Report' },
  subject,
  imagingStudy: refer('ImagingStudy', studies),
});

async function load(...resources: object[]): Promise<void> {
  const entry = [{ resourceType: 'Patient', id: 'p' }, ...resources].map((resource) => ({ resource }));
  const { rejected } = await t.run([{ resourceType: 'Bundle', type: 'collection', entry }]);
  assert.deepEqual(rejected, []);
}

interface Found {
  members: number;
  studies: number;
}

/** How many rows the tables have, each of which an array has too. */
async function kept(): Promise<Found> {
  const [members] = await t.rows<{ kept: number; arrays: number }>(
    `select (select count(*)::int from observation_member m
       join observation o on o.organisation_id = $1 and o.id = m.observation_id and m.member_id = any(o.has_member_ids)
       where m.organisation_id = $1) as kept,
       (select count(*)::int from observation_member where organisation_id = $1) as arrays`,
    [t.scope.organisationId],
  );
  const [studies] = await t.rows<{ kept: number; arrays: number }>(
    `select (select count(*)::int from investigation_report_study s
       join investigation_report r on r.organisation_id = $1 and r.id = s.report_id and s.study_id = any(r.imaging_study_ids)
       where s.organisation_id = $1) as kept,
       (select count(*)::int from investigation_report_study where organisation_id = $1) as arrays`,
    [t.scope.organisationId],
  );
  assert.deepEqual([members?.kept, studies?.kept], [members?.arrays, studies?.arrays]);
  return { members: members?.kept ?? -1, studies: studies?.kept ?? -1 };
}

/** Until a later migration drops them. */
async function dropTriggers(): Promise<void> {
  await owner.query(`
    drop function if exists observation_member_keep cascade;
    drop function if exists investigation_report_study_keep cascade`);
}

describe('an import', () => {
  for (const [name, prepare] of [
    ['beside the triggers', async () => undefined],
    ['without triggers', dropTriggers],
  ] as const)
    test(`${name}, keeps members and studies, each once, and follows a change`, async () => {
      await prepare();
      const records = [result('a'), result('b'), study('s1'), study('s2')];
      await load(...records, result('panel', ['a', 'b', 'a']), report(['s1', 's1', 's2']));
      assert.deepEqual(await kept(), { members: 2, studies: 2 });
      await load(...records, result('panel', ['b']), report([]));
      assert.deepEqual(await kept(), { members: 1, studies: 0 });
    });

  test('that brings the same again changes nothing', async () => {
    const records = [result('a'), result('panel', ['a']), study('s'), report(['s'])];
    await load(...records);
    const versions = () =>
      t.rows(
        `select id, version from observation where organisation_id = $1
         union all select id, version from investigation_report where organisation_id = $1 order by id`,
        [t.scope.organisationId],
      );
    const before = await versions();
    await load(...records);
    assert.deepEqual(await versions(), before);
  });
});

describe('a process of the version before, which knows the arrays alone', () => {
  test('the tables follow what it inserts and changes', TRIGGERS, async () => {
    const values = [t.scope.organisationId, t.scope.facilityId];
    await load(result('a'), result('b'), study('s'), report([]), result('panel'));
    const ids = await t.rows<{ id: string; name: string }>(
      `select id, code ->> 'text' as name from observation where organisation_id = $1`,
      [t.scope.organisationId],
    );
    const id = (name: string) => ids.find((one) => one.name === name)?.id;
    const set = (members: readonly unknown[]) =>
      t.rows(
        `update observation set has_member_ids = $3
         where organisation_id = $1 and facility_id = $2 and code ->> 'text' = 'panel'`,
        [...values, members],
      );
    await set([id('a'), id('b'), id('a')]);
    assert.deepEqual(await kept(), { members: 2, studies: 0 });
    await set([id('b')]);
    assert.deepEqual(await kept(), { members: 1, studies: 0 });
    await t.rows(
      `insert into observation (organisation_id, facility_id, id, patient_id, kind, vital_sign, status, code,
         content_digest, has_member_ids)
       select organisation_id, facility_id, gen_random_uuid(), patient_id, kind, vital_sign, status, '{}',
         content_digest, has_member_ids
       from observation
       where organisation_id = $1 and facility_id = $2 and code ->> 'text' = 'panel'`,
      values,
    );
    assert.deepEqual(await kept(), { members: 2, studies: 0 });
    await t.rows(
      `update investigation_report
       set imaging_study_ids = array(select id from imaging_study where organisation_id = $1 and facility_id = $2)
       where organisation_id = $1 and facility_id = $2`,
      values,
    );
    assert.deepEqual(await kept(), { members: 2, studies: 1 });
  });

  test('the migration takes what it has stored', TRIGGERS, async () => {
    await load(result('a'), result('panel', ['a']), study('s'), report(['s']));
    await dropTriggers();
    await owner.query(`
      drop table observation_member, investigation_report_study;
      delete from schema_migration where name = '0150-members-by-id.sql'`);
    assert.deepEqual(await migrate(t.database.url), ['0150-members-by-id.sql']);
    assert.deepEqual(await kept(), { members: 1, studies: 1 });
  });

  test(
    'a process of the version before may change what has triggers as soon as the migration is committed',
    TRIGGERS,
    async () => {
      const sql = await readFile(
        new URL('../../../../migrations/0150-members-by-id.sql', import.meta.url),
        'utf8',
      );
      await owner.query('begin');
      await owner.query('drop table observation_member, investigation_report_study cascade');
      await owner.query('drop function observation_member_keep, investigation_report_study_keep cascade');
      await owner.query(sql);
      const { rows } = await owner.query(`
      select bool_and(has_table_privilege('interchange_service', kept, right_to)) as may
      from unnest(array['observation_member', 'investigation_report_study']) kept
      cross join unnest(array['select', 'insert', 'delete']) right_to`);
      await owner.query('rollback');
      assert.deepEqual(rows, [{ may: true }]);
    },
  );
});
