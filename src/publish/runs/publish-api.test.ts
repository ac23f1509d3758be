/** The publish routes over HTTP. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { isError, usePublishApi } from '../../../test-support/publish/publish-api.ts';
import { CLINICAL_MARKS } from '../../../test-support/publish/publish-records.ts';
import { bundle, encounter, patient } from '../../../test-support/records/clinic.ts';
import { importClinical, importJson } from '../../../test-support/records/import-files.ts';
import {
  createFhirServer,
  rotateFhirServerSecret,
  switchFhirServer,
} from '../servers/manage-fhir-servers.ts';

const SECRET = 'tok-9f3b1c77-never-logged';
const t = usePublishApi();

test('answers what was published, in the order in which it was sent [PUB-1, PUB-7]', async () => {
  await t.addTarget();
  const { status, json, headers } = await t.post('', t.account, { 'x-correlation-id': 'corr-1' });
  assert.equal(status, 200);
  assert.equal(headers.get('x-correlation-id'), 'corr-1');
  assert.deepEqual(Object.keys(json), ['orderId', 'target', 'published']);
  assert.equal(json.orderId, t.clinic.orderId);
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
  const { seen } = await t.server.state();
  assert.ok(seen.every((request) => request.headers['x-correlation-id'] === 'corr-1'));
});

test('a publish and a dry run by the id of an order that was replaced answer the id of the order that took its place [IN-38]', async () => {
  await t.addTarget();
  const path = '/investigations/lab/orders';
  const order = { resourceType: 'ServiceRequest', id: randomUUID(), status: 'active', intent: 'order' };
  const code = { coding: [{ system: 'http://loinc.org', code: '2345-7' }] };
  const shared = { code, subject: { reference: `Patient/${t.clinic.patientId}` } };
  const system = 'http://terminology.hl7.org/CodeSystem/observation-category';
  const result = {
    ...shared,
    resourceType: 'Observation',
    id: randomUUID(),
    status: 'final',
    category: [{ coding: [{ system, code: 'laboratory' }] }],
    basedOn: [{ reference: `ServiceRequest/${order.id}` }],
  };
  const take = async (one: object) =>
    assert.deepEqual((await importJson(t.api.database.pool, t.tenant, JSON.stringify(one))).rejected, []);
  await take(result);
  const listed = await t.api.call(`${path}?patient=${t.clinic.patientId}`, { token: t.account.token });
  const madeUp = listed.json.items
    .map(({ orderId }: { orderId: string }) => orderId)
    .find((id: string) => id !== t.clinic.orderId);
  await take({ ...order, ...shared });
  for (const query of ['?dryRun=true', '']) {
    const call = { method: 'POST', token: t.account.token };
    const { status, json } = await t.api.call(`${path}/${madeUp}/clinical/publish-fhir${query}`, call);
    assert.deepEqual([status, json.orderId], [200, order.id]);
  }
  const history = await t.api.call(`${path}/${order.id}/clinical/publish-fhir`, { token: t.account.token });
  assert.equal(history.json.items.length, 1);
});

test('the resource that is sent is the resource that is fetched', async () => {
  await t.addTarget();
  await t.post();
  const fetched = await t.api.call(`/investigations/lab/orders/${t.clinic.orderId}/clinical/fhir`, {
    token: t.account.token,
  });
  const { seen } = await t.server.state();
  for (const { resource } of fetched.json.bundle.entry) {
    const sent = seen.find(({ path: at }) => at === `${resource.resourceType}/${resource.id}`);
    assert.deepEqual(JSON.parse(sent?.body ?? '{}'), resource);
  }
});

test('without a target: 503; with a disabled one: 503; of an unknown name: 400 [PUB-11, PUB-43]', async () => {
  isError(await t.post(), 503, /There is no default target\. Name a target with \?target=/);
  await t.addTarget();
  isError(await t.post('?target=other'), 400, /no target of that name/);
  for (const id of [randomUUID(), 'none'])
    isError(
      await t.api.call(`${t.path.replace(t.clinic.orderId, id)}?target=other`, {
        method: 'POST',
        token: t.account.token,
      }),
      400,
      /no target of that name/,
    );
  const which = { name: 'main', organisationId: t.tenant.organisationId };
  await switchFhirServer({ db: t.api.database.pool }, which, { enabled: false, now: new Date() });
  isError(await t.post(), 503, /disabled/);
  await switchFhirServer({ db: t.api.database.pool }, which, { enabled: true, now: new Date() });
  assert.equal((await t.post()).status, 200);
});

test('a body: 400 that says how to name the target, and nothing is sent; none or {} is fine [PUB-6]', async () => {
  await t.addTarget();
  const send = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    t.api.call(t.path, { method: 'POST', token: t.account.token, body, headers });
  const compressed = gzipSync('{"target":"main"}');
  for (const body of ['{"target":"main"}', '[]', 'null', 'target=main', '{', '{}{}', '\u0000', compressed])
    isError(await send(body), 400, /takes no body\. Leave it out, and name the target with \?target=/);
  isError(await send('target=main', { 'content-type': 'application/x-www-form-urlencoded' }), 400, /no body/);
  isError(await t.api.call(t.path, { method: 'POST', body: '{"target":"main"}' }), 401);
  assert.equal((await t.server.state()).seen.length, 0);
  for (const body of ['', '{}', ' { }\n']) assert.equal((await send(body)).status, 200, body);
});

test('the organisation’s own target of a name comes before that of all [PUB-11, PUB-12]', async () => {
  const { pool } = t.api.database;
  const shared = { name: `all-${randomUUID()}`, base: t.server.base, auth: 'none' as const };
  await createFhirServer(
    { db: pool, keys: t.api.keys },
    { organisationId: null, settings: shared, secret: undefined, makeDefault: true },
  );
  assert.equal((await t.post()).json.target, shared.name);
  await t.addTarget({ name: 'own' });
  assert.equal((await t.post()).json.target, 'own');
  assert.equal((await t.post(`?target=${shared.name}`)).json.target, shared.name);
  await pool.query('update publish_target set removed_at = now(), is_default = false where name = $1', [
    shared.name,
  ]);
});

test('the secret is sent as it was configured, and a new one from the next publish on [PUB-10, PUB-13]', async () => {
  await t.addTarget({}, SECRET);
  await t.post();
  const which = { name: 'main', organisationId: t.tenant.organisationId };
  const first = await t.server.state();
  assert.ok(first.seen.every(({ headers }) => headers.authorization === `Bearer ${SECRET}`));
  await rotateFhirServerSecret({ db: t.api.database.pool, keys: t.api.keys }, which, `${SECRET}-2`);
  await t.server.script();
  await t.post();
  const second = await t.server.state();
  assert.ok(second.seen.every(({ headers }) => headers.authorization === `Bearer ${SECRET}-2`));
  assert.ok(!t.api.logs().includes(SECRET));
});

test('basic authentication and API keys [PUB-10]', async () => {
  await t.addTarget({ name: 'basic', auth: 'basic', authUser: 'ünser' }, 'pä:ss');
  await t.addTarget({ name: 'key', auth: 'api-key', authHeader: 'X-Api-Key' }, 'k-1');
  await t.post('?target=basic');
  const basic = (await t.server.state()).seen[0]?.headers.authorization ?? '';
  assert.equal(Buffer.from(basic.replace('Basic ', ''), 'base64').toString(), 'ünser:pä:ss');
  await t.server.script();
  await t.post('?target=key');
  assert.equal((await t.server.state()).seen[0]?.headers['x-api-key'], 'k-1');
});

test('unmapped local codes: 422 that lists them and sends nothing, unless the target allows them [PUB-44]', async () => {
  await t.addTarget();
  await t.clinic.change({
    observation: { code: { coding: [{ system: 'urn:lab', code: 'GLU-L' }], text: 'Local' } },
  });
  const refused = await t.post();
  isError(refused, 422, /urn:lab\|GLU-L/);
  assert.equal((await t.server.state()).seen.length, 0);
  await t.addTarget({ name: 'lenient', allowLocalCodes: true });
  assert.equal((await t.post('?target=lenient')).status, 200);
});

test('a local code that a map leads from is mapped, whatever the standard system and the source beside it [PUB-44]', async () => {
  await t.addTarget();
  const mapTo = async (localCode: string, targetSystem: string, targetCode: string) => {
    const body = { localSystem: 'urn:lab', localCode, targetSystem, targetCode };
    const put = await t.api.call('/terminology/maps', { method: 'PUT', token: t.account.token, body });
    assert.ok(put.status < 300, put.text);
  };
  await mapTo('GLU-ICD', 'http://hl7.org/fhir/sid/icd-9-cm', '790.2');
  await mapTo('GLU-LOINC', 'http://loinc.org', '2345-7');
  for (const coding of [
    [{ system: 'urn:lab', code: 'GLU-ICD' }],
    [
      { system: 'http://loinc.org', display: 'Glucose' },
      { system: 'urn:lab', code: 'GLU-LOINC' },
    ],
  ]) {
    await t.clinic.change({ observation: { code: { coding } } });
    const { status, text } = await t.post();
    assert.equal(status, 200, text);
  }
});

test('a refusal of the target: 502 in the error shape, with its codes and none of its texts [PUB-28, PUB-29]', async () => {
  await t.addTarget();
  const diagnostics = `Quokkaitis for Noor Rivers: value 123456.789 of code is not valid`;
  const expression = ['DiagnosticReport.conclusionCode[0]', 'Quokkaitis'];
  await t.server.script({ kind: 'status', type: 'DiagnosticReport', status: 422, diagnostics, expression });
  const answer = await t.post();
  isError(
    answer,
    502,
    /DiagnosticReport .* PUT answered 422 \(error processing at DiagnosticReport\.conclusionCode\[0\]\)/,
  );
  assert.match(
    answer.json.message,
    /4 of 5 resources are stored there by this publish\. Publish again to continue\./,
  );
  for (const mark of CLINICAL_MARKS)
    assert.ok(!answer.text.includes(mark) && !t.api.logs().includes(mark), mark);
  const again = await t.post();
  assert.equal(again.status, 200);
  assert.equal(again.json.published.length, 5);
});

test('a target that asks for more time than is left: 502 with its retry-after [PUB-27]', async () => {
  await t.addTarget();
  const headers = { 'retry-after': '100' };
  await t.server.script({ kind: 'status', type: 'DiagnosticReport', status: 429, headers });
  const answer = await t.post();
  isError(answer, 502, /PUT answered 429.* 4 of 5 resources are stored there by this publish/);
  assert.equal(answer.headers.get('retry-after'), '100');
});

test('history: newest first, with what was stored and why it stopped; pages [PUB-45]', async () => {
  await t.addTarget();
  await t.server.script({ kind: 'status', type: 'DiagnosticReport', status: 422 });
  await t.post('?purposeOfUse=TREATMENT', t.account, { 'x-correlation-id': 'run-1' });
  await t.post();
  const { status, json } = await t.get();
  assert.equal(status, 200);
  assert.equal(json.orderId, t.clinic.orderId);
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
  assert.equal(failed.accountId, t.account.userId);
  assert.equal(failed.correlationId, 'run-1');
  assert.equal(failed.purposeOfUse, 'TREATMENT');
  assert.match(failed.failure, /422/);
  assert.ok(failed.finishedAt >= failed.startedAt);
  const first = await t.get('?limit=1');
  assert.equal(first.json.items.length, 1);
  const second = await t.get(`?limit=1&cursor=${first.json.nextCursor}`);
  assert.deepEqual([second.json.items[0].outcome, second.json.nextCursor], ['failed', null]);
  isError(await t.get('?cursor=broken'), 400);
  isError(await t.get('?limit=0'), 400);
});

test('nothing is sent but by a publish call: not by a change of a record, nor by a look at it [PUB-5]', async () => {
  await t.addTarget();
  await importClinical(t.api.database.pool, t.tenant, 'laboratory.json');
  await t.clinic.change({ observation: { status: 'amended' }, report: { status: 'amended' } });
  assert.equal((await t.get()).status, 200);
  assert.equal(
    (await t.api.call(t.path.replace('publish-fhir', 'fhir'), { token: t.account.token })).status,
    200,
  );
  assert.equal((await t.server.state()).seen.length, 0);
  assert.equal((await t.post()).status, 200);
  assert.ok((await t.server.state()).seen.length > 0, 'the target does see what is published');
});

test('targets can be read over HTTP and not changed: no route takes an address or a secret [PUB-8]', () => {
  for (const { method, path, route } of t.api.api.routes) {
    if (/target/i.test(path)) assert.equal(method, 'GET', `${method} ${path}`);
    const { body } = route.schemas as { body?: unknown };
    if (/publish/.test(path)) assert.equal(body, undefined, `${method} ${path} takes a body`);
  }
});

test('the content type is the one that the target is configured for [PUB-14]', async () => {
  await t.addTarget({ contentType: 'application/fhir+json' });
  assert.equal((await t.post()).status, 200);
  const { seen } = await t.server.state();
  for (const { headers } of seen) assert.equal(headers['content-type'], 'application/fhir+json');
  assert.equal(seen.length, 5);
});

test('permissions and modules: release for lab, publish beside lab [PUB-1, PUB-4]', async () => {
  await t.addTarget();
  const reader = await t.api.createAccount(t.tenant, {
    permissions: ['investigations.lab.list', 'investigations.imaging.write'],
  });
  isError(await t.post('', reader), 403, /investigations\.lab\.release/);
  const releaser = await t.api.createAccount(t.tenant, { permissions: ['investigations.lab.release'] });
  assert.equal((await t.post('', releaser)).status, 200);
  const { pool } = t.api.database;
  for (const module of ['lab', 'publish']) {
    const values = [t.tenant.organisationId, t.tenant.facilityId, module];
    await pool.query(
      'delete from facility_module where organisation_id = $1 and facility_id = $2 and module = $3',
      values,
    );
    const fresh = await t.api.createAccount(t.tenant);
    isError(await t.post('', fresh), 403, new RegExp(`module ${module}`));
    await pool.query('insert into facility_module values ($1, $2, $3)', values);
  }
});

test('404: unknown, malformed, of another facility, and a lab order by the imaging path', async () => {
  await t.addTarget();
  const neighbour = await t.api.createAccount({
    ...t.tenant,
    facilityId: await t.api.createFacility(t.tenant.organisationId),
  });
  isError(await t.post('', neighbour), 404);
  for (const id of [randomUUID(), 'nonsense'])
    for (const method of ['GET', 'POST'])
      isError(
        await t.api.call(`/investigations/lab/orders/${id}/clinical/publish-fhir`, {
          method,
          token: t.account.token,
        }),
        404,
      );
  const wrong = `/investigations/imaging/orders/${t.clinic.orderId}/clinical/publish-fhir`;
  isError(await t.api.call(wrong, { method: 'POST', token: t.account.token }), 404);
});

test('imaging: the order, its study and its report [PUB-2]', async () => {
  await t.addTarget({ allowLocalCodes: true });
  await importClinical(t.api.database.pool, t.tenant, 'laboratory.json', 'imaging.json');
  const { rows } = await t.api.database.pool.query(
    "select id from investigation_order where organisation_id = $1 and discipline = 'imaging'",
    [t.tenant.organisationId],
  );
  assert.ok(rows.length > 0);
  for (const { id } of rows) {
    const answer = await t.api.call(`/investigations/imaging/orders/${id}/clinical/publish-fhir`, {
      method: 'POST',
      token: t.account.token,
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
  await t.addTarget({ idPolicy: 'server' });
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
  const imported = await importJson(t.api.database.pool, t.tenant, JSON.stringify(records));
  assert.deepEqual(imported.rejected, []);
  const { rows } = await t.api.database.pool.query('select id from vital_set where patient_id = $1', [
    person.id,
  ]);
  assert.equal(rows.length, 1);
  const at = `/encounters/vitals/${rows[0].id}/clinical/publish-fhir`;
  const answer = await t.api.call(at, { method: 'POST', token: t.account.token });
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
  const history = await t.api.call(at, { token: t.account.token });
  assert.equal(history.json.items.length, 1);
  await t.api.call(at, { method: 'POST', token: t.account.token });
  assert.equal((await t.server.state()).resources.length, 2);
});

test('an order that another node publishes at the same time is published once, then updated [PUB-33]', async () => {
  await t.addTarget({ idPolicy: 'server' });
  const node = await t.api.addNode();
  await t.server.script({ kind: 'slow-after', type: 'Observation', times: 3, delayMs: 200 });
  const answers = await Promise.all([
    t.post(),
    node.call(t.path, { method: 'POST', token: t.account.token }),
    t.post(),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  const ids = answers.map(({ json }) => json.published.map(({ id }: { id: string }) => id).sort());
  assert.deepEqual(ids[1], ids[0]);
  assert.deepEqual(ids[2], ids[0]);
  assert.equal((await t.server.state()).resources.length, 5);
});
