/** The text that an order is kept as: which version of the mapping wrote it, and that it fills to the right resources. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceIn } from '../../clinical/kept/fill-observation.fhir.ts';
import { OBSERVATION_MAPPING } from '../../clinical/kept/observation-text.fhir.ts';
import type { InvestigationRecord } from '../investigation.ts';
import { fillOrder, ORDER_MAPPING, orderText } from './order-text.fhir.ts';

const ORGANISATION = '11111111-1111-4111-8111-111111111111';
const id = (last: number) => `22222222-2222-4222-8222-22222222222${last}`;
const patientId = '33333333-3333-4333-8333-333333333333';
const local = (code: string) => ({ coding: [{ code, system: 'urn:lab' }] });
const LABORATORY =
  '{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v2-0074","code":"LAB","display":"Laboratory"}]}';
const RESULT = `"code":"2951-2","codeSystem":"http://loinc.org"\x1c"2024-03-05"\x1c{"resourceType":"Observation","id":"${id(3)}"\x1dO\x1d\x1dL,"category":[]\x1d}`;

const record: InvestigationRecord = {
  order: {
    id: id(1),
    patientId,
    discipline: 'laboratory',
    status: 'completed',
    intent: 'order',
    category: [local('chemistry')],
    code: local('NA'),
  },
  specimens: [{ id: id(2), patientId, type: local('blood') }],
  observations: [{ id: id(3), orderId: id(1), text: RESULT }],
  studies: [{ id: id(4), patientId, status: 'available' }],
  reports: [
    {
      id: id(5),
      patientId,
      discipline: 'laboratory',
      status: 'final',
      category: [local('chemistry')],
      code: local('NA'),
      conclusion: 'a "quoted" word',
    },
  ],
};

/** With words in place of the characters between its parts and around its slots. */
const readable = (text: string) =>
  text.replaceAll('\x1e', '\n').replaceAll('\x1f', ' / ').replaceAll('\x1c', ' | ').replaceAll('\x1d', '~');

/**
 * Texts that are kept in databases were written by this version of the mapping. If another text is right now, raise
 * `OWN_MAPPING` and write the new text and version here.
 */
test('the text of an order changes with the version of the mapping only', () => {
  assert.equal(ORDER_MAPPING, 3_000 + OBSERVATION_MAPPING);
  const subject = `"subject":{"reference":"Patient/${patientId}"}`;
  const begin = (type: string, last: number) =>
    `{"resourceType":"${type}","id":"${id(last)}","identifier":[{"system":"urn:uuid:${ORGANISATION}","value":"${id(last)}"}]`;
  const code = '"code":~C{"coding":[{"code":"NA","system":"urn:lab"}]}~';
  const chemistry = '{"coding":[{"code":"chemistry","system":"urn:lab"}]}';
  assert.deepEqual(readable(orderText(record, ORGANISATION)).split('\n'), [
    `ServiceRequest / ${id(1)} /  | "\\"status\\":\\"completed\\"" | ${begin('ServiceRequest', 1)},"status":"completed","intent":"order","category":[${chemistry}],${code},${subject}}`,
    `Specimen / ${id(2)} / "code":"" | "" | ${begin('Specimen', 2)},"type":{"coding":[{"code":"blood","system":"urn:lab"}]},${subject}}`,
    `Observation / ${id(3)} / "code":"2951-2","codeSystem":"http://loinc.org" | "2024-03-05" | {"resourceType":"Observation","id":"${id(3)}","basedOn":[{"reference":"ServiceRequest/${id(1)}"}],"category":[]}`,
    `ImagingStudy / ${id(4)} / "code":"" | "" | ${begin('ImagingStudy', 4)},"status":"available",${subject}}`,
    `DiagnosticReport / ${id(5)} /  | ${JSON.stringify('"conclusion":"a \\"quoted\\" word"')} | ${begin('DiagnosticReport', 5)},"status":"final","category":[~N${chemistry}~,${LABORATORY}],${code},${subject},"conclusion":"a \\"quoted\\" word"}`,
  ]);
});

test('a local code is filled with what the maps say, in the resource and in its summary; other concepts are not looked up', () => {
  const translations = new Map([['urn:lab\nNA', [{ system: 'http://loinc.org', code: '2951-2' }]]]);
  const [order, specimen, result, study, report, ...more] = fillOrder(
    orderText(record, ORGANISATION),
    translations,
  );
  assert.deepEqual(more, []);
  assert.equal(order?.code, '"code":"2951-2","codeSystem":"http://loinc.org"');
  assert.equal(order?.summary, '"status":"completed"');
  assert.equal(report?.summary, '"conclusion":"a \\"quoted\\" word"');
  assert.deepEqual(
    [order, specimen, result, study, report].map((one) => one?.unmapped),
    [[], [], [], [], []],
  );
  const coding = [
    { system: 'http://loinc.org', code: '2951-2' },
    { code: 'NA', system: 'urn:lab' },
  ];
  assert.deepEqual(
    [order, report].map((one) => one && resourceIn(one).code),
    [{ coding }, { coding }],
  );
  assert.deepEqual(result && resourceIn(result), {
    resourceType: 'Observation',
    id: id(3),
    basedOn: [{ reference: `ServiceRequest/${id(1)}` }],
    category: [],
  });
});

test('a local code that no map leads from is named with its resource', () => {
  const [order, , , , report] = fillOrder(orderText(record, ORGANISATION), new Map());
  const unmapped = { system: 'urn:lab', code: 'NA', display: undefined };
  assert.deepEqual(order?.unmapped, [{ resourceType: 'ServiceRequest', localId: id(1), ...unmapped }]);
  assert.deepEqual(report?.unmapped, [{ resourceType: 'DiagnosticReport', localId: id(5), ...unmapped }]);
  assert.equal(order?.code, '"code":"NA","codeSystem":"urn:lab"');
});
