/** A record that refers to one of another patient: refused, never grouped with it, never shown with it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { useTestDatabase } from '../../../../test-support/database/database.ts';
import { importJson } from '../../../../test-support/records/import-files.ts';
import type { Tenant } from '../../../../test-support/service/api.ts';
import { createVitalSetLoader } from '../../../encounters/vitals/vital-set.store.ts';
import { createInvestigationLoader } from '../../../investigations/investigation.store.ts';
import { findReplacement } from '../../../investigations/replaced-orders.store.ts';
import { createFacility, createOrganisation } from '../../../tenancy/organisations/facilities.ts';
import { assignDocuments, assignResults } from '../group/assign-orders.ts';

const of = (resourceType: string, id: string, patient: string, more: object = {}): object => ({
  resourceType,
  id,
  status: 'final',
  code: { text: 'Test' },
  subject: { reference: `Patient/${patient}` },
  ...more,
});
const lab = [
  {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }],
  },
];
const result = (id: string, patient: string, more: object = {}) =>
  of('Observation', id, patient, { category: lab, valueString: 'secret', ...more });
const study = (id: string, patient: string, more: object = {}) =>
  of('ImagingStudy', id, patient, { status: 'available', code: undefined, ...more });
const order = (id: string, patient: string, more: object = {}) =>
  of('ServiceRequest', id, patient, { status: 'active', intent: 'order', category: lab, ...more });
const report = (id: string, patient: string, more: object = {}) => of('DiagnosticReport', id, patient, more);
const visit = (id: string, patient: string) =>
  of('Encounter', id, patient, { status: 'finished', code: undefined, class: { code: 'AMB' } });
const refer = (reference: string) => [{ reference }];
const inVisit = { encounter: { reference: 'Encounter/x' } };

const database = await useTestDatabase();

describe('records of different patients', () => {
  let tenant: Tenant;

  async function newTenant(): Promise<void> {
    const organisation = await createOrganisation(database.pool, { name: 'Organisation' });
    const facility = await createFacility(database.pool, { organisationId: organisation.id, name: 'F' });
    tenant = { organisationId: organisation.id, facilityId: facility.id };
    await send({ resourceType: 'Patient', id: 'a' }, { resourceType: 'Patient', id: 'b' });
  }
  const send = (...resources: object[]) =>
    importJson(database.pool, tenant, ...resources.map((resource) => JSON.stringify(resource)));
  const bundle = (...resources: object[]) => ({
    resourceType: 'Bundle',
    type: 'collection',
    entry: resources.map((resource) => ({ resource })),
  });

  for (const [element, ...resources] of [
    ['DiagnosticReport.result', result('x', 'b'), report('r', 'a', { result: refer('Observation/x') })],
    [
      'DiagnosticReport.imagingStudy',
      study('x', 'b'),
      report('r', 'a', { imagingStudy: refer('ImagingStudy/x') }),
    ],
    ['DiagnosticReport.basedOn', order('x', 'b'), report('r', 'a', { basedOn: refer('ServiceRequest/x') })],
    ['ImagingStudy.basedOn', order('x', 'b'), study('r', 'a', { basedOn: refer('ServiceRequest/x') })],
    ['Observation.basedOn', order('x', 'b'), result('r', 'a', { basedOn: refer('ServiceRequest/x') })],
    ['Observation.hasMember', result('x', 'b'), result('r', 'a', { hasMember: refer('Observation/x') })],
    ['Observation.derivedFrom', result('x', 'b'), result('r', 'a', { derivedFrom: refer('Observation/x') })],
    ['Observation.derivedFrom', study('x', 'b'), result('r', 'a', { derivedFrom: refer('ImagingStudy/x') })],
    ['Observation.partOf', study('x', 'b'), result('r', 'a', { partOf: refer('ImagingStudy/x') })],
    ['ServiceRequest.basedOn', order('x', 'b'), order('r', 'a', { basedOn: refer('ServiceRequest/x') })],
    ['ServiceRequest.replaces', order('x', 'b'), order('r', 'a', { replaces: refer('ServiceRequest/x') })],
    [
      'ServiceRequest.reasonReference',
      result('x', 'b'),
      order('r', 'a', { reasonReference: refer('Observation/x') }),
    ],
    [
      'ServiceRequest.reasonReference',
      report('x', 'b'),
      order('r', 'a', { reasonReference: refer('DiagnosticReport/x') }),
    ],
    [
      'ImagingStudy.reasonReference',
      result('x', 'b'),
      study('r', 'a', { reasonReference: refer('Observation/x') }),
    ],
    [
      'ImagingStudy.reasonReference',
      report('x', 'b'),
      study('r', 'a', { reasonReference: refer('DiagnosticReport/x') }),
    ],
    ['DiagnosticReport.encounter', visit('x', 'b'), report('r', 'a', inVisit)],
    ['ImagingStudy.encounter', visit('x', 'b'), study('r', 'a', inVisit)],
    ['Observation.encounter', visit('x', 'b'), result('r', 'a', inVisit)],
    ['ServiceRequest.encounter', visit('x', 'b'), order('r', 'a', inVisit)],
  ] as const)
    test(`${element} of another patient is refused, in a Bundle and of what is there already [IN-20]`, async () => {
      await newTenant();
      const [target, source] = resources as unknown as [object, object];
      const together = await send(bundle(target, source));
      assert.deepEqual(
        together.rejected.map(({ entry, reason }) => [entry, reason]),
        [
          [
            2,
            `${element} refers to a record of another patient. If that record moved to this patient, import it first, or in the same import. If each refers to the other, send both in one Bundle`,
          ],
        ],
      );
      assert.equal((await send(target)).rejectedCount, 0);
      const later = await send(source);
      assert.equal(
        later.rejected[0]?.reason,
        `${element} refers to a record of another patient. If that record moved to this patient, import it first, or in the same import. If each refers to the other, send both in one Bundle`,
      );
    });

  test('a target that turns out to be another patient’s in a later file: named, and never linked [IN-20]', async () => {
    await newTenant();
    const sent = await send(report('r', 'a', { result: refer('Observation/x') }), result('x', 'b'));
    assert.deepEqual(
      sent.rejected.map(({ file, reason }) => [file, reason]),
      [
        [
          'source 1',
          'DiagnosticReport.result refers to a record of another patient. If that record moved to this patient, import it first, or in the same import. If each refers to the other, send both in one Bundle',
        ],
      ],
    );
    const { rows } = await database.pool.query({
      text: 'select observation_id as linked from investigation_report_result where organisation_id = $1',
      values: [tenant.organisationId],
    });
    assert.deepEqual(rows, [{ linked: null }]);
  });

  test('records that move to another patient together are taken, whichever file has what they refer to [IN-16, IN-20]', async () => {
    await newTenant();
    const all = (patient: string): [object, object, object, object] => [
      report('r', patient, {
        ...inVisit,
        basedOn: refer('ServiceRequest/s'),
        result: refer('Observation/o'),
      }),
      result('o', patient, { ...inVisit, basedOn: refer('ServiceRequest/s') }),
      visit('x', patient),
      order('s', patient, inVisit),
    ];
    const [first, ...others] = all('a');
    assert.equal((await send(...others, first)).rejectedCount, 0);
    const moved = await send(...all('b'));
    assert.deepEqual(moved.rejected, []);
    assert.deepEqual(moved.resources, {
      DiagnosticReport: 1,
      Observation: 1,
      Encounter: 1,
      ServiceRequest: 1,
    });
    const { rows } = await database.pool.query({
      text: `select count(distinct r.patient_id)::int as patients, bool_and(s.id = o.order_id and s.id = r.order_id) as together
        from investigation_report r
        join observation o using (organisation_id, patient_id)
        join encounter e using (organisation_id, patient_id)
        join investigation_order s using (organisation_id, patient_id)
        where r.organisation_id = $1`,
      values: [tenant.organisationId],
    });
    assert.deepEqual(rows, [{ patients: 1, together: true }]);
    const again = await send(...all('b'));
    assert.deepEqual(again.unchanged, moved.resources);
  });

  test('what refers to each other and moves to another patient is taken, in a Bundle and from lines that stand far apart [IN-16, IN-20]', async () => {
    await newTenant();
    const samples = (patient: string, ids: readonly string[]) => [
      ...ids.map((id) => order(id, patient, { specimen: refer(`Specimen/${id}`) })),
      ...ids.map((id) => ({
        ...{ resourceType: 'Specimen', id, subject: { reference: `Patient/${patient}` } },
        request: refer(`ServiceRequest/${id}`),
      })),
    ];
    const lines = (records: readonly object[]) => records.map((one) => JSON.stringify(one)).join('\n');
    const sendLines = (records: readonly object[]) => importJson(database.pool, tenant, lines(records));
    // More than go in one transaction, of many patients.
    const people = Array.from({ length: 120 }, (_, index) => `p${index}`);
    const idsOf = (person: string) => ['1', '2', '3', '4', '5'].map((number) => `${person}-${number}`);
    const all = (whose: (person: string) => string) => {
      const each = people.map((person) => samples(whose(person), idsOf(person)));
      return [...each.flatMap((some) => some.slice(0, 5)), ...each.flatMap((some) => some.slice(5))];
    };
    const persons = people
      .flatMap((id) => [id, `${id}-merged`])
      .map((id) => ({ resourceType: 'Patient', id }));
    assert.equal((await sendLines([...persons, ...all((person) => person)])).rejectedCount, 0);
    const moved = await sendLines(all((person) => `${person}-merged`));
    assert.deepEqual(moved.rejected, []);
    assert.equal((await send(bundle(...samples('a', ['x'])))).rejectedCount, 0);
    assert.equal((await send(bundle(...samples('b', ['x'])))).rejectedCount, 0);
    const apart = await send(...samples('a', ['x']));
    assert.match(String(apart.rejected[0]?.reason), /If each refers to the other, send both in one Bundle$/);
  });

  test('only the record that refers is named, whatever else has its id', async () => {
    await newTenant();
    const id = '0b8c3f6e-5a52-4a0e-9c7f-0d6b1f2a3c4d';
    const refused = await send(
      bundle(result('x', 'b'), study(id, 'a'), report(id, 'a', { result: refer('Observation/x') })),
    );
    assert.deepEqual(
      refused.rejected.map(({ entry, resourceType }) => [entry, resourceType]),
      [[3, 'DiagnosticReport']],
    );
  });

  test('an observation may have another patient as its focus, and what is about them', async () => {
    await newTenant();
    const focus = [...refer('Patient/b'), ...refer('Observation/x'), ...refer('Encounter/v')];
    const sent = await send(bundle(visit('v', 'b'), result('x', 'b'), result('r', 'a', { focus })));
    assert.deepEqual([sent.rejected, sent.unresolved], [[], []]);
  });

  test('imports at the same time: what each refers to and changes never ends under another patient', async () => {
    await newTenant();
    const numbers = Array.from({ length: 20 }, (_, index) => index);
    await send(...numbers.map((index) => result(`x${index}`, 'a')));
    await Promise.all([
      send(...numbers.map((index) => report(`r${index}`, 'a', { result: refer(`Observation/x${index}`) }))),
      send(...numbers.map((index) => result(`x${index}`, 'b'))),
    ]);
    const { rows } = await database.pool.query({
      text: `select b.id from observation b
        join investigation_order o on o.organisation_id = b.organisation_id and o.id = b.order_id
        where b.organisation_id = $1 and o.patient_id <> b.patient_id`,
      values: [tenant.organisationId],
    });
    assert.deepEqual(rows, []);
  });

  test('a result that turns out to be another patient’s leaves the order', async () => {
    await newTenant();
    const listing = report('r', 'a', { basedOn: refer('ServiceRequest/s'), result: refer('Observation/x') });
    await send(order('s', 'a'), result('x', 'a'), listing);
    assert.equal((await send(result('x', 'b'))).rejectedCount, 0);
    const { rows } = await database.pool.query({
      text: `select o.patient_id = b.patient_id as same from observation b
        join investigation_order o on o.organisation_id = b.organisation_id and o.id = b.order_id
        where b.organisation_id = $1`,
      values: [tenant.organisationId],
    });
    assert.deepEqual(rows, [{ same: true }]);
    assert.deepEqual(await shown(), ['reports']);
  });

  test('the id of an order that is gone leads to no order of another patient [FETCH-25]', async () => {
    await newTenant();
    const at = { effectiveDateTime: '2024-05-01T10:00:00Z' };
    await send(result('x', 'a', at));
    const { rows } = await database.pool.query<{ id: string }>({
      text: 'select id from investigation_order where organisation_id = $1',
      values: [tenant.organisationId],
    });
    const scope = { timeZone: 'UTC', ...tenant };
    const replacement = () => findReplacement(database.pool, scope, rows[0]?.id ?? '');
    await send(report('r', 'a', { result: refer('Observation/x') }));
    assert.match((await replacement()) ?? '', /^[0-9a-f-]{36}$/);
    await send(result('x', 'b', at));
    assert.equal(await replacement(), undefined);
  });

  test('an order that turns out to be another patient’s leaves what is under it to orders of its own patient, and has it again once it is that patient’s [IN-17]', async () => {
    await newTenant();
    const basedOn = refer('ServiceRequest/s');
    await send(
      order('s', 'a'),
      result('x', 'a', { basedOn }),
      report('r', 'a', { basedOn }),
      study('i', 'a', { basedOn }),
    );
    const places = async () => {
      const { rows } = await database.pool.query({
        text: `select part.kind, o.patient_id = part.patient_id as same, o.made_up
        from (
          select 'report' as kind, patient_id, order_id from investigation_report where organisation_id = $1
          union all select 'result', patient_id, order_id from observation where organisation_id = $1
          union all select 'study', patient_id, order_id from imaging_study where organisation_id = $1
        ) part
        left join investigation_order o on o.organisation_id = $1 and o.id = part.order_id
        order by part.kind`,
        values: [tenant.organisationId],
      });
      return rows;
    };
    const each = (place: object) => ['report', 'result', 'study'].map((kind) => ({ kind, ...place }));
    assert.equal((await send(order('s', 'b'))).rejectedCount, 0);
    assert.deepEqual(await places(), each({ same: true, made_up: true }));
    assert.equal((await send(order('s', 'a'))).rejectedCount, 0);
    assert.deepEqual(await places(), each({ same: true, made_up: false }));
  });

  test('whatever is stored, an order shows nothing of another patient [FETCH-25]', async () => {
    await newTenant();
    const listing = report('r', 'a', {
      basedOn: refer('ServiceRequest/s'),
      result: refer('Observation/x'),
      imagingStudy: refer('ImagingStudy/i'),
    });
    await send(order('s', 'a'), result('x', 'a'), study('i', 'a'), listing);
    assert.deepEqual(await shown(), ['observations', 'reports', 'studies']);
    for (const table of ['observation', 'investigation_report', 'imaging_study'])
      await database.pool.query({
        text: `update ${table} set patient_id = (
            select id from patient p where p.organisation_id = $1 and p.id <> ${table}.patient_id limit 1
          ) where organisation_id = $1`,
        values: [tenant.organisationId],
      });
    assert.deepEqual(await shown(), []);
  });

  test('whatever is stored, a vital set shows nothing of another patient [FETCH-25]', async () => {
    await newTenant();
    const pulse = { coding: [{ system: 'http://loinc.org', code: '8867-4' }] };
    await send(result('x', 'a', { category: undefined, code: pulse, effectiveDateTime: '2024-05-01' }));
    const signs = async () => {
      const { rows } = await database.pool.query<{ id: string }>({
        text: 'select id from vital_set where organisation_id = $1',
        values: [tenant.organisationId],
      });
      const scope = { timeZone: 'UTC', ...tenant };
      const key = { scope, id: rows[0]?.id ?? '' };
      return (await createVitalSetLoader(database.pool)(key))?.record?.observations.length;
    };
    assert.equal(await signs(), 1);
    await database.pool.query({
      text: `update observation set patient_id = (
          select id from patient p where p.organisation_id = $1 and p.id <> observation.patient_id limit 1
        ) where organisation_id = $1`,
      values: [tenant.organisationId],
    });
    assert.equal(await signs(), 0);
  });

  /** Which parts of the order `s` there are to see. */
  async function shown(): Promise<string[]> {
    const { rows } = await database.pool.query<{ id: string }>({
      text: 'select id from investigation_order where organisation_id = $1 and not made_up',
      values: [tenant.organisationId],
    });
    const scope = { timeZone: 'UTC', ...tenant };
    const key = { scope, id: rows[0]?.id ?? '', discipline: 'laboratory' as const };
    const loaded = await createInvestigationLoader(database.pool)(key);
    assert.ok(loaded?.record);
    const { observations, reports, studies } = loaded.record;
    return Object.entries({ observations, reports, studies }).flatMap(([name, parts]) =>
      parts.length === 0 ? [] : [name],
    );
  }
});

