import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { importClinical, importJson } from '../../test-support/records/import-files.ts';
import type { Json } from '../../test-support/service/api.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';

const PATIENT = '7c000000-0000-4000-8000-000000000001';
const ORDER = '7c000000-0000-4000-8000-000000000010';
const PATH = `/investigations/imaging/orders/${ORDER}/clinical/fhir`;

/** A JSON list as a list. */
const list = (json: Json | undefined): Json[] => json ?? [];

const { api, tenant, account } = await useTestApi({ permissions: ['investigations.imaging.list'] });
await importClinical(api.database.pool, tenant, 'imaging.json', 'laboratory.json');

describe('GET /investigations/imaging/orders/<id>/clinical/fhir', () => {
  test('answers the order and its report; the study is in the bundle [FETCH-2, FETCH-7, FETCH-20]', async () => {
    const { status, json } = await api.call(PATH, { token: account.token });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json), ['orderId', 'bundle', 'orders', 'reports']);
    assert.equal(json.orderId, ORDER);
    assert.equal(json.bundle.type, 'collection');
    assert.deepEqual(
      list(json.bundle.entry).map(({ resource }) => resource.resourceType),
      ['ServiceRequest', 'ImagingStudy', 'DiagnosticReport'],
    );
    const [order] = json.orders;
    assert.equal(order?.status, 'active');
    assert.equal(order?.code, '24627-2');
    const [report] = json.reports;
    assert.equal(report?.conclusion, 'No consolidation.');
    assert.deepEqual(report?.resource?.basedOn, [{ reference: `ServiceRequest/${ORDER}` }]);
    assert.deepEqual(report?.resource?.imagingStudy, [
      { reference: 'ImagingStudy/7c000000-0000-4000-8000-000000000020' },
    ]);
  });

  test('a study without order and report is listed under an order made up for it [FETCH-20, IN-18]', async () => {
    const { status, json } = await api.call(`/investigations/imaging/orders?patient=${PATIENT}`, {
      token: account.token,
    });
    assert.equal(status, 200);
    assert.deepEqual(
      list(json.items).map(({ orderId: _, ...item }) => item),
      [
        {
          patientId: PATIENT,
          encounterId: null,
          status: 'active',
          code: '24627-2',
          codeSystem: 'http://loinc.org',
          orderedAt: null,
          orderedOn: '2024-02',
        },
        {
          patientId: PATIENT,
          encounterId: null,
          status: 'active',
          code: 'XR-WRIST',
          codeSystem: 'https://hospital.example/imaging',
          orderedAt: '2023-10-01T08:30:00Z',
        },
      ],
    );
    const fetched = await api.call(`/investigations/imaging/orders/${json.items[1]?.orderId}/clinical/fhir`, {
      token: account.token,
    });
    assert.deepEqual(fetched.json.reports, []);
    assert.equal(fetched.json.bundle.entry[1]?.resource?.id, '7c000000-0000-4000-8000-000000000040');
  });

  test('who has a type that R4 does not allow in the element is called by name, and a patient by none [FETCH-25, HTTP-30]', async () => {
    const id = (number: number) => `7c000000-0000-4000-8000-0000000001${number}`;
    const subject = { reference: `Patient/${PATIENT}` };
    const organization = { reference: `Organization/${id(10)}`, display: 'Hill Hospital' };
    const practitioner = { reference: `Practitioner/${id(11)}`, display: 'Dr. Öz' };
    const patient = { ...subject, display: 'Ada' };
    const code = { text: 'X-ray' };
    const study = {
      resourceType: 'ImagingStudy',
      id: id(12),
      status: 'available',
      subject,
      referrer: organization,
      interpreter: [practitioner, patient],
    };
    const report = {
      resourceType: 'DiagnosticReport',
      id: id(13),
      status: 'final',
      code,
      subject,
      performer: [patient, organization],
      resultsInterpreter: [practitioner, patient],
      imagingStudy: [{ reference: `ImagingStudy/${id(12)}` }],
    };
    const records = [
      { resourceType: 'Organization', id: id(10), name: 'Hill Hospital' },
      { resourceType: 'Practitioner', id: id(11) },
      study,
      report,
    ];
    const texts = records.map((one) => JSON.stringify(one));
    const { rejected } = await importJson(api.database.pool, tenant, ...texts);
    assert.deepEqual(rejected, []);
    const { token } = account;
    const [shownStudy, shownReport] = await Promise.all(
      [`ImagingStudy/${id(12)}`, `DiagnosticReport/${id(13)}`].map((path) =>
        api.call(`/fhir/${path}`, { token }),
      ),
    );
    const { referrer, interpreter } = shownStudy?.json ?? {};
    assert.deepEqual([referrer, interpreter], [{ display: 'Hill Hospital' }, [practitioner]]);
    const { performer, resultsInterpreter } = shownReport?.json ?? {};
    assert.deepEqual([performer, resultsInterpreter], [[organization], [practitioner]]);
  });

  test('401, 403 and 404 [FETCH-2]', async () => {
    assert.equal((await api.call(PATH)).status, 401);
    const lab = await api.createAccount(tenant, { permissions: ['investigations.lab.list'] });
    assert.equal((await api.call(PATH, { token: lab.token })).status, 403);
    assert.equal(
      (
        await api.call(PATH, {
          token: (await api.createAccount(await api.createTenant())).token,
        })
      ).status,
      404,
    );
    const laboratory = '7b000000-0000-4000-8000-000000000010';
    const answer = await api.call(`/investigations/imaging/orders/${laboratory}/clinical/fhir`, {
      token: account.token,
    });
    assert.equal(answer.status, 404);
  });
});
