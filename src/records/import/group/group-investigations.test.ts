import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { useTestDatabase } from '../../../../test-support/database/database.ts';
import { importJson } from '../../../../test-support/records/import-files.ts';
import type { Tenant } from '../../../../test-support/service/api.ts';
import { createFacility, createOrganisation } from '../../../tenancy/organisations/facilities.ts';

const PATIENT = '{"resourceType":"Patient","id":"p1"}';
const category = {
  coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }],
};
const base = { subject: { reference: 'Patient/p1' }, status: 'final', code: { text: 'Test' } };
const observation = (id: string, more: object = {}) =>
  JSON.stringify({
    resourceType: 'Observation',
    id,
    ...base,
    category: [category],
    valueString: 'x',
    effectiveDateTime: '2024-01-02',
    ...more,
  });
const REPORT = JSON.stringify({
  resourceType: 'DiagnosticReport',
  id: 'r1',
  ...base,
  basedOn: [{ reference: 'ServiceRequest/s1' }],
  result: [{ reference: 'Observation/o1' }, { reference: 'Observation/o2' }],
});
const ORDER = JSON.stringify({
  resourceType: 'ServiceRequest',
  id: 's1',
  ...base,
  status: 'active',
  intent: 'order',
});

const database = await useTestDatabase();

