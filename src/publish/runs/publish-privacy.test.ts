/** What patients refuse is not published, and logged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isError, usePublishApi } from '../../../test-support/publish/publish-api.ts';
import { createClinic } from '../../../test-support/publish/publish-records.ts';

const SECRET = 'tok-9f3b1c77-never-logged';
const t = usePublishApi();

test('privacy: a refused purpose is 403, logged, and nothing is sent; another purpose goes [PUB-49]', async () => {
  await t.addTarget();
  await t.api.database.pool.query(
    "update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = $2",
    [t.tenant.organisationId, t.clinic.patientId],
  );
  isError(await t.post(), 403, /privacy/);
  isError(await t.get(), 403, /privacy/);
  // Parameters come before the record and its patient.
  isError(await t.post('?target=other'), 400, /no target of that name/);
  assert.equal((await t.server.state()).seen.length, 0);
  assert.equal((await t.post('?purposeOfUse=TREATMENT')).status, 200);
  const { rows } = await t.api.database.pool.query(
    'select action, outcome, purpose_of_use from access_log where organisation_id = $1 order by action, outcome',
    [t.tenant.organisationId],
  );
  assert.deepEqual(
    rows.map(({ action, outcome, purpose_of_use }) => [action, outcome, purpose_of_use]),
    [
      ['lab-order.publications.read', 'refused', 'OPS'],
      ['lab-order.publish', 'allowed', 'TREATMENT'],
      ['lab-order.publish', 'refused', 'OPS'],
    ],
  );
});

test('privacy of another patient that the order names: logged before, not sent, and the answer says so [PUB-50]', async () => {
  await t.addTarget({ referencePolicy: 'send' });
  const scope = { ...t.tenant, timeZone: 'UTC' };
  const other = await createClinic(t.api.database.pool, { results: 1, scope });
  await t.clinic.change({ observation: { focus: [{ reference: `Patient/${other.patientId}` }] } });
  await t.api.database.pool.query(
    "update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = $2",
    [t.tenant.organisationId, other.patientId],
  );
  const { status, json } = await t.post();
  assert.equal(status, 200);
  assert.deepEqual(json.notSent, [
    {
      element: 'Observation.focus',
      resourceType: 'Patient',
      localId: other.patientId,
      reason: 'refused',
    },
  ]);
  assert.ok(!(await t.server.state()).resources.some(({ id }) => id === other.patientId));
  const { rows } = await t.api.database.pool.query(
    'select patient_id, action, outcome from access_log where organisation_id = $1 order by sequence',
    [t.tenant.organisationId],
  );
  assert.deepEqual(
    rows.map(({ patient_id, action, outcome }) => [patient_id, action, outcome]),
    [
      [t.clinic.patientId, 'lab-order.publish', 'allowed'],
      [other.patientId, 'lab-order.publish', 'refused'],
    ],
  );
});

test('a refusal is logged and answered before a target that is missing, a secret that cannot be opened, or an address that is refused', async () => {
  const refuse = (purposes: string) =>
    t.api.database.pool.query(
      'update patient set refused_purposes = $3 where organisation_id = $1 and id = $2',
      [t.tenant.organisationId, t.clinic.patientId, purposes],
    );
  const outcomes = async () => {
    const { rows } = await t.api.database.pool.query(
      'select outcome from access_log where organisation_id = $1 order by outcome',
      [t.tenant.organisationId],
    );
    return rows.map(({ outcome }) => outcome);
  };
  await refuse('{OPS}');
  isError(await t.post(), 403, /privacy/);
  assert.deepEqual(await outcomes(), ['refused']);
  const { id } = await t.addTarget({}, SECRET);
  await t.api.database.pool.query(
    "update publish_target set sealed_secret = '\\x00', version = version + 1 where id = $1",
    [id],
  );
  isError(await t.post(), 403, /privacy/);
  assert.deepEqual(await outcomes(), ['refused', 'refused']);
  await refuse('{}');
  isError(await t.post(), 503, /secret of the target cannot be opened/);
  assert.deepEqual(await outcomes(), ['allowed', 'refused', 'refused']);
  await t.api.database.pool.query(
    "update publish_target set base = 'http://169.254.169.254/x', auth = 'none', secret_id = null, sealed_secret = null, version = version + 1 where id = $1",
    [id],
  );
  isError(await t.post(), 503, /address of the target is not allowed/);
});
