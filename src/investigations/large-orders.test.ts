import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { documentedCalls } from '../../test-support/http/documented-answers.ts';
import { importJson } from '../../test-support/records/import-files.ts';
import type { Json } from '../../test-support/service/api.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';
import { answered } from '../../test-support/service/worded-errors.ts';
import type { Queryable } from '../platform/db/database.ts';
import { HttpError } from '../platform/http/errors.ts';
import { createTranslator } from '../terminology/lookup/translate.ts';
import { createOrderEmitter } from './emit-investigation.ts';
import { createInvestigationLoader } from './investigation.store.ts';

const PATIENT = '7d000000-0000-4000-8000-000000000001';
const MIB = 1_048_576;
/** The import takes one such document. Three of them are more than one answer holds. */
const DOCUMENT = Buffer.alloc(7 * MIB, 'x');

const orderId = (number: number) => `7d000000-0000-4000-8000-00000000001${number}`;
const subject = { reference: `Patient/${PATIENT}` };
const code = { text: 'Histology' };

function order(number: number): Json {
  const id = orderId(number);
  const category = [{ coding: [{ system: 'http://snomed.info/sct', code: '108252007' }] }];
  return {
    resourceType: 'ServiceRequest',
    id,
    status: 'completed',
    intent: 'order',
    category,
    subject,
    code,
  };
}

function report(of: number, number: number, content: Buffer): Json {
  return {
    resourceType: 'DiagnosticReport',
    id: `7d000000-0000-4000-8000-0000000000${of}${number}`,
    status: 'final',
    category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'LAB' }] }],
    basedOn: [{ reference: `ServiceRequest/${orderId(of)}` }],
    subject,
    code,
    issued: `2024-03-05T0${number}:00:00Z`,
    conclusion: `Slide ${number}.`,
    presentedForm: [
      { contentType: 'text/plain', title: `Slide ${number}`, data: content.toString('base64') },
    ],
  };
}

function observation(number: number): Json {
  return {
    resourceType: 'Observation',
    id: `7d000000-0000-4000-8000-0000000001${number}`,
    status: 'final',
    basedOn: [{ reference: `ServiceRequest/${orderId(3)}` }],
    subject,
    code: { coding: [{ system: 'urn:lab', code: 'HISTO' }] },
    note: [{ text: 'n'.repeat(900_000) }],
  };
}

const imagingOrder: Json = {
  ...order(5),
  category: [{ coding: [{ system: 'http://snomed.info/sct', code: '363679005' }] }],
};
/** Both list one result of the order that is too large. */
const result = [{ reference: `Observation/${observation(10).id}` }];
const imagingReport: Json = {
  resourceType: 'DiagnosticReport',
  id: '7d000000-0000-4000-8000-000000000099',
  status: 'final',
  category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'RAD' }] }],
  basedOn: [{ reference: `ServiceRequest/${orderId(5)}` }],
  subject,
  code: { text: 'Biopsy' },
  issued: '2024-03-06T00:00:00Z',
  result,
};

const { api, tenant, account } = await useTestApi();
const documented = await documentedCalls(api);
const resources: Json[] = [
  { resourceType: 'Patient', id: PATIENT },
  order(1),
  report(1, 1, DOCUMENT),
  order(2),
  ...[1, 2, 3].map((number) => report(2, number, DOCUMENT)),
  order(3),
  order(4),
  report(4, 1, Buffer.from('Seen.')),
  ...Array.from({ length: 30 }, (_, index) => observation(10 + index)),
  { ...report(3, 1, Buffer.from('Seen.')), result },
  imagingOrder,
  imagingReport,
];
const { rejected } = await importJson(
  api.database.pool,
  tenant,
  ...resources.map((resource) => JSON.stringify(resource)),
);
assert.deepEqual(rejected, []);

