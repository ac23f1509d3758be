/** Numbers whose meaning is not plain: a comparator in a string, and two units for one number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clinicalFaults } from '../../../../test-support/fhir/clinical-conformance.ts';
import { importJson } from '../../../../test-support/records/import-files.ts';
import { useTestApi } from '../../../../test-support/service/use-api.ts';
import { parseFhirJson } from '../../../fhir/json.ts';

const t = await useTestApi();

const PATIENT = '7e000000-0000-4000-8000-000000000001';
const RESULT = '7e000000-0000-4000-8000-000000000002';
const UCUM = 'http://unitsofmeasure.org';
const inCategory = (code: string, display: string) => ({
  coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code, display }],
});
const category = [inCategory('laboratory', 'Laboratory')];
const result = (value: object) => ({
  resourceType: 'Observation',
  id: RESULT,
  identifier: [{ system: 'https://lab.example/result', value: '1' }],
  status: 'final',
  category,
  code: {
    coding: [
      {
        system: 'http://loinc.org',
        code: '10839-9',
        display: 'Troponin I.cardiac [Mass/volume] in Serum or Plasma',
      },
    ],
  },
  subject: { reference: `Patient/${PATIENT}` },
  effectiveDateTime: '2024-03-05T07:50:00Z',
  ...value,
});
/** What comes back, digits as they are sent. `text` is the JSON of the value. */
async function fetched(text: string) {
  const json = JSON.stringify(result({ value: 0 })).replace('"value":0', text);
  const document = await importJson(
    t.api.database.pool,
    t.tenant,
    JSON.stringify({ resourceType: 'Patient', id: PATIENT }),
    json,
  );
  if (document.rejectedCount > 0) return document.rejected.map(({ reason }) => reason);
  const answer = await t.api.call(`/fhir/Observation/${RESULT}`, { token: t.account.token });
  assert.equal(answer.status, 200);
  assert.deepEqual(clinicalFaults(answer.text), []);
  const { basedOn: _order, ...resource } = parseFhirJson(answer.text) as Record<string, unknown>;
  return resource;
}
const expected = (text: string) =>
  parseFhirJson(JSON.stringify(result({ value: 0 })).replace('"value":0', text));

test('a string of a comparator and a decimal is a quantity with these digits, and no unit [IN-47]', async () => {
  for (const [given, sent] of [
    ['"valueString":"<0.01"', '"valueQuantity":{"value":0.01,"comparator":"<"}'],
    ['"valueString":">= 5.00"', '"valueQuantity":{"value":5.00,"comparator":">="}'],
    ['"valueString":" >100 "', '"valueQuantity":{"value":100,"comparator":">"}'],
    ['"valueString":"<=-1.50"', '"valueQuantity":{"value":-1.50,"comparator":"<="}'],
    ...['<0.01 mg/L', '< 1:80', '5', '<', '<.5', '<05', '=5', '<1e3', '<5-10', `<${'1'.repeat(400)}`].map(
      (text) => [`"valueString":"${text}"`, `"valueString":"${text}"`] as const,
    ),
  ] as const)
    assert.deepEqual(await fetched(given), expected(sent), given);
});

test('a number under two units is refused [IN-48]', async () => {
  const reason = (path: string) => [
    `Observation.${path}.unit names another unit than the code beside it. Send the unit that was meant`,
  ];
  const quantity = (unit: string, code: string, value = '37.0') =>
    `{"value":${value},"unit":"${unit}","system":"${UCUM}","code":"${code}"}`;
  for (const [unit, code] of [
    ['Cel', '[degF]'],
    ['°F', 'Cel'],
    ['degrees C', '[degF]'],
    ['kg', '[lb_av]'],
    ['cm', '[in_i]'],
    ['m', 'cm'],
    ['g/L', 'g/dL'],
    ['%', '1'],
  ] as const)
    assert.deepEqual(await fetched(`"valueQuantity":${quantity(unit, code)}`), reason('valueQuantity'), unit);
  const range = `"valueString":"low","referenceRange":[{"low":${quantity('g/L', 'g/dL')}}]`;
  assert.deepEqual(await fetched(range), reason('referenceRange.low'));
  const part = `"component":[{"code":{"text":"t"},"valueQuantity":${quantity('Cel', '[degF]')}}]`;
  assert.deepEqual(await fetched(part), reason('component.valueQuantity'));
});

test('another spelling of the unit, and what only a laboratory calls so, are taken as they are [IN-48]', async () => {
  for (const [unit, code] of [
    ['°C', 'Cel'],
    ['thousand', '10*3/uL'],
    ['K/uL', '10*3/uL'],
    ['10*9/L', '10*3/uL'],
    ['IU/L', '[IU]/L'],
    ['U/L', '[IU]/L'],
    ['mL/min', 'mL/min/{1.73_m2}'],
    ['mmHg', 'mm[Hg]'],
  ] as const) {
    const text = `"valueQuantity":{"value":7.0,"unit":"${unit}","system":"${UCUM}","code":"${code}"}`;
    assert.deepEqual(await fetched(text), expected(text), unit);
  }
});

test('a vital sign whose unit is missing or does not fit is taken and named [IN-58]', async () => {
  const sign = (id: number, code: string, value: object) => ({
    ...result(value),
    id: `7e000000-0000-4000-8000-00000000001${id}`,
    identifier: undefined,
    category: undefined,
    code: { coding: [{ system: 'http://loinc.org', code }] },
  });
  const inUnit = (unit?: string) => ({ valueQuantity: { value: 80, unit } });
  const pressure = (unit: string) => ({
    component: ['8480-6', '8462-4'].map((code) => ({
      code: { coding: [{ system: 'http://loinc.org', code }] },
      ...inUnit(unit),
    })),
  });
  const records = [
    { resourceType: 'Patient', id: PATIENT },
    sign(1, '29463-7', inUnit('kg')),
    sign(2, '29463-7', inUnit('foo')),
    sign(3, '3141-9', inUnit()),
    sign(4, '85354-9', pressure('mmHg')),
    sign(5, '85354-9', pressure('mmol/L')),
    sign(6, '29463-7', { valueString: 'heavy' }),
    sign(7, '10839-9', inUnit('foo')),
    // In no set, because its profile asks for the value.
    sign(8, '39156-5', inUnit('foo')),
    // By its category alone no profile is followed, and it is sent as it is.
    { ...sign(9, '10839-9', pressure('mmol/L')), category: [inCategory('vital-signs', 'Vital Signs')] },
  ];
  const ndjson = records.map((record) => JSON.stringify(record)).join('\n');
  const { notices, rejectedCount } = await importJson(t.api.database.pool, t.tenant, ndjson);
  assert.equal(rejectedCount, 0);
  assert.deepEqual(
    notices.map(({ entry }) => entry),
    [3, 4, 6, 9],
  );
  for (const { reason } of notices)
    assert.match(reason, /^is a vital sign with a value whose unit is missing or/);
});
