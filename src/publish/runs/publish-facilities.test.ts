/** Facilities of one organisation that publish what they share to a server without conditional create. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { serveFhir } from '../../../test-support/fhir-server/start.ts';
import {
  createClinic,
  createTestPublisher,
  type PublishClinic,
  startPublishing,
} from '../../../test-support/publish/publish-records.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { PUBLISH } from '../servers/publish-settings.ts';

const SHARED_TYPES = ['Organization', 'Practitioner'];
/** Patient, Encounter, ServiceRequest, Observation and DiagnosticReport of each clinic. */
const OWN = 5;

const { database, server } = await startPublishing('--no-client-ids', '--no-conditional-create');
const takesOurs = await serveFhir();
after(() => takesOurs.stop());

describe('two facilities that share a practitioner and an organisation', () => {
  async function createClinics(): Promise<[PublishClinic, PublishClinic]> {
    const first = await createClinic(database.pool, { results: 1 });
    const { organisationId } = first.scope;
    const facilityId = randomUUID();
    await database.pool.query('insert into facility (organisation_id, id, name) values ($1, $2, $3)', [
      organisationId,
      facilityId,
      'Second Facility',
    ]);
    const second = await createClinic(database.pool, {
      results: 1,
      scope: { organisationId, facilityId, timeZone: 'UTC' },
      practitioner: first.practitioner,
      hospital: first.hospital,
    });
    return [first, second];
  }

  async function startNode(clinic: PublishClinic) {
    const node = createTestPublisher(database.pool, { clock: PUBLISH.clock });
    const target = await node.addTarget(clinic, {
      base: server.base,
      idPolicy: 'server',
      referencePolicy: 'send',
    });
    return { publish: node.publish, target };
  }

  async function requireOneOfEach(clinics: PublishClinic[], fhirServerId: string): Promise<void> {
    const { resources } = await server.state();
    for (const type of SHARED_TYPES)
      assert.equal(resources.filter(({ resourceType }) => resourceType === type).length, 1, type);
    const { rows } = await database.pool.query(
      'select resource_type, server_id from publish_resource where target_id = $1',
      [fhirServerId],
    );
    const recorded = rows.filter(({ resource_type }) => SHARED_TYPES.includes(resource_type));
    assert.deepEqual(
      recorded.map(({ resource_type, server_id }) => `${resource_type}/${server_id}`).sort(),
      resources
        .filter(({ resourceType }) => SHARED_TYPES.includes(resourceType))
        .map(({ resourceType, id }) => `${resourceType}/${id}`)
        .sort(),
    );
    assert.equal(resources.length, OWN * clinics.length + SHARED_TYPES.length, 'everything once');
  }

  test('one after the other: what the first made is updated by the second [PUB-34]', async () => {
    const clinics = await createClinics();
    const { publish, target } = await startNode(clinics[0]);
    const first = await publish(clinics[0]);
    const second = await publish(clinics[1], { target: target.name });
    const shared = (published: typeof first) =>
      published.filter(({ resourceType }) => SHARED_TYPES.includes(resourceType));
    assert.deepEqual(
      shared(second)
        .map(({ id, method, status }) => [id, method, status])
        .sort(),
      shared(first)
        .map(({ id }) => [id, 'PUT', 200])
        .sort(),
    );
    await requireOneOfEach(clinics, target.id);
  });

  test('at once, from two processes: the second waits for the first [PUB-33, PUB-34]', async () => {
    const clinics = await createClinics();
    const { publish, target } = await startNode(clinics[0]);
    const other = createTestPublisher(database.pool, { clock: PUBLISH.clock });
    await server.script(
      { kind: 'slow', type: 'Practitioner', delayMs: 100 },
      { kind: 'slow', type: 'Organization', delayMs: 100 },
    );
    await Promise.all([publish(clinics[0]), other.publish(clinics[1], { target: target.name })]);
    await requireOneOfEach(clinics, target.id);
  });

  test('lost by the server and missed by both at once: made anew once', async () => {
    const clinics = await createClinics();
    const { publish, target } = await startNode(clinics[0]);
    const first = await publish(clinics[0]);
    await publish(clinics[1]);
    const doctor = first.find(({ resourceType }) => resourceType === 'Practitioner');
    await server.remove(`Practitioner/${doctor?.id}`);
    const gone = {
      kind: 'status',
      type: 'Practitioner',
      key: `Practitioner/${doctor?.id}`,
      status: 404,
    } as const;
    await server.script(
      { ...gone, method: 'PUT', times: 2 },
      { kind: 'slow', type: 'Practitioner', delayMs: 100 },
    );
    await Promise.all([publish(clinics[0]), publish(clinics[1])]);
    await requireOneOfEach(clinics, target.id);
    assert.notEqual(
      (await publish(clinics[0])).find(({ resourceType }) => resourceType === 'Practitioner')?.id,
      doctor?.id,
    );
  });
});

