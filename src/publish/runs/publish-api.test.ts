/** The publish routes over HTTP. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startFhirServer, type TestFhirServer } from '../../../test-support/fhir-server/start.ts';
import { documentedCalls } from '../../../test-support/http/documented-answers.ts';
import {
  CLINICAL_MARKS,
  createClinic,
  type PublishClinic,
} from '../../../test-support/publish/publish-records.ts';
import { bundle, encounter, patient } from '../../../test-support/records/clinic.ts';
import { importClinical, importJson } from '../../../test-support/records/import-files.ts';
import {
  type Answer,
  startTestApi,
  type Tenant,
  type TestAccount,
  type TestApi,
} from '../../../test-support/service/api.ts';
import { setModules } from '../../tenancy/organisations/facilities.ts';
import { MODULES } from '../../tenancy/organisations/modules.ts';
import {
  createFhirServer,
  type NewFhirServer,
  rotateFhirServerSecret,
  switchFhirServer,
} from '../servers/manage-fhir-servers.ts';

const SECRET = 'tok-9f3b1c77-never-logged';

describe('publishing over HTTP', () => {
  let api: TestApi;
  let server: TestFhirServer;
  let tenant: Tenant;
  let account: TestAccount;
  let clinic: PublishClinic;
  let path: string;
  let documented: Awaited<ReturnType<typeof documentedCalls>>;
  before(async () => {
    api = await startTestApi();
    documented = await documentedCalls(api);
    server = await startFhirServer('--no-integrity');
  });
  after(async () => {
    await server.stop();
    await api.close();
  });
  beforeEach(async () => {
    await server.reset();
    tenant = await api.createTenant();
    account = await api.createAccount(tenant);
    clinic = await createClinic(api.database.pool, { results: 3, scope: { ...tenant, timeZone: 'UTC' } });
    path = `/investigations/lab/orders/${clinic.orderId}/clinical/publish-fhir`;
  });

  const addTarget = (settings: Partial<NewFhirServer> = {}, secret?: string) =>
    createFhirServer(
      { db: api.database.pool, keys: api.keys },
      {
        organisationId: tenant.organisationId,
        settings: {
          name: 'main',
          base: server.base,
          auth: secret === undefined ? 'none' : 'bearer',
          ...settings,
        },
        secret,
        makeDefault: false,
      },
    );
  /** Every answer must be one that the OpenAPI document describes. */
  const post = async (
    query = '',
    caller = account,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const answer = await api.call(path + query, { method: 'POST', token: caller.token, headers });
    return documented('POST', path, answer);
  };
  const get = async (query = ''): Promise<Answer> =>
    documented('GET', path, await api.call(path + query, { token: account.token }));

  function isError({ status, json, text }: Answer, wanted: number, message?: RegExp): void {
    assert.equal(status, wanted, text);
    assert.deepEqual(Object.keys(json), ['statusCode', 'message', 'error']);
    if (message !== undefined) assert.match(json.message, message);
  }

  test('answers what was published, in the order in which it was sent [PUB-1, PUB-7]', async () => {
    await addTarget();
    const { status, json, headers } = await post('', account, { 'x-correlation-id': 'corr-1' });
    assert.equal(status, 200);
    assert.equal(headers.get('x-correlation-id'), 'corr-1');
    assert.deepEqual(Object.keys(json), ['orderId', 'target', 'published']);
    assert.equal(json.orderId, clinic.orderId);
    assert.equal(json.target, 'main');
    assert.deepEqual(Object.keys(json.published[0]), [
      'resourceType',
      'localId',
      'id',
      'versionId',
      'method',
      'status',
      'publishedAt',
    ]);
    assert.deepEqual(
      json.published.map(({ resourceType }: { resourceType: string }) => resourceType),
      ['ServiceRequest', 'Observation', 'Observation', 'Observation', 'DiagnosticReport'].filter(
        (_, index) => index < 5,
      ),
    );
    const { seen } = await server.state();
    assert.ok(seen.every((request) => request.headers['x-correlation-id'] === 'corr-1'));
  });

  test('the resource that is sent is the resource that is fetched', async () => {
    await addTarget();
    await post();
    const fetched = await api.call(`/investigations/lab/orders/${clinic.orderId}/clinical/fhir`, {
      token: account.token,
    });
    const { seen } = await server.state();
    for (const { resource } of fetched.json.bundle.entry) {
      const sent = seen.find(({ path: at }) => at === `${resource.resourceType}/${resource.id}`);
      assert.deepEqual(JSON.parse(sent?.body ?? '{}'), resource);
    }
  });

  test('without a target: 503; with a disabled one: 503; of an unknown name: 400 [PUB-11, PUB-43]', async () => {
    isError(await post(), 503, /There is no default target\. Name a target with \?target=/);
    await addTarget();
    isError(await post('?target=other'), 400, /no target of that name/);
    const which = { name: 'main', organisationId: tenant.organisationId };
    await switchFhirServer({ db: api.database.pool }, which, { enabled: false, now: new Date() });
    isError(await post(), 503, /disabled/);
    await switchFhirServer({ db: api.database.pool }, which, { enabled: true, now: new Date() });
    assert.equal((await post()).status, 200);
  });

  test('a body: 400 that says how to name the target, and nothing is sent; none or {} is fine [PUB-6]', async () => {
    await addTarget();
    const send = (body: string, headers: Record<string, string> = {}) =>
      api.call(path, { method: 'POST', token: account.token, body, headers });
    for (const body of ['{"target":"main"}', '[]', 'null', 'target=main', '{', '{}{}', '\u0000'])
      isError(await send(body), 400, /takes no body\. Leave it out, and name the target with \?target=/);
    isError(
      await send('target=main', { 'content-type': 'application/x-www-form-urlencoded' }),
      400,
      /no body/,
    );
    isError(await api.call(path, { method: 'POST', body: '{"target":"main"}' }), 401);
    assert.equal((await server.state()).seen.length, 0);
    for (const body of ['', '{}', ' { }\n']) assert.equal((await send(body)).status, 200, body);
  });

  test('the organisation’s own target of a name comes before that of all [PUB-11, PUB-12]', async () => {
    const { pool } = api.database;
    const shared = { name: `all-${randomUUID()}`, base: server.base, auth: 'none' as const };
    await createFhirServer(
      { db: pool, keys: api.keys },
      { organisationId: null, settings: shared, secret: undefined, makeDefault: true },
    );
    assert.equal((await post()).json.target, shared.name);
    await addTarget({ name: 'own' });
    assert.equal((await post()).json.target, 'own');
    assert.equal((await post(`?target=${shared.name}`)).json.target, shared.name);
    await pool.query('update publish_target set removed_at = now(), is_default = false where name = $1', [
      shared.name,
    ]);
  });

  test('the secret is sent as it was configured, and a new one from the next publish on [PUB-10, PUB-13]', async () => {
    await addTarget({}, SECRET);
    await post();
    const which = { name: 'main', organisationId: tenant.organisationId };
    const first = await server.state();
    assert.ok(first.seen.every(({ headers }) => headers.authorization === `Bearer ${SECRET}`));
    await rotateFhirServerSecret({ db: api.database.pool, keys: api.keys }, which, `${SECRET}-2`);
    await server.script();
    await post();
    const second = await server.state();
    assert.ok(second.seen.every(({ headers }) => headers.authorization === `Bearer ${SECRET}-2`));
    assert.ok(!api.logs().includes(SECRET));
  });

  test('basic authentication and API keys [PUB-10]', async () => {
    await addTarget({ name: 'basic', auth: 'basic', authUser: 'ünser' }, 'pä:ss');
    await addTarget({ name: 'key', auth: 'api-key', authHeader: 'X-Api-Key' }, 'k-1');
    await post('?target=basic');
    const basic = (await server.state()).seen[0]?.headers.authorization ?? '';
    assert.equal(Buffer.from(basic.replace('Basic ', ''), 'base64').toString(), 'ünser:pä:ss');
    await server.script();
    await post('?target=key');
    assert.equal((await server.state()).seen[0]?.headers['x-api-key'], 'k-1');
  });

  test('unmapped local codes: 422 that lists them and sends nothing, unless the target allows them [PUB-44]', async () => {
    await addTarget();
    await clinic.change({
      observation: { code: { coding: [{ system: 'urn:lab', code: 'GLU-L' }], text: 'Local' } },
    });
    const refused = await post();
    isError(refused, 422, /urn:lab\|GLU-L/);
    assert.equal((await server.state()).seen.length, 0);
    await addTarget({ name: 'lenient', allowLocalCodes: true });
    assert.equal((await post('?target=lenient')).status, 200);
  });

  test('a refusal of the target: 502 in the error shape, with its codes and none of its texts [PUB-28, PUB-29]', async () => {
    await addTarget();
    const diagnostics = `Quokkaitis for Noor Rivers: value 123456.789 of code is not valid`;
    const expression = ['DiagnosticReport.conclusionCode[0]', 'Quokkaitis'];
    await server.script({ kind: 'status', type: 'DiagnosticReport', status: 422, diagnostics, expression });
    const answer = await post();
    isError(
      answer,
      502,
      /DiagnosticReport .* PUT answered 422 \(error processing at DiagnosticReport\.conclusionCode\[0\]\)/,
    );
    assert.match(answer.json.message, /4 of 5 resources are stored there\. Publish again to continue\./);
    for (const mark of CLINICAL_MARKS)
      assert.ok(!answer.text.includes(mark) && !api.logs().includes(mark), mark);
    const again = await post();
    assert.equal(again.status, 200);
    assert.equal(again.json.published.length, 5);
  });

  test('history: newest first, with what was stored and why it stopped; pages [PUB-45]', async () => {
    await addTarget();
    await server.script({ kind: 'status', type: 'DiagnosticReport', status: 422 });
    await post('?purposeOfUse=TREATMENT', account, { 'x-correlation-id': 'run-1' });
    await post();
    const { status, json } = await get();
    assert.equal(status, 200);
    assert.equal(json.orderId, clinic.orderId);
    assert.deepEqual(
      json.items.map(({ outcome, published }: { outcome: string; published: unknown[] }) => [
        outcome,
        published.length,
      ]),
      [
        ['done', 5],
        ['failed', 4],
      ],
    );
    const [, failed] = json.items;
    assert.equal(failed.target, 'main');
    assert.equal(failed.accountId, account.userId);
    assert.equal(failed.correlationId, 'run-1');
    assert.equal(failed.purposeOfUse, 'TREATMENT');
    assert.match(failed.failure, /422/);
    assert.ok(failed.finishedAt >= failed.startedAt);
    const first = await get('?limit=1');
    assert.equal(first.json.items.length, 1);
    const second = await get(`?limit=1&cursor=${first.json.nextCursor}`);
    assert.deepEqual([second.json.items[0].outcome, second.json.nextCursor], ['failed', null]);
    isError(await get('?cursor=broken'), 400);
    isError(await get('?limit=0'), 400);
  });

  test('a dry run answers what would be sent, in order, and sends nothing [PUB-47]', async () => {
    await addTarget({ idPolicy: 'server', allowLocalCodes: true });
    await clinic.change({ observation: { code: { coding: [{ system: 'urn:lab', code: 'GLU-L' }] } } });
    const { status, json } = await post('?dryRun=true');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json), ['orderId', 'target', 'dryRun', 'requests', 'unmapped', 'faults']);
    assert.equal((await server.state()).seen.length, 0);
    assert.deepEqual(
      json.requests.map(({ method, url, id }: { method: string; url: string; id: null }) => [
        method,
        url,
        id,
      ]),
      [
        ['POST', `${server.base}/ServiceRequest`, null],
        ['POST', `${server.base}/Observation`, null],
        ['POST', `${server.base}/Observation`, null],
        ['POST', `${server.base}/Observation`, null],
        ['POST', `${server.base}/DiagnosticReport`, null],
      ],
    );
    assert.deepEqual(
      json.unmapped.map(({ system, code }: { system: string; code: string }) => `${system}|${code}`),
      ['urn:lab|GLU-L'],
    );
    assert.deepEqual(
      json.faults.map(({ code, reference }: { code: string; reference: null }) => [code, reference]),
      [['code-allowed', null]],
    );
    assert.deepEqual((await get()).json.items, []);
    await post();
    const planned = await post('?dryRun=true');
    assert.ok(
      planned.json.requests.every(({ method, id }: { method: string; id: string }) => method === 'PUT' && id),
    );
    isError(await post('?dryRun=yes'), 400);
  });

  test('a dry run shows what its caller could read by another call, and the access log names it [PUB-48]', async () => {
    await addTarget({ referencePolicy: 'send' });
    const release = 'investigations.lab.release';
    const shown = async (permissions: string[], modules = [...MODULES]) => {
      await setModules(api.database.pool, { ...tenant, modules });
      const caller = await api.createAccount(tenant, { permissions: [release, ...permissions] });
      const { status, json, text } = await post('?dryRun=true', caller);
      assert.equal(status, 200, text);
      for (const { resourceType, localId, method, url } of json.requests)
        assert.deepEqual([method, url], ['PUT', `${server.base}/${resourceType}/${localId}`]);
      assert.equal(json.requests.length, 9);
      const { rows } = await api.database.pool.query(
        'select resource_type from access_log where account_id = $1 order by sequence',
        [caller.userId],
      );
      const types = json.requests.flatMap((one: { resourceType: string; resource?: object }) =>
        one.resource === undefined ? [] : [one.resourceType],
      );
      const marks = [...CLINICAL_MARKS, '1984-05-01'].filter((mark) => text.includes(mark));
      return { types: [...new Set(types)], marks, logged: rows.map(({ resource_type }) => resource_type) };
    };
    const nothing = { types: [], marks: [], logged: ['ServiceRequest'] };
    const reads = ['patients.patients.get', 'investigations.lab.list', 'encounters.fhir.encounter.read'];
    assert.deepEqual(await shown([]), nothing);
    assert.deepEqual((await shown(['investigations.lab.list'])).types, [
      'ServiceRequest',
      'Observation',
      'DiagnosticReport',
    ]);
    const patient = await shown(['patients.patients.get']);
    assert.deepEqual([patient.types, patient.logged], [['Patient'], ['ServiceRequest', 'Patient']]);
    assert.deepEqual((await shown(reads, ['lab', 'publish'])).logged, ['ServiceRequest']);
    const all = await shown(reads);
    assert.deepEqual(all.logged.toSorted(), ['Encounter', 'Patient', 'ServiceRequest']);
    assert.deepEqual(all.types.toSorted(), [
      'DiagnosticReport',
      'Encounter',
      'Observation',
      'Patient',
      'ServiceRequest',
    ]);
  });

  test('a dry run of what is sent later than what refers to it says so', async () => {
    await addTarget();
    const [first = '', second = ''] = clinic.observationIds;
    await clinic.change({ observation: { hasMember: [{ reference: `Observation/${second}` }] } });
    const { json } = await post('?dryRun=true');
    const step = (id: string) =>
      json.requests.find(({ localId }: { localId: string }) => localId === id).step;
    assert.ok(step(second) < step(first));
    assert.deepEqual(json.faults, []);
  });

  test('privacy: a refused purpose is 403, logged, and nothing is sent; another purpose goes [PUB-49]', async () => {
    await addTarget();
    await api.database.pool.query(
      "update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = $2",
      [tenant.organisationId, clinic.patientId],
    );
    isError(await post(), 403, /privacy/);
    isError(await get(), 403, /privacy/);
    assert.equal((await server.state()).seen.length, 0);
    assert.equal((await post('?purposeOfUse=TREATMENT')).status, 200);
    const { rows } = await api.database.pool.query(
      'select action, outcome, purpose_of_use from access_log where organisation_id = $1 order by action, outcome',
      [tenant.organisationId],
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
    await addTarget({ referencePolicy: 'send' });
    const scope = { ...tenant, timeZone: 'UTC' };
    const other = await createClinic(api.database.pool, { results: 1, scope });
    await clinic.change({ observation: { focus: [{ reference: `Patient/${other.patientId}` }] } });
    await api.database.pool.query(
      "update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = $2",
      [tenant.organisationId, other.patientId],
    );
    const { status, json } = await post();
    assert.equal(status, 200);
    assert.deepEqual(json.notSent, [
      {
        element: 'Observation.focus',
        resourceType: 'Patient',
        localId: other.patientId,
        reason: 'refused',
      },
    ]);
    assert.ok(!(await server.state()).resources.some(({ id }) => id === other.patientId));
    const { rows } = await api.database.pool.query(
      'select patient_id, action, outcome from access_log where organisation_id = $1 order by sequence',
      [tenant.organisationId],
    );
    assert.deepEqual(
      rows.map(({ patient_id, action, outcome }) => [patient_id, action, outcome]),
      [
        [clinic.patientId, 'lab-order.publish', 'allowed'],
        [other.patientId, 'lab-order.publish', 'refused'],
      ],
    );
  });

  test('a refusal is logged and answered before a secret that cannot be opened, or an address that is refused', async () => {
    const { id } = await addTarget({}, SECRET);
    const refuse = (purposes: string) =>
      api.database.pool.query(
        'update patient set refused_purposes = $3 where organisation_id = $1 and id = $2',
        [tenant.organisationId, clinic.patientId, purposes],
      );
    const outcomes = async () => {
      const { rows } = await api.database.pool.query(
        'select outcome from access_log where organisation_id = $1 order by outcome',
        [tenant.organisationId],
      );
      return rows.map(({ outcome }) => outcome);
    };
    await api.database.pool.query(
      "update publish_target set sealed_secret = '\\x00', version = version + 1 where id = $1",
      [id],
    );
    await refuse('{OPS}');
    isError(await post(), 403, /privacy/);
    assert.deepEqual(await outcomes(), ['refused']);
    await refuse('{}');
    isError(await post(), 503, /secret of the target cannot be opened/);
    assert.deepEqual(await outcomes(), ['allowed', 'refused']);
    await api.database.pool.query(
      "update publish_target set base = 'http://169.254.169.254/x', auth = 'none', secret_id = null, sealed_secret = null, version = version + 1 where id = $1",
      [id],
    );
    isError(await post(), 503, /address of the target is not allowed/);
  });

  test('nothing is sent but by a publish call: not by a change of a record, nor by a look at it [PUB-5]', async () => {
    await addTarget();
    await importClinical(api.database.pool, tenant, 'laboratory.json');
    await clinic.change({ observation: { status: 'amended' }, report: { status: 'amended' } });
    assert.equal((await get()).status, 200);
    assert.equal(
      (await api.call(path.replace('publish-fhir', 'fhir'), { token: account.token })).status,
      200,
    );
    assert.equal((await server.state()).seen.length, 0);
    assert.equal((await post()).status, 200);
    assert.ok((await server.state()).seen.length > 0, 'the target does see what is published');
  });

  test('targets can be read over HTTP and not changed: no route takes an address or a secret [PUB-8]', () => {
    for (const { method, path, route } of api.api.routes) {
      if (/target/i.test(path)) assert.equal(method, 'GET', `${method} ${path}`);
      const { body } = route.schemas as { body?: unknown };
      if (/publish/.test(path)) assert.equal(body, undefined, `${method} ${path} takes a body`);
    }
  });

  test('the content type is the one that the target is configured for [PUB-14]', async () => {
    await addTarget({ contentType: 'application/fhir+json' });
    assert.equal((await post()).status, 200);
    const { seen } = await server.state();
    for (const { headers } of seen) assert.equal(headers['content-type'], 'application/fhir+json');
    assert.equal(seen.length, 5);
  });

  test('permissions and modules: release for lab, publish beside lab [PUB-1, PUB-4]', async () => {
    await addTarget();
    const reader = await api.createAccount(tenant, {
      permissions: ['investigations.lab.list', 'investigations.imaging.write'],
    });
    isError(await post('', reader), 403, /investigations\.lab\.release/);
    const releaser = await api.createAccount(tenant, { permissions: ['investigations.lab.release'] });
    assert.equal((await post('', releaser)).status, 200);
    const { pool } = api.database;
    for (const module of ['lab', 'publish']) {
      const values = [tenant.organisationId, tenant.facilityId, module];
      await pool.query(
        'delete from facility_module where organisation_id = $1 and facility_id = $2 and module = $3',
        values,
      );
      const fresh = await api.createAccount(tenant);
      isError(await post('', fresh), 403, new RegExp(`module ${module}`));
      await pool.query('insert into facility_module values ($1, $2, $3)', values);
    }
  });

  test('404: unknown, malformed, of another facility, and a lab order by the imaging path', async () => {
    await addTarget();
    const neighbour = await api.createAccount({
      ...tenant,
      facilityId: await api.createFacility(tenant.organisationId),
    });
    isError(await post('', neighbour), 404);
    for (const id of [randomUUID(), 'nonsense'])
      for (const method of ['GET', 'POST'])
        isError(
          await api.call(`/investigations/lab/orders/${id}/clinical/publish-fhir`, {
            method,
            token: account.token,
          }),
          404,
        );
    const wrong = `/investigations/imaging/orders/${clinic.orderId}/clinical/publish-fhir`;
    isError(await api.call(wrong, { method: 'POST', token: account.token }), 404);
  });

  test('imaging: the order, its study and its report [PUB-2]', async () => {
    await addTarget({ allowLocalCodes: true });
    await importClinical(api.database.pool, tenant, 'laboratory.json', 'imaging.json');
    const { rows } = await api.database.pool.query(
      "select id from investigation_order where organisation_id = $1 and discipline = 'imaging'",
      [tenant.organisationId],
    );
    assert.ok(rows.length > 0);
    for (const { id } of rows) {
      const answer = await api.call(`/investigations/imaging/orders/${id}/clinical/publish-fhir`, {
        method: 'POST',
        token: account.token,
      });
      assert.equal(answer.status, 200, answer.text);
      const types = answer.json.published.map(({ resourceType }: { resourceType: string }) => resourceType);
      assert.equal(types[0], 'ServiceRequest');
      assert.ok(
        types.indexOf('ImagingStudy') < types.indexOf('DiagnosticReport') ||
          !types.includes('DiagnosticReport'),
      );
    }
  });

  test('vital signs: each one, and one that is a result too is stored once [PUB-3, PUB-7]', async () => {
    await addTarget({ idPolicy: 'server' });
    const visit = randomUUID();
    const pulse = randomUUID();
    const person = patient();
    const vital = (id: string, code: string, unit: string) => ({
      resourceType: 'Observation',
      id,
      status: 'final',
      category: [
        {
          coding: [
            { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' },
          ],
        },
      ],
      code: { coding: [{ system: 'http://loinc.org', code }] },
      subject: { reference: `Patient/${person.id}` },
      encounter: { reference: `Encounter/${visit}` },
      effectiveDateTime: '2024-02-03T10:10:00+01:00',
      valueQuantity: { value: 72, unit, system: 'http://unitsofmeasure.org', code: unit },
    });
    const records = bundle(
      [
        person,
        encounter(`Patient/${person.id}`, { id: visit }),
        vital(pulse, '8867-4', '/min'),
        vital(randomUUID(), '9279-1', '/min'),
      ],
      'collection',
    );
    const imported = await importJson(api.database.pool, tenant, JSON.stringify(records));
    assert.deepEqual(imported.rejected, []);
    const { rows } = await api.database.pool.query('select id from vital_set where patient_id = $1', [
      person.id,
    ]);
    assert.equal(rows.length, 1);
    const at = `/encounters/vitals/${rows[0].id}/clinical/publish-fhir`;
    const answer = await api.call(at, { method: 'POST', token: account.token });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.vitalSetId, rows[0].id);
    assert.deepEqual(
      answer.json.published.map(({ resourceType, method }: { resourceType: string; method: string }) => [
        resourceType,
        method,
      ]),
      [
        ['Observation', 'POST'],
        ['Observation', 'POST'],
      ],
    );
    const history = await api.call(at, { token: account.token });
    assert.equal(history.json.items.length, 1);
    await api.call(at, { method: 'POST', token: account.token });
    assert.equal((await server.state()).resources.length, 2);
  });

  test('an order that another node publishes at the same time is published once, then updated [PUB-33]', async () => {
    await addTarget({ idPolicy: 'server' });
    const node = await api.addNode();
    await server.script({ kind: 'slow-after', type: 'Observation', times: 3, delayMs: 200 });
    const answers = await Promise.all([
      post(),
      node.call(path, { method: 'POST', token: account.token }),
      post(),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    const ids = answers.map(({ json }) => json.published.map(({ id }: { id: string }) => id).sort());
    assert.deepEqual(ids[1], ids[0]);
    assert.deepEqual(ids[2], ids[0]);
    assert.equal((await server.state()).resources.length, 5);
  });
});
