/** Records of two patients, linked at random and corrected from one to the other: no kept text of an order is out of date. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { useImportTest } from '../../../../test-support/records/import.ts';
import { sized } from '../../../../test-support/sized.ts';
import { checkTexts } from '../../../clinical/kept/check-texts.ts';
import { ORDER_TEXTS, renderChangedOrders } from '../../../investigations/kept/order-rendering.store.ts';

const t = await useImportTest();

const PATIENTS = ['p', 'q'].map((id) => ({ resourceType: 'Patient', id }));
const refer = (type: string, ids: readonly string[]) =>
  ids.length === 0 ? undefined : ids.map((id) => ({ reference: `${type}/${id}` }));
const category = [
  { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }] },
];

const some = (prefix: string, count: number, maxLength: number) =>
  fc.uniqueArray(
    fc.nat(count - 1).map((index) => `${prefix}${index}`),
    { maxLength },
  );
const base = (resourceType: string, id: string, patient: string, status: string) => ({
  resourceType,
  id,
  status,
  subject: { reference: `Patient/${patient}` },
});
const patient = fc.constantFrom('p', 'p', 'p', 'q');
const at = fc.constantFrom('2024-05-01T10:00:00Z', '2024-05-02T10:00:00Z', '2024-05-03T10:00:00Z');
const record = fc.oneof(
  fc.record({ n: fc.nat(1), patient, specimen: some('m', 2, 1) }).map(({ n, patient, specimen }) => ({
    ...base('ServiceRequest', `s${n}`, patient, 'active'),
    intent: 'order',
    category,
    specimen: refer('Specimen', specimen),
  })),
  fc
    .record({
      n: fc.nat(3),
      patient,
      basedOn: some('s', 2, 1),
      members: some('o', 4, 2),
      specimen: some('m', 2, 1),
      at,
      value: fc.nat(3),
    })
    .map(({ n, patient, basedOn, members, specimen, at, value }) => ({
      ...base('Observation', `o${n}`, patient, 'final'),
      category,
      code: { text: `o${n}` },
      effectiveDateTime: at,
      valueInteger: value,
      basedOn: refer('ServiceRequest', basedOn),
      hasMember: refer(
        'Observation',
        members.filter((id) => Number(id.slice(1)) < n),
      ),
      specimen: refer('Specimen', specimen)?.[0],
    })),
  fc
    .record({
      n: fc.nat(2),
      patient,
      basedOn: some('s', 2, 1),
      results: some('o', 4, 3),
      studies: some('i', 1, 1),
      specimen: some('m', 2, 1),
      at,
    })
    .map(({ n, patient, basedOn, results, studies, specimen, at }) => ({
      ...base('DiagnosticReport', `r${n}`, patient, 'final'),
      code: { text: `r${n}` },
      issued: at,
      basedOn: refer('ServiceRequest', basedOn),
      result: refer('Observation', results),
      imagingStudy: refer('ImagingStudy', studies),
      specimen: refer('Specimen', specimen),
    })),
  fc.record({ patient, basedOn: some('s', 2, 1) }).map(({ patient, basedOn }) => ({
    ...base('ImagingStudy', 'i0', patient, 'available'),
    basedOn: refer('ServiceRequest', basedOn),
  })),
  fc
    .record({ n: fc.nat(1), patient, type: fc.constantFrom('blood', 'urine') })
    .map(({ n, patient, type }) => ({
      ...base('Specimen', `m${n}`, patient, 'available'),
      type: { text: type },
    })),
);

test('records of two patients, one import after the other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 8, maxLength: 30 }), async (records) => {
      const scope = await t.createOrganisation();
      await t.run(
        [{ resourceType: 'Bundle', type: 'collection', entry: PATIENTS.map((resource) => ({ resource })) }],
        { scope },
      );
      for (const one of records) {
        // What refers to another patient's record is refused.
        await t.run([one], { scope });
        const { different } = await checkTexts(t.database.pool, ORDER_TEXTS, scope.organisationId);
        assert.deepEqual(different, []);
        while (await renderChangedOrders(t.database.pool, scope.organisationId));
        const strays = await t.rows(
          `select part.id from (
            select id, patient_id, order_id from investigation_report where organisation_id = $1
            union all select id, patient_id, order_id from observation where organisation_id = $1
            union all select id, patient_id, order_id from imaging_study where organisation_id = $1
          ) part join investigation_order o on o.organisation_id = $1 and o.id = part.order_id
          where o.patient_id <> part.patient_id`,
          [scope.organisationId],
        );
        assert.deepEqual(strays, []);
      }
    }),
    { numRuns: sized(6, 40) },
  );
});
