/** Imports of one patient's records that run at the same time end as they would one after the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useImportTest } from '../../../../test-support/records/import.ts';
import { sized } from '../../../../test-support/sized.ts';

const t = await useImportTest();

const COUNT = sized(20, 60);
const numbers = Array.from({ length: COUNT }, (_, index) => index);
const subject = { reference: 'Patient/p' };
const study = (index: number, more: object = {}) => ({
  resourceType: 'ImagingStudy',
  id: `i${index}`,
  status: 'available',
  subject,
  ...more,
});

test('a report that lists a study while that study gets its order: both are under it', async () => {
  const scope = await t.createOrganisation();
  const orders = numbers.map((index) => ({
    resourceType: 'ServiceRequest',
    id: `s${index}`,
    status: 'active',
    intent: 'order',
    subject,
  }));
  await t.run([{ resourceType: 'Patient', id: 'p' }, ...orders, ...numbers.map((index) => study(index))], {
    scope,
  });
  const changes = numbers.flatMap((index) => [
    {
      resourceType: 'DiagnosticReport',
      id: `r${index}`,
      status: 'final',
      code: { text: 'Report' },
      subject,
      imagingStudy: [{ reference: `ImagingStudy/i${index}` }],
    },
    study(index, { basedOn: [{ reference: `ServiceRequest/s${index}` }] }),
  ]);
  const { rejected } = await t.run(changes, { scope, workers: 6 });
  assert.deepEqual(rejected, []);
  const apart = await t.rows(
    `select r.id
      from investigation_report r
      join imaging_study s on s.organisation_id = r.organisation_id and s.id = any(r.imaging_study_ids)
      where r.organisation_id = $1 and r.order_id <> s.order_id`,
    [scope.organisationId],
  );
  assert.deepEqual(apart, []);
  const madeUp = await t.rows('select id from investigation_order where organisation_id = $1 and made_up', [
    scope.organisationId,
  ]);
  assert.deepEqual(madeUp, []);
});
