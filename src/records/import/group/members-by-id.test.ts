/** The tables by which panels are found by their members, and reports by their studies (docs/adr/0131). */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createImportTest, type ImportTest } from '../../../../test-support/records/import.ts';

let t: ImportTest;
beforeEach(async () => {
  t = await createImportTest();
});
afterEach(async () => {
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

describe('an import', () => {
  test('keeps members and studies, each once, and follows a change', async () => {
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
