/** The order of files does not matter (docs/import.md): the same records in the end, and a second import writes nothing. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { lines, useImportTest } from '../../../../test-support/records/import.ts';
import { sized } from '../../../../test-support/sized.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';

const t = await useImportTest();

const refer = (reference: string) => ({ reference });
const coded = (system: string, code: string) => [
  { coding: [{ system: `http://terminology.hl7.org/CodeSystem/${system}`, code }] },
];
const absent = [refer('Practitioner/absent'), refer('Organization/none')];
const of = (resourceType: string, id: string, more: object): object => ({
  resourceType,
  id,
  status: 'final',
  code: { text: `${resourceType} ${id}` },
  subject: refer('Patient/p'),
  ...more,
});
const observation = (id: string, more: object = {}) =>
  of('Observation', id, {
    category: coded('observation-category', 'laboratory'),
    effectiveDateTime: '2024-05-01T10:00:00Z',
    valueString: 'x',
    performer: absent,
    ...more,
  });

const PATIENT = { resourceType: 'Patient', id: 'p' };
const ORDER = of('ServiceRequest', 's', {
  status: 'active',
  intent: 'order',
  authoredOn: '2024-05-01T09:00:00Z',
  requester: absent[0],
});
const SCAN = of('ServiceRequest', 'scan', { status: 'active', intent: 'order', requester: absent[0] });
const SODIUM = observation('sodium');
const POTASSIUM = observation('potassium');
const PANEL = observation('panel', {
  hasMember: [refer('Observation/sodium'), refer('Observation/potassium')],
});
const GLUCOSE = observation('glucose', { basedOn: [refer('ServiceRequest/s')] });
const REPORT = of('DiagnosticReport', 'r', {
  basedOn: [refer('ServiceRequest/s')],
  result: [refer('Observation/panel'), refer('Observation/glucose')],
  performer: absent,
});
const STUDY = of('ImagingStudy', 'i', {
  code: undefined,
  status: 'available',
  started: '2024-05-02T08:00:00Z',
  basedOn: [refer('ServiceRequest/scan')],
  referrer: absent[0],
});
const FINDINGS = of('DiagnosticReport', 'f', {
  imagingStudy: [refer('ImagingStudy/i')],
  resultsInterpreter: absent,
});
const VISIT = {
  resourceType: 'Encounter',
  id: 'v',
  status: 'finished',
  class: { code: 'AMB' },
  subject: refer('Patient/p'),
  participant: [{ individual: absent[0] }],
};
const PULSE = of('Observation', 'pulse', {
  code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
  category: coded('observation-category', 'vital-signs'),
  effectiveDateTime: '2024-05-01T10:00:00Z',
  encounter: refer('Encounter/v'),
  performer: absent,
});
/** In the best order: what is referred to comes first. */
const LINKED = [
  PATIENT,
  VISIT,
  ORDER,
  SCAN,
  STUDY,
  SODIUM,
  POTASSIUM,
  PANEL,
  GLUCOSE,
  PULSE,
  REPORT,
  FINDINGS,
];

const TABLES = [
  'patient',
  'patient_registration',
  'encounter',
  'encounter_participant',
  'investigation_order',
  'investigation_report',
  'investigation_report_result',
  'imaging_study',
  'observation',
  'vital_set',
];
const UNORDERED = ['organisation_id', 'facility_id', 'created_at', 'updated_at', 'registered_at'];

/**
 * Every row, without times of writing and tenancy; with `versions` also its version and the transaction that wrote it.
 * A kept text names its organisation.
 */
async function state({ facilityId, organisationId }: FacilityScope, versions: boolean): Promise<unknown> {
  const left = versions ? UNORDERED : [...UNORDERED, 'version', 'rendered_version'];
  const found: Record<string, unknown> = {};
  for (const table of TABLES)
    found[table] = await t.rows(
      `select replace((to_jsonb(r) - $3::text[])::text, $1::text, 'organisation') as row, case when $4 then xmin::text end as written
        from ${table} r
        where organisation_id = $1::uuid and coalesce(to_jsonb(r) ->> 'facility_id', $2::text) = $2::text
        order by 1`,
      [organisationId, facilityId, left, versions],
    );
  return found;
}

async function taken(documents: readonly (object | string)[], workers = 1) {
  const scope = await t.createOrganisation();
  const { rejected } = await t.run(documents, { scope, workers });
  assert.deepEqual(rejected, []);
  return { scope, rows: await state(scope, false) };
}

async function unchangedByAnother(scope: FacilityScope, documents: readonly (object | string)[]) {
  const stored = await state(scope, true);
  const again = await t.run(documents, { scope });
  assert.deepEqual(await state(scope, true), stored);
  assert.deepEqual(again.unchanged, again.resources);
}