describe('an order that is too large for one answer', () => {
  /** Every answer must be one that the OpenAPI document describes. */
  const get = async (number: number) => {
    const path = `/investigations/lab/orders/${orderId(number)}/clinical/fhir`;
    return documented('GET', path, await api.call(path, { token: account.token }));
  };
  const key = (number: number) => ({
    scope: { timeZone: 'UTC', ...tenant },
    id: orderId(number),
    discipline: 'laboratory' as const,
  });

  test('a report with a large document is answered whole, beside small orders [FETCH-24]', async () => {
    const [whole] = await Promise.all([get(1), get(2)]);
    assert.equal(whole.status, 200);
    const form = whole.json.reports[0]?.resource.presentedForm[0];
    assert.equal(Buffer.from(form.data, 'base64').compare(DOCUMENT), 0);
  });

  test('documents that do not fit together are named with their sizes, without their contents [FETCH-23]', async () => {
    const { status, json } = await get(2);
    assert.equal(status, 200);
    const reports: Json[] = json.reports;
    assert.deepEqual(
      reports.map(({ conclusion, resource }) => [conclusion, resource.presentedForm]),
      [1, 2, 3].map((number) => [
        `Slide ${number}.`,
        [{ contentType: 'text/plain', size: DOCUMENT.length, title: `Slide ${number}` }],
      ]),
    );
  });

  test('what cannot be made small enough is refused and named [FETCH-23]', async () => {
    const { status, json } = await get(3);
    assert.equal(status, 422);
    assert.deepEqual(json, {
      statusCode: 422,
      message:
        'The laboratory order is larger than 24 MiB, which is too much for one answer. Get its results from the source system.',
      error: 'Unprocessable Entity',
    });
  });

  test('a result of it that an imaging order shows, too, is read from there [FETCH-18]', async () => {
    const { token } = account;
    const list = '/investigations/imaging/orders';
    const { json: page } = await api.call(`${list}?patient=${PATIENT}`, { token });
    const { json } = await api.call(`${list}/${page.items[0].orderId}/clinical/fhir`, { token });
    const shown: Json[] = json.bundle.entry;
    assert.ok(shown.some(({ resource }) => resource.id === observation(10).id));
    for (const { fullUrl, resource } of shown)
      assert.deepEqual((await api.call(fullUrl, { token })).json, resource);
    const other = await api.call(`/fhir/Observation/${observation(11).id}`, { token });
    assert.deepEqual([other.status, other.json.error], [422, 'Unprocessable Entity']);
  });

  test('where the patient refuses the purpose, that is said and logged, and not how large it is [LOG-4, LOG-5, ACC-14]', async () => {
    const { pool } = api.database;
    await pool.query(`update patient set refused_purposes = '{RESEARCH}' where id = $1`, [PATIENT]);
    const clinical = `/investigations/lab/orders/${orderId(3)}/clinical`;
    for (const [method, path] of [
      ['GET', `${clinical}/fhir`],
      ['GET', `/fhir/ServiceRequest/${orderId(3)}`],
      ['GET', `${clinical}/publish-fhir`],
      ['POST', `${clinical}/publish-fhir`],
    ] as const) {
      const headers = { 'x-correlation-id': `${method}-${path.replaceAll('/', '.')}` };
      const options = { method, token: account.token, headers };
      const { status } = await api.call(`${path}?purposeOfUse=RESEARCH`, options);
      const { rows } = await pool.query('select outcome from access_log where correlation_id = $1', [
        headers['x-correlation-id'],
      ]);
      assert.deepEqual([status, rows], [403, [{ outcome: 'refused' }]], `${method} ${path}`);
    }
    // It may have been published when it was smaller.
    const history = await api.call(`${clinical}/publish-fhir`, { token: account.token });
    assert.deepEqual([history.status, history.json.items], [200, []]);
  });

  test('a result of it is no example of its code, and the call says so as any other [ADM-67, HTTP-26]', async () => {
    const path = '/terminology/unmapped/example?system=urn:lab&code=HISTO';
    const { status, json } = documented('GET', path, await api.call(path, { token: account.token }));
    assert.deepEqual([status, json], [200, { items: [] }]);
  });

  test('for publishing nothing is left out: such an order is refused, also once it was fetched without documents', async () => {
    const { pool } = api.database;
    const emit = createOrderEmitter({ db: pool, translator: createTranslator({ db: pool }) });
    const emitted = ({ scope, id, discipline }: ReturnType<typeof key>) =>
      emit(scope, { orderId: id, discipline });
    const whole = await emitted(key(1));
    const report = whole?.resources.find(({ resourceType }) => resourceType === 'DiagnosticReport') as Json;
    assert.equal(Buffer.from(report.presentedForm[0].data, 'base64').compare(DOCUMENT), 0);
    assert.equal((await get(2)).status, 200);
    await assert.rejects(
      answered(() => emitted(key(2))),
      (error) => error instanceof HttpError && error.statusCode === 422,
    );
  });

  test('documents beyond what PostgreSQL holds in one value harm no order that is asked for at the same time [FETCH-24]', async () => {
    const { id: reportId } = report(4, 1, Buffer.alloc(0));
    const place = [tenant.organisationId, tenant.facilityId, reportId];
    await api.database.pool.query({
      text: `
        insert into investigation_document (organisation_id, facility_id, report_id, position, media_type, content)
        values ($1, $2, $3, 1, 'text/plain', convert_to(repeat('x', 10000000), 'UTF8'))`,
      values: place,
    });
    // Copies of what PostgreSQL has compressed once.
    await api.database.pool.query({
      text: `
        insert into investigation_document (organisation_id, facility_id, report_id, position, media_type, content)
        select organisation_id, facility_id, report_id, n, media_type, content
        from investigation_document, generate_series(2, 90) n
        where organisation_id = $1
          and facility_id = $2
          and report_id = $3
          and position = 1`,
      values: place,
    });
    const load = createInvestigationLoader(api.database.pool);
    const [huge, small] = await Promise.all([load(key(4)), load(key(1))]);
    assert.equal(huge?.record?.reports[0]?.documents?.length, 91);
    assert.equal(
      small?.record?.reports[0]?.documents?.[0]?.content?.length,
      Math.ceil(DOCUMENT.length / 3) * 4,
    );
  });

  test('what PostgreSQL cannot write in one value is too large, and said to be', async () => {
    const beyond = { query: () => Promise.reject(Object.assign(new Error('too large'), { code: '54000' })) };
    const load = createInvestigationLoader(beyond as unknown as Queryable);
    await assert.rejects(
      answered(() => load(key(1))),
      (error) => error instanceof HttpError && error.statusCode === 422,
    );
  });

  test('an order in the wrong facility stays unknown, whatever its size', async () => {
    const load = createInvestigationLoader(api.database.pool);
    const elsewhere = { ...key(2).scope, facilityId: PATIENT };
    assert.equal(await load({ ...key(2), scope: elsewhere }), undefined);
  });
});
