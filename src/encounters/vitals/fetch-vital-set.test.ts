import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { importClinical, importJson } from '../../../test-support/records/import-files.ts';
import type { Json } from '../../../test-support/service/api.ts';
import { useTestApi } from '../../../test-support/service/use-api.ts';

const PATIENT = '7d000000-0000-4000-8000-000000000001';
const ENCOUNTER = '7d000000-0000-4000-8000-000000000003';

/** A JSON list as a list. */
const list = (json: Json | undefined): Json[] => json ?? [];

const { api, tenant, account } = await useTestApi({ permissions: ['encounters.vitals.read'] });
await importClinical(api.database.pool, tenant, 'vital-signs.json');
const { json } = await api.call(`/encounters/vitals?patient=${PATIENT}`, { token: account.token });
const vitalSetId = json.items[1]?.vitalSetId ?? '';

describe('GET /encounters/vitals/<id>/clinical/fhir', () => {
  const fetchSet = async (): Promise<Json> =>
    (await api.call(`/encounters/vitals/${vitalSetId}/clinical/fhir`, { token: account.token })).json;
  const sign = async (end: string): Promise<Json> =>
    list((await fetchSet()).observations).find(({ localId }) => localId.endsWith(end))?.resource as Json;

  test('the signs of one encounter and instant are one set, whatever zone they were written in [FETCH-20, IN-19]', async () => {
    const { json } = await api.call(`/encounters/vitals?patient=${PATIENT}`, { token: account.token });
    assert.deepEqual(
      list(json.items).map(({ vitalSetId: _, ...item }) => item),
      [
        { patientId: PATIENT, encounterId: ENCOUNTER, takenAt: '2024-05-02T00:00:00Z', vitalSigns: 1 },
        { patientId: PATIENT, encounterId: ENCOUNTER, takenAt: '2024-05-01T21:05:00Z', vitalSigns: 6 },
      ],
    );
    assert.equal(json.nextCursor, null);
  });

  test('answers one Observation per vital sign in a collection [FETCH-3, FETCH-8]', async () => {
    const json = await fetchSet();
    assert.deepEqual(Object.keys(json), ['vitalSetId', 'bundle', 'observations']);
    assert.equal(json.vitalSetId, vitalSetId);
    assert.equal(json.bundle.type, 'collection');
    assert.deepEqual(
      list(json.bundle.entry).map(({ resource }) => resource),
      list(json.observations).map(({ resource }) => resource),
    );
    assert.deepEqual(
      list(json.observations).map(({ code, occurredAt }) => [code, occurredAt]),
      ['85354-9', '8867-4', '8310-5', '8302-2', '2708-6', 'RR'].map((code) => [
        code,
        '2024-05-01T21:05:00.000Z',
      ]),
    );
  });

  test('blood pressure is one Observation with both components, the missing one with a reason [FETCH-9]', async () => {
    const { component, valueQuantity } = await sign('11');
    assert.equal(valueQuantity, undefined);
    assert.deepEqual(component, [
      {
        code: {
          coding: [{ system: 'http://loinc.org', code: '8480-6', display: 'Systolic blood pressure' }],
        },
        valueQuantity: { value: 118, unit: 'mmHg', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
      },
      {
        code: {
          coding: [{ system: 'http://loinc.org', code: '8462-4', display: 'Diastolic blood pressure' }],
        },
        dataAbsentReason: {
          coding: [
            {
              system: 'http://terminology.hl7.org/CodeSystem/data-absent-reason',
              code: 'unknown',
              display: 'Unknown',
            },
          ],
        },
      },
    ]);
  });

  test('spelled units become UCUM with their text kept; allowed ones stay; others are converted [TERM-19]', async () => {
    const ucum = { system: 'http://unitsofmeasure.org' };
    assert.deepEqual((await sign('12')).valueQuantity, { value: 72, unit: 'bpm', ...ucum, code: '/min' });
    assert.deepEqual((await sign('13')).valueQuantity, { value: 101.3, unit: '°F', ...ucum, code: '[degF]' });
    assert.deepEqual((await sign('14')).valueQuantity, {
      extension: [
        {
          url: 'http://hl7.org/fhir/StructureDefinition/iso21090-PQ-translation',
          valueQuantity: { value: 1.72, unit: 'm', ...ucum, code: 'm' },
        },
      ],
      value: 172,
      unit: 'cm',
      ...ucum,
      code: 'cm',
    });
  });

  test('a unit that fits no such sign gives a reason and a note, never a wrong value [TERM-20]', async () => {
    const { json } = await api.call(`/encounters/vitals?patient=${PATIENT}`, { token: account.token });
    const other = await api.call(`/encounters/vitals/${json.items[0]?.vitalSetId}/clinical/fhir`, {
      token: account.token,
    });
    const { valueQuantity, dataAbsentReason, note } = list(other.json.observations)[0]?.resource ?? {};
    assert.equal(valueQuantity, undefined);
    assert.equal(dataAbsentReason?.coding?.[0]?.code, 'unsupported');
    assert.deepEqual(note, [{ text: 'Reported as 64 furlong' }]);
  });

  test('pulse oximetry carries the code that its profile fixes', async () => {
    const { code } = await sign('15');
    assert.deepEqual(
      list(code?.coding).map((coding) => coding.code),
      ['2708-6', '59408-5'],
    );
  });

  test('a reason without a value is given back, of the sign and of each pressure [IN-33]', async () => {
    const [rate, pressure] = ['7d000000-0000-4000-8000-0000000000a1', '7d000000-0000-4000-8000-0000000000a2'];
    const coding = (system: string, code: string, display: string) => ({
      coding: [{ system, code, display }],
    });
    const loinc = (code: string, display: string) => coding('http://loinc.org', code, display);
    const reason = (code: string, display: string) =>
      coding('http://terminology.hl7.org/CodeSystem/data-absent-reason', code, display);
    const sign = (id: string, elements: object) => ({
      resourceType: 'Observation',
      id,
      identifier: [{ system: 'https://clinic.example/signs', value: id }],
      status: 'final',
      category: [
        coding('http://terminology.hl7.org/CodeSystem/observation-category', 'vital-signs', 'Vital Signs'),
      ],
      subject: { reference: `Patient/${PATIENT}` },
      effectiveDateTime: '2024-07-01T10:00:00Z',
      ...elements,
    });
    const signs = [
      sign(rate, { code: loinc('8867-4', 'Heart rate'), dataAbsentReason: reason('masked', 'Masked') }),
      sign(pressure, {
        code: loinc('85354-9', 'Blood pressure panel with all children optional'),
        component: [
          { code: loinc('8480-6', 'Systolic blood pressure'), dataAbsentReason: reason('error', 'Error') },
          {
            code: loinc('8462-4', 'Diastolic blood pressure'),
            dataAbsentReason: reason('not-performed', 'Not Performed'),
          },
        ],
      }),
    ];
    for (const resource of signs) {
      const { rejected } = await importJson(api.database.pool, tenant, JSON.stringify(resource));
      assert.deepEqual(rejected, []);
      const path = `/fhir/Observation/${resource.id}?purposeOfUse=TREATMENT`;
      assert.deepEqual((await api.call(path, { token: account.token })).json, resource);
    }
  });

  test('a set that was emptied and came back is answered as it is now, not as it was [FETCH-22]', async () => {
    const sign = (time: string, status: string, value: number) =>
      importJson(
        api.database.pool,
        tenant,
        JSON.stringify({
          resourceType: 'Observation',
          id: 'back-and-forth',
          status,
          subject: { reference: `Patient/${PATIENT}` },
          code: { coding: [{ system: 'http://loinc.org', code: '8310-5' }] },
          effectiveDateTime: `2024-06-01T${time}Z`,
          valueQuantity: { value, unit: 'Cel', system: 'http://unitsofmeasure.org', code: 'Cel' },
        }),
      );
    const answer = async (): Promise<Json> => {
      const { json } = await api.call(`/encounters/vitals?patient=${PATIENT}`, { token: account.token });
      const set = list(json.items).find(({ takenAt }) => takenAt === '2024-06-01T10:00:00Z');
      const path = `/encounters/vitals/${set?.vitalSetId}/clinical/fhir`;
      const { resource } = list((await api.call(path, { token: account.token })).json.observations)[0] ?? {};
      return [resource?.status, resource?.valueQuantity?.value] as unknown as Json;
    };
    await sign('10:00:00', 'final', 37.1);
    assert.deepEqual(await answer(), ['final', 37.1]);
    await sign('11:00:00', 'final', 37.1);
    await sign('10:00:00', 'entered-in-error', 41.9);
    assert.deepEqual(await answer(), ['entered-in-error', 41.9]);
    await sign('11:00:00', 'final', 37.1);
  });

  test('401, 403, 400 and 404 [ACC-3, FETCH-3]', async () => {
    const path = `/encounters/vitals/${vitalSetId}/clinical/fhir`;
    assert.equal((await api.call(path)).status, 401);
    const lab = await api.createAccount(tenant, { permissions: ['investigations.lab.list'] });
    assert.equal((await api.call(path, { token: lab.token })).status, 403);
    assert.equal((await api.call(`${path}?purposeOfUse=none`, { token: account.token })).status, 400);
    const other = await api.createAccount(await api.createTenant());
    assert.equal((await api.call(path, { token: other.token })).status, 404);
    assert.equal(
      (await api.call(`/encounters/vitals?patient=${PATIENT}`, { token: other.token })).status,
      404,
    );
    assert.equal(
      (await api.call('/encounters/vitals/x/clinical/fhir', { token: account.token })).status,
      404,
    );
    // The id is what is wrong most often.
    const unknown = await api.call(`/encounters/vitals/${PATIENT}/clinical/fhir`, { token: account.token });
    assert.equal(
      unknown.json.message,
      'The vital set was not found. Check the id. If the id is right, it may belong to another facility: check x-org-id and x-facility-id.',
    );
  });
});
