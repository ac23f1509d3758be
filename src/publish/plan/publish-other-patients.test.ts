/** Patients that a record names beside its own: each is asked and logged before anything of theirs is sent. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import {
  contextOf,
  createClinic,
  createTestPublisher,
  labOrderSource,
  type PublishClinic,
  startPublishing,
  type TestPublisher,
  vitalSetSource,
} from '../../../test-support/publish/publish-records.ts';
import type { Resource } from '../../../tools/fhir-simulator/fhir-store.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import type { IdPolicy, ReferencePolicy } from '../servers/fhir-server.ts';

const NAME = 'Aurelia Quillfeather';
const NUMBER = 'national-778812';

const { database, server } = await startPublishing('--no-integrity');

describe('patients that a record names beside its own', () => {
  let clinic: PublishClinic;
  let other: PublishClinic;
  let node: TestPublisher;
  beforeEach(async () => {
    const named = {
      name: [{ text: NAME }],
      identifier: [{ use: 'official', system: 'urn:oid:2.16', value: NUMBER }],
    };
    other = await createClinic(database.pool, { results: 1, changes: { patient: named } });
    const focus = [
      { reference: `Patient/${other.patientId}`, display: NAME },
      { reference: `Encounter/${other.encounterId}`, display: `Visit of ${NAME}` },
    ];
    clinic = await createClinic(database.pool, {
      results: 1,
      scope: other.scope,
      changes: { observation: { focus } },
    });
    node = createTestPublisher(database.pool);
  });

  const refuse = (purposes: string) =>
    database.pool.query('update patient set refused_purposes = $3 where organisation_id = $1 and id = $2', [
      clinic.scope.organisationId,
      other.patientId,
      purposes,
    ]);
  const addTarget = (referencePolicy: ReferencePolicy, idPolicy: IdPolicy = 'client') =>
    node.addTarget(clinic, { base: server.base, referencePolicy, idPolicy });
  const call = (does: 'publish' | 'plan', source = labOrderSource(database.pool), id = clinic.orderId) =>
    node.publisher[does](
      source,
      { id, target: undefined },
      contextOf(clinic.scope, { purposeOfUse: 'OPS', correlationId: randomUUID() }),
    );
  const ofOther = () =>
    node.entries
      .filter(({ patientId }) => patientId === other.patientId)
      .map(({ action, resourceType, resourceId, outcome }) => [action, resourceType, resourceId, outcome]);
  const entry = (outcome: string, action = 'lab-order.publish') => [
    action,
    'Patient',
    other.patientId,
    outcome,
  ];
  /** What stands for the two at the server. */
  async function focusThere(): Promise<unknown> {
    const { resources } = await server.state();
    return resources.find(({ resourceType }: Resource) => resourceType === 'Observation')?.focus;
  }
  const logical = (type: string, value: string) => ({
    type,
    identifier: { system: `urn:uuid:${clinic.scope.organisationId}`, value },
  });
  const byOurs = () => [logical('Patient', other.patientId), logical('Encounter', other.encounterId)];
  async function requireNothingOfOther(): Promise<void> {
    const { seen } = await server.state();
    assert.ok(seen.length > 0);
    for (const { path, body } of seen) {
      assert.ok(!path.includes(other.patientId) && !path.includes(other.encounterId), path);
      for (const mark of [NAME, NUMBER]) assert.ok(!body.includes(mark), `${path}: ${body}`);
    }
  }
  const notSent = (reason: string) => [
    { element: 'Observation.focus', resourceType: 'Patient', localId: other.patientId, reason },
    { element: 'Observation.focus', resourceType: 'Encounter', localId: other.encounterId, reason },
  ];

  for (const idPolicy of ['client', 'server'] as const)
    test(`send: of one who refuses nothing goes, and the answer says so (${idPolicy} ids) [PUB-50]`, async () => {
      await addTarget('send', idPolicy);
      await refuse('{OPS}');
      const answer = await call('publish');
      await requireNothingOfOther();
      assert.deepEqual(await focusThere(), byOurs());
      assert.deepEqual('notSent' in answer && answer.notSent, notSent('refused'));
      assert.deepEqual(ofOther(), [entry('refused')]);
    });

  test('send: of one who does not refuse it goes, once that is in their access log', async () => {
    await addTarget('send');
    const answer = await call('publish');
    const { resources } = await server.state();
    const there = resources.map(({ resourceType, id }) => `${resourceType}/${id}`);
    assert.ok(there.includes(`Patient/${other.patientId}`));
    assert.ok(there.includes(`Encounter/${other.encounterId}`));
    assert.deepEqual(ofOther(), [entry('allowed')]);
    assert.equal('notSent' in answer, false);
  });

  test('nothing is sent when the entry of another patient cannot be written [PUB-50]', async () => {
    await addTarget('send');
    const push = node.entries.push.bind(node.entries);
    node.entries.push = (...added) => {
      if (added.some(({ patientId }) => patientId === other.patientId)) throw new Error('not written');
      return push(...added);
    };
    await assert.rejects(call('publish'), /not written/);
    assert.equal((await server.state()).seen.length, 0);
  });

  test('a publish that goes on asks and logs again: who refuses by then is not named any more', async () => {
    await addTarget('send', 'server');
    await server.script({ kind: 'status', type: 'DiagnosticReport', status: 422 });
    await assert.rejects(call('publish'), /422/);
    await refuse('{OPS}');
    await server.script();
    await call('publish');
    assert.deepEqual(ofOther(), [entry('allowed'), entry('refused')]);
    // The server holds both by now; the result is written again, without the way to them.
    await requireNothingOfOther();
    assert.deepEqual(await focusThere(), byOurs());
  });

  for (const policy of ['send', 'logical', 'literal'] as const)
    test(`${policy}: one who is not registered at the facility is as one who is not there`, async () => {
      await addTarget(policy);
      await database.pool.query('delete from patient_registration where patient_id = $1', [other.patientId]);
      const answer = await call('publish');
      assert.deepEqual(await focusThere(), byOurs());
      await requireNothingOfOther();
      assert.deepEqual('notSent' in answer && answer.notSent, notSent('unavailable'));
    });

  test('logical: neither the number nor the name of one who refuses', async () => {
    await addTarget('logical');
    await refuse('{OPS}');
    const answer = await call('publish');
    await requireNothingOfOther();
    assert.deepEqual(await focusThere(), byOurs());
    assert.deepEqual('notSent' in answer && answer.notSent, notSent('refused'));
    assert.deepEqual(ofOther(), [entry('refused')]);
    await refuse('{}');
    await call('publish');
    assert.match(JSON.stringify(await focusThere()), new RegExp(`${NUMBER}.*${NAME}`));
    assert.deepEqual(ofOther(), [entry('refused'), entry('allowed')]);
  });

  test('literal: not the name of one who refuses', async () => {
    await addTarget('literal');
    await refuse('{OPS}');
    await call('publish');
    assert.deepEqual(await focusThere(), byOurs());
    assert.deepEqual(ofOther(), [entry('refused')]);
  });

  for (const policy of ['send', 'logical', 'literal'] as const)
    test(`${policy}: a result of one who refuses is as they are`, async () => {
      const resultId = String(other.observationIds[0]);
      await addTarget(policy);
      const focus = [{ reference: `Observation/${resultId}`, display: `Test of ${NAME}` }];
      await clinic.change({ observation: { focus } });
      await refuse('{OPS}');
      const answer = await call('publish');
      await requireNothingOfOther();
      assert.deepEqual(await focusThere(), [logical('Observation', resultId)]);
      assert.deepEqual('notSent' in answer && answer.notSent, [
        { element: 'Observation.focus', resourceType: 'Observation', localId: resultId, reason: 'refused' },
      ]);
      assert.deepEqual(ofOther(), [entry('refused')]);
    });

  test('a vital set alike: the action in the log is its own', async () => {
    await addTarget('send');
    await refuse('{OPS}');
    const category = {
      system: 'http://terminology.hl7.org/CodeSystem/observation-category',
      code: 'vital-signs',
    };
    await clinic.change({
      observation: {
        category: [{ coding: [category] }],
        code: { coding: [{ system: 'http://loinc.org', code: '2708-6' }] },
        valueQuantity: { value: 97, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
        focus: [{ reference: `Patient/${other.patientId}`, display: NAME }],
      },
    });
    const { rows } = await database.pool.query('select id from vital_set where patient_id = $1', [
      clinic.patientId,
    ]);
    const answer = await call('publish', vitalSetSource(database.pool), rows[0].id);
    await requireNothingOfOther();
    assert.deepEqual('notSent' in answer && answer.notSent, notSent('refused').slice(0, 1));
    assert.deepEqual(ofOther(), [entry('refused', 'vital-set.publish')]);
  });

  test('a dry run says what would not be sent, shows nothing of it, and is logged as one', async () => {
    await addTarget('logical');
    await refuse('{OPS}');
    const plan = await call('plan');
    assert.deepEqual('notSent' in plan && plan.notSent, notSent('refused'));
    assert.ok(![NAME, NUMBER].some((mark) => JSON.stringify(plan).includes(mark)));
    assert.deepEqual('faults' in plan && plan.faults, []);
    assert.deepEqual(ofOther(), [entry('refused', 'lab-order.publish-dry-run')]);
    assert.equal((await server.state()).seen.length, 0);
  });

  test('a dry run of one who may read patients and encounters shows those of the order alone [PUB-48]', async () => {
    await addTarget('send');
    const context = contextOf(clinic.scope, { purposeOfUse: 'OPS', correlationId: randomUUID() });
    const caller = {
      ...context.caller,
      permissions: new Set(['patients.patients.get', 'encounters.access']),
      facilities: new Map([[clinic.scope.facilityId, { modules: new Set(['patients', 'encounters']) }]]),
    } as unknown as FacilityContext['caller'];
    const request = { id: clinic.orderId, target: undefined };
    const plan = await node.publisher.plan(labOrderSource(database.pool), request, { ...context, caller });
    const ids = plan.requests.map(({ localId }) => localId);
    for (const id of [other.patientId, other.encounterId]) assert.ok(ids.includes(id), 'would be sent');
    const shown = plan.requests.filter(({ resource }) => resource !== undefined);
    assert.deepEqual(
      shown.map(({ localId }) => localId).sort(),
      [clinic.patientId, clinic.encounterId].sort(),
    );
    assert.ok(!JSON.stringify(plan).includes(NAME));
  });
});