describe('grouping over several imports', () => {
  async function tenant(): Promise<Tenant> {
    const organisation = await createOrganisation(database.pool, { name: 'Organisation' });
    const facility = await createFacility(database.pool, { organisationId: organisation.id, name: 'F' });
    return { organisationId: organisation.id, facilityId: facility.id };
  }

  const orders = async ({ organisationId }: Tenant) =>
    (
      await database.pool.query({
        text: `select made_up, discipline, status, version,
            (select count(*)::int from observation b where b.organisation_id = $1 and b.order_id = o.id) as results,
            (select count(*)::int from investigation_report r where r.organisation_id = $1 and r.order_id = o.id) as reports
          from investigation_order o where organisation_id = $1 order by made_up, id`,
        values: [organisationId],
      })
    ).rows;

  const expected = { made_up: false, discipline: 'laboratory', status: 'active', results: 2, reports: 1 };
  const withoutVersion = (rows: { version: number }[]) => rows.map(({ version: _, ...row }) => row);

  test('results, then the order, then the report: one order in the end, and nothing made up is left [IN-17]', async () => {
    const here = await tenant();
    await importJson(database.pool, here, PATIENT, observation('o1'), observation('o2'));
    assert.equal((await orders(here)).length, 1);
    await importJson(database.pool, here, ORDER);
    await importJson(database.pool, here, REPORT);
    assert.deepEqual(withoutVersion(await orders(here)), [expected]);
  });

  test('all at once, in any order of files: the same', async () => {
    const here = await tenant();
    await importJson(database.pool, here, REPORT, observation('o2'), ORDER, PATIENT, observation('o1'));
    assert.deepEqual(withoutVersion(await orders(here)), [expected]);
  });

  test('the same again changes nothing: not the version either [IN-15]', async () => {
    const here = await tenant();
    const sources = [PATIENT, ORDER, observation('o1'), observation('o2'), REPORT];
    await importJson(database.pool, here, ...sources);
    const before = await orders(here);
    const { unchanged } = await importJson(database.pool, here, ...sources);
    assert.deepEqual(await orders(here), before);
    assert.deepEqual(unchanged, { Patient: 1, ServiceRequest: 1, Observation: 2, DiagnosticReport: 1 });
  });

  test('a changed result is a new version of its order', async () => {
    const here = await tenant();
    await importJson(database.pool, here, PATIENT, ORDER, observation('o1'), observation('o2'), REPORT);
    const [before] = await orders(here);
    await importJson(database.pool, here, observation('o1', { status: 'amended' }));
    const [after] = await orders(here);
    assert.equal(after?.version, before?.version + 1);
  });

  test('a result that moves is a new version of every order whose report lists it: it names its order [FETCH-22]', async () => {
    const here = await tenant();
    const order = (id: string) => ORDER.replace('"s1"', `"${id}"`).replace('"Test"', `"${id}"`);
    const report = (id: string, orderId: string, issued: string) =>
      JSON.stringify({
        ...{ resourceType: 'DiagnosticReport', id, ...base, issued },
        basedOn: [{ reference: `ServiceRequest/${orderId}` }],
        result: [{ reference: 'Observation/o1' }],
      });
    const [first, second] = ['2024-01-02T00:00:00Z', '2024-01-03T00:00:00Z'];
    const versions = async () => {
      const { rows } = await database.pool.query<{ name: string; version: string }>({
        text: `select code ->> 'text' as name, version from investigation_order where organisation_id = $1`,
        values: [here.organisationId],
      });
      return new Map(rows.map(({ name, version }) => [name, Number(version)]));
    };
    await importJson(database.pool, here, PATIENT, order('s1'), order('s2'), order('s3'), observation('o1'));
    await importJson(database.pool, here, report('r1', 's1', first), report('r2', 's2', second));
    const before = await versions();
    await importJson(database.pool, here, report('r1', 's3', first));
    const after = await versions();
    for (const name of ['s1', 's2', 's3']) assert.equal(after.get(name), Number(before.get(name)) + 1, name);
  });

  test('an order that says nothing of its discipline keeps that of its results when it changes', async () => {
    const here = await tenant();
    await importJson(database.pool, here, PATIENT, ORDER, observation('o1'), observation('o2'), REPORT);
    await importJson(database.pool, here, ORDER.replace('active', 'completed'));
    assert.deepEqual(withoutVersion(await orders(here)), [{ ...expected, status: 'completed' }]);
  });

  test('an order with a study and a result is of the discipline of its study, whatever comes last', async () => {
    const basedOn = [{ reference: 'ServiceRequest/s1' }];
    const study = JSON.stringify({
      ...{ resourceType: 'ImagingStudy', id: 'i1', subject: base.subject, status: 'available' },
      basedOn,
    });
    for (const parts of [
      [study, observation('o1', { basedOn })],
      [observation('o1', { basedOn }), study],
    ]) {
      const here = await tenant();
      await importJson(database.pool, here, PATIENT, ORDER);
      for (const part of parts) await importJson(database.pool, here, part);
      assert.deepEqual(
        (await orders(here)).map(({ discipline }) => discipline),
        ['imaging'],
      );
    }
  });

  test('a made-up order that is removed and comes again repeats no version', async () => {
    const here = await tenant();
    const madeUp = async () =>
      (
        await database.pool.query<{ id: string; version: number }>({
          text: 'select id, version from investigation_order where organisation_id = $1 and made_up',
          values: [here.organisationId],
        })
      ).rows[0];
    const lone = { resourceType: 'DiagnosticReport', id: 'r2', ...base };
    const based = { ...lone, basedOn: [{ reference: 'ServiceRequest/s1' }] };
    const others = { ...lone, subject: { reference: 'Patient/p2' } };
    await importJson(database.pool, here, PATIENT, PATIENT.replace('p1', 'p2'), ORDER, JSON.stringify(lone));
    const first = await madeUp();
    await importJson(database.pool, here, JSON.stringify(based));
    assert.equal(await madeUp(), undefined);
    await importJson(database.pool, here, JSON.stringify(others));
    const second = await madeUp();
    assert.ok(first !== undefined && second !== undefined);
    assert.equal(second.id, first.id);
    assert.ok(Number.isSafeInteger(first.version) && Number.isSafeInteger(second.version));
    assert.ok(Math.abs(first.version - second.version) > 1_000);
  });

  test('a made-up order follows the status of its report through its life [FETCH-16]', async () => {
    const here = await tenant();
    const lone = (status: string) =>
      JSON.stringify({ resourceType: 'DiagnosticReport', id: 'r2', ...base, status });
    await importJson(database.pool, here, PATIENT, lone('registered'));
    for (const [status, order] of [
      ['partial', 'active'],
      ['preliminary', 'active'],
      ['final', 'completed'],
      ['amended', 'completed'],
      ['corrected', 'completed'],
      ['appended', 'completed'],
      ['cancelled', 'revoked'],
      ['entered-in-error', 'entered-in-error'],
      ['unknown', 'unknown'],
    ] as const) {
      await importJson(database.pool, here, lone(status));
      assert.deepEqual(
        (await orders(here)).map((row) => [row.made_up, row.status]),
        [[true, order]],
        status,
      );
    }
  });

  test('a report stays under the order of its first study while its second one changes [IN-17]', async () => {
    const here = await tenant();
    const order = (id: string) => JSON.stringify({ ...JSON.parse(ORDER), id });
    const study = (id: string, orderId: string, description: string) =>
      JSON.stringify({
        resourceType: 'ImagingStudy',
        id,
        subject: base.subject,
        status: 'available',
        started: '2024-01-02',
        description,
        ...(orderId === '' ? {} : { basedOn: [{ reference: `ServiceRequest/${orderId}` }] }),
      });
    const listing = (id: string, issued: string, ...studies: string[]) =>
      JSON.stringify({
        resourceType: 'DiagnosticReport',
        id,
        ...base,
        code: { text: id },
        issued,
        imagingStudy: studies.map((one) => ({ reference: `ImagingStudy/${one}` })),
      });
    const state = async () => {
      const { rows } = await database.pool.query({
        text: `select r.code ->> 'text' as report, o.code ->> 'text' as "orderOf", o.made_up as "madeUp", o.version
          from investigation_report r
          join investigation_order o on o.organisation_id = r.organisation_id and o.id = r.order_id
          where r.organisation_id = $1 order by 1`,
        values: [here.organisationId],
      });
      return rows;
    };
    await importJson(
      database.pool,
      here,
      PATIENT,
      order('a'),
      order('b'),
      study('s1', 'a', 'x'),
      study('s2', 'b', 'x'),
    );
    await importJson(database.pool, here, study('s3', '', 'x'));
    await importJson(
      database.pool,
      here,
      listing('r1', '2024-01-03T00:00:00Z', 's1', 's2'),
      listing('r2', '2024-01-04T00:00:00Z', 's3', 's2'),
      listing('r3', '2024-01-02T00:00:00Z', 's3'),
    );
    const before = await state();
    assert.deepEqual(
      before.map(({ report, orderOf, madeUp }) => [report, orderOf, madeUp]),
      [
        ['r1', 'Test', false],
        ['r2', 'r3', true],
        ['r3', 'r3', true],
      ],
    );
    await importJson(database.pool, here, study('s2', 'b', 'y'));
    assert.deepEqual(await state(), before);
  });

  test('vital signs that come one by one join their set; one that moves in time leaves it [IN-19]', async () => {
    const here = await tenant();
    const sign = (id: string, code: string, effectiveDateTime: string) =>
      observation(id, {
        category: undefined,
        code: { coding: [{ system: 'http://loinc.org', code }] },
        effectiveDateTime,
      });
    const sets = async () =>
      (
        await database.pool.query({
          text: `select v.taken_at, count(b.id)::int as signs from vital_set v
            left join observation b on b.organisation_id = v.organisation_id and b.vital_set_id = v.id
            where v.organisation_id = $1 group by v.id, v.taken_at order by v.taken_at`,
          values: [here.organisationId],
        })
      ).rows.map(({ taken_at, signs }) => [taken_at.toISOString(), signs]);
    await importJson(database.pool, here, PATIENT, sign('v1', '8867-4', '2024-01-02T10:00:00Z'));
    await importJson(database.pool, here, sign('v2', '9279-1', '2024-01-02T11:00:00+01:00'));
    assert.deepEqual(await sets(), [['2024-01-02T10:00:00.000Z', 2]]);
    await importJson(
      database.pool,
      here,
      sign('v1', '8867-4', '2024-01-02T12:00:00Z'),
      sign('v2', '9279-1', '2024-01-02T12:00:00Z'),
    );
    assert.deepEqual(await sets(), [['2024-01-02T12:00:00.000Z', 2]]);
    await importJson(database.pool, here, sign('v3', '9279-1', '2024-01'));
    assert.deepEqual(await sets(), [['2024-01-02T12:00:00.000Z', 2]]);
    // Its profile requires a value.
    const index = { coding: [{ system: 'http://loinc.org', code: '39156-5' }] };
    const bmi = (more: object) =>
      observation('v4', {
        category: [{ coding: [{ ...category.coding[0], code: 'vital-signs' }] }],
        code: index,
        effectiveDateTime: '2024-01-02T12:00:00Z',
        ...more,
      });
    for (const more of [
      {},
      { valueString: undefined },
      { valueString: undefined, valueQuantity: { value: 20 } },
    ]) {
      await importJson(database.pool, here, bmi(more));
      assert.deepEqual(await sets(), [['2024-01-02T12:00:00.000Z', 2]]);
    }
    const valueQuantity = { value: 20, unit: 'kg/m²' };
    await importJson(database.pool, here, bmi({ valueString: undefined, valueQuantity }));
    assert.deepEqual(await sets(), [['2024-01-02T12:00:00.000Z', 3]]);
  });
});