test('a report before its result, which waits for a performer who never comes: the link is kept', async () => {
  const result = observation('o', { performer: [refer('Organization/none')] });
  const report = of('DiagnosticReport', 'r', { result: [refer('Observation/o')] });
  const documents = [report, result, { resourceType: 'Patient', id: 'p' }];
  const { scope } = await taken(documents);
  const linked = await t.rows(
    `select e.observation_id = o.id as same, o.order_id = r.order_id as together
      from investigation_report_result e
      join investigation_report r on r.organisation_id = e.organisation_id and r.id = e.report_id
      join observation o on o.organisation_id = e.organisation_id
      where e.organisation_id = $1`,
    [scope.organisationId],
  );
  assert.deepEqual(linked, [{ same: true, together: true }]);
  await unchangedByAnother(scope, documents);
});

describe('a linked set, some of whose references lead nowhere', () => {
  let best: unknown;
  before(async () => {
    best = (await taken(LINKED)).rows;
  });

  const shuffled = fc.shuffledSubarray(LINKED, { minLength: LINKED.length });

  test('any order of files, by any number of workers [IN-16]', async () => {
    await fc.assert(
      fc.asyncProperty(shuffled, fc.constantFrom(1, 3), async (documents, workers) => {
        const { scope, rows } = await taken(documents, workers);
        assert.deepEqual(rows, best);
        await unchangedByAnother(scope, documents);
      }),
      { numRuns: sized(6, 25), examples: [[[...LINKED].reverse(), 1]] },
    );
  });

  test('in Bundles of any of them, which wait for each other whole', async () => {
    const places = fc.array(fc.nat(4), { minLength: LINKED.length, maxLength: LINKED.length });
    await fc.assert(
      fc.asyncProperty(shuffled, places, async (documents, bundleOf) => {
        const groups = Map.groupBy(documents.keys(), (index) => bundleOf[index] ?? 0);
        const files = Array.from(groups.values(), (indexes) => ({
          resourceType: 'Bundle',
          type: 'collection',
          entry: indexes.map((index) => ({ resource: documents[index] })),
        }));
        const { scope, rows } = await taken(files);
        assert.deepEqual(rows, best);
        await unchangedByAnother(scope, files);
      }),
      { numRuns: sized(4, 12) },
    );
  });

  test('any order of lines, in one file and in several', async () => {
    await fc.assert(
      fc.asyncProperty(shuffled, fc.nat(LINKED.length), async (documents, cut) => {
        const files = [lines(documents.slice(0, cut)), lines(documents.slice(cut))].filter(
          (text) => text !== '',
        );
        const { scope, rows } = await taken(files);
        assert.deepEqual(rows, best);
        await unchangedByAnother(scope, files);
      }),
      { numRuns: sized(4, 15), examples: [[[...LINKED].reverse(), LINKED.length]] },
    );
  });
});

describe('records that refer to each other', () => {
  const asked = of('ServiceRequest', 'q', {
    status: 'active',
    intent: 'order',
    reasonReference: [refer('Observation/a')],
  });
  const answer = observation('a', { basedOn: [refer('ServiceRequest/q')] });
  const left = observation('l', { derivedFrom: [refer('Observation/m')] });
  const right = observation('m', { derivedFrom: [refer('Observation/l')] });
  const ring = [PATIENT, asked, answer, left, right];

  test('in any order of files: both links are there after one import [IN-16]', async () => {
    const whole = {
      resourceType: 'Bundle',
      type: 'collection',
      entry: ring.map((resource) => ({ resource })),
    };
    const together = (await taken([whole])).rows;
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(ring, { minLength: ring.length }), async (documents) => {
        const { scope, rows } = await taken(documents);
        assert.deepEqual(rows, together);
        await unchangedByAnother(scope, documents);
      }),
      { numRuns: sized(4, 10) },
    );
  });

  test('what is counted is counted once', async () => {
    const scope = await t.createOrganisation();
    const document = await t.run([asked, answer, left, right, PATIENT], { scope });
    assert.deepEqual(document.resources, { Observation: 3, Patient: 1, ServiceRequest: 1 });
    assert.deepEqual(document.unchanged, {});
    assert.deepEqual(
      document.unresolved.map(({ element, count }) => [element, count]),
      [['Observation.performer', 6]],
    );
  });
});

test('a long chain of references in the worst order of files', async () => {
  const chain = Array.from({ length: 40 }, (_, index) =>
    observation(`c${index}`, index === 0 ? {} : { derivedFrom: [refer(`Observation/c${index - 1}`)] }),
  );
  const documents = [...chain.toReversed(), PATIENT];
  const { scope, rows } = await taken(documents);
  assert.deepEqual(rows, (await taken([PATIENT, ...chain])).rows);
  await unchangedByAnother(scope, documents);
});