test('no rule of grouping puts a part under an order of another patient [IN-20]', () => {
  const part = { encounterId: null, status: 'final', code: null, orderId: null, basedOnId: null };
  const reports = [
    {
      ...part,
      id: 'r',
      patientId: 'a',
      basedOnId: 'of-a',
      discipline: 'laboratory' as const,
      issuedAt: null,
      studyIds: ['i'],
      resultOrderIds: [],
    },
  ];
  const studies = [{ ...part, id: 'i', patientId: 'b' }];
  const lab = {
    ...part,
    vitalSign: false,
    category: null,
    kind: 'laboratory',
    memberIds: [],
    facilityId: 'f',
    specimenId: null,
    effectiveAt: null,
    reportOrderIds: [],
  };
  const observations = [
    { ...lab, id: 'panel', patientId: 'a', basedOnId: 'of-a' },
    { ...lab, id: 'x', patientId: 'b', basedOnId: 'of-a' },
    { ...lab, id: 'y', patientId: 'b', reportOrderIds: ['of-a'] },
    { ...lab, id: 'z', patientId: 'b' },
  ];
  const patientOf = (id: string) => (id === 'of-a' ? 'a' : undefined);
  const panels = new Map([
    ['x', 'panel'],
    ['z', 'panel'],
  ]);
  const documents = assignDocuments({ reports, studies }, patientOf);
  const results = assignResults({ observations, panels }, patientOf);
  assert.equal(documents.get('r'), 'of-a');
  assert.equal(results.get('panel'), 'of-a');
  assert.match(documents.get('i') ?? '', /^[0-9a-f-]{36}$/);
  for (const id of ['x', 'y', 'z']) assert.match(results.get(id) ?? '', /^[0-9a-f-]{36}$/);
});