describe('many patients who share a practitioner and an organisation', () => {
  for (const idPolicy of ['client', 'server'] as const)
    test(`at once: none of their publishes fails because the others write these too (ids by ${idPolicy}) [PUB-30]`, async () => {
      const first = await createClinic(database.pool, { results: 1 });
      const { scope, practitioner, hospital } = first;
      const clinics = [first];
      while (clinics.length < 16)
        clinics.push(await createClinic(database.pool, { results: 1, scope, practitioner, hospital }));
      const node = createTestPublisher(database.pool, { clock: PUBLISH.clock });
      const base = idPolicy === 'client' ? takesOurs.base : server.base;
      await node.addTarget(first, { base, idPolicy, referencePolicy: 'send' });
      await node.publish(first);
      const published = await Promise.all(clinics.map((clinic) => node.publish(clinic)));
      for (const one of published) assert.equal(one.length, OWN + SHARED_TYPES.length);
    });

  test('for the first time: what one of them made is updated by all others at once', async () => {
    const first = await createClinic(database.pool, { results: 1 });
    const { scope, practitioner, hospital } = first;
    const clinics = [first];
    while (clinics.length < 3)
      clinics.push(await createClinic(database.pool, { results: 1, scope, practitioner, hospital }));
    const lease = { ...PUBLISH.lease, waitMs: 20_000 };
    const node = createTestPublisher(database.pool, { clock: PUBLISH.clock, lease });
    const settings = { idPolicy: 'server', referencePolicy: 'send', timeoutMs: 60_000 } as const;
    await node.addTarget(first, { base: server.base, ...settings });
    const held = { kind: 'hold', type: 'Practitioner' } as const;
    await server.script({ ...held, method: 'POST' }, { ...held, method: 'PUT' });
    const publishes = clinics.map((clinic) => node.publish(clinic));
    await waitUntil(async () => {
      const { seen, held: waiting } = await server.state();
      return waiting === 1 && seen.filter(({ path }) => path === 'Patient').length === clinics.length;
    }, 'all have begun');
    await server.release();
    await waitUntil(async () => (await server.state()).held === 1, 'one updates the practitioner');
    // That of whom created it, and that of whom is not held.
    const ended = new Set<number>();
    for (const [index, publish] of publishes.entries())
      void publish.then(
        () => ended.add(index),
        () => undefined,
      );
    await waitUntil(() => ended.size === 2, 'the third one waits for nobody');
    await server.release();
    for (const one of await Promise.all(publishes)) assert.equal(one.length, OWN + SHARED_TYPES.length);
  });

  test('that somebody else changed: the next publish writes over that version only [PUB-40]', async () => {
    const clinic = await createClinic(database.pool, { results: 1 });
    const node = createTestPublisher(database.pool, { clock: PUBLISH.clock });
    await node.addTarget(clinic, { base: server.base, idPolicy: 'server', referencePolicy: 'send' });
    await node.publish(clinic);
    for (const resource of (await server.state()).resources)
      if (SHARED_TYPES.includes(resource.resourceType)) await server.put(resource);
    await server.script();
    await node.publish(clinic);
    const { seen } = await server.state();
    for (const type of SHARED_TYPES) {
      const puts = seen.filter(({ method, path }) => method === 'PUT' && path.includes(`${type}/`));
      assert.deepEqual(
        puts.map(({ headers }) => headers['if-match']),
        ['W/"1"', 'W/"2"'],
        type,
      );
    }
  });
});

describe('two publishes of other patients that name the same one', () => {
  test('at once, and with a publish of that patient: each record is made once [PUB-33]', async () => {
    const named = await createClinic(database.pool, { results: 1 });
    const { scope, practitioner, hospital } = named;
    const focus = [
      { reference: `Patient/${named.patientId}` },
      { reference: `Encounter/${named.encounterId}` },
    ];
    const naming = () =>
      createClinic(database.pool, {
        results: 1,
        scope,
        practitioner,
        hospital,
        changes: { observation: { focus } },
      });
    const clinics = [await naming(), await naming(), named];
    const node = createTestPublisher(database.pool, { clock: PUBLISH.clock });
    await node.addTarget(named, { base: server.base, idPolicy: 'server', referencePolicy: 'send' });
    await server.script(
      { kind: 'slow', type: 'Patient', delayMs: 100, times: clinics.length },
      { kind: 'slow', type: 'Encounter', delayMs: 100, times: clinics.length },
    );
    await Promise.all(clinics.map((clinic) => node.publish(clinic)));
    const { resources } = await server.state();
    assert.equal(resources.length, OWN * clinics.length + SHARED_TYPES.length);
  });
});
