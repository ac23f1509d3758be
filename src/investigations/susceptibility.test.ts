/** A culture, its organism and its susceptibility tests: links and extensions survive (https://hl7.org/fhir/R4/observation.html). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clinicalFaults } from '../../test-support/fhir/clinical-conformance.ts';
import { importJson } from '../../test-support/records/import-files.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';
import { parseFhirJson } from '../fhir/json.ts';

const t = await useTestApi();

const id = (number: number) => `8b000000-0000-4000-8000-00000000000${number}`;
const [PATIENT, CULTURE, ORGANISM, TEST] = [id(1), id(2), id(3), id(4)] as const;
const DILUTION = 'http://mimic.mit.edu/fhir/mimic/StructureDefinition/dilution-details';
const observation = (own: string, extension: string, more: string) => `{
  "resourceType": "Observation",
  "id": "${own}",
  ${extension}
  "identifier": [{ "system": "https://lab.example/micro", "value": "${own}" }],
  "status": "final",
  "category": [{ "coding": [{ "system": "http://terminology.hl7.org/CodeSystem/observation-category", "code": "laboratory", "display": "Laboratory" }] }],
  "code": { "text": "${own}" },
  "subject": { "reference": "Patient/${PATIENT}" },
  "effectiveDateTime": "2024-03-05",
  ${more}
}`;
const culture = observation(
  CULTURE,
  '',
  `"valueString": "grown", "hasMember": [{ "reference": "Observation/${ORGANISM}" }]`,
);
const organism = observation(
  ORGANISM,
  '',
  `"valueString": "Escherichia coli", "hasMember": [{ "reference": "Observation/${TEST}" }],
   "derivedFrom": [{ "reference": "Observation/${CULTURE}" }]`,
);
const KEPT = `{ "url": "${DILUTION}", "valueQuantity": { "value": 4.0, "comparator": "<=" } },
  { "url": "http://hl7.org/fhir/StructureDefinition/observation-delta", "valueCodeableConcept": { "text": "new" } },
  { "url": "http://mimic.mit.edu/fhir/mimic/StructureDefinition/lab-priority", "valueString": "STAT" }`;
const OTHERS = `{ "url": "https://lab.example/own", "valueString": "x" },
  { "url": "${DILUTION}", "valueString": "<=4" },
  { "url": "https://lab.example/parts", "extension": [{ "url": "a", "valueBoolean": true }] }`;
const susceptibility = (extensions: string) =>
  observation(
    TEST,
    `"extension": [${extensions}],`,
    `"valueCodeableConcept": { "text": "susceptible" },
     "interpretation": [{ "coding": [{ "system": "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation", "code": "S", "display": "Susceptible" }] }],
     "derivedFrom": [{ "reference": "Observation/${ORGANISM}" }]`,
  );

test('the concentration, the interpretation and the links of a culture come back as they were [FETCH-36]', async () => {
  const patient = JSON.stringify({ resourceType: 'Patient', id: PATIENT });
  const sources = [patient, susceptibility(`${KEPT}, ${OTHERS}`), organism, culture];
  const document = await importJson(t.api.database.pool, t.tenant, ...sources);
  assert.deepEqual([document.rejected, document.unresolved], [[], []]);
  assert.deepEqual(document.notKept, [
    { element: 'Observation.extension', count: 3, file: 'source 2', entry: 1 },
  ]);
  for (const [own, source] of [
    [CULTURE, culture],
    [ORGANISM, organism],
    [TEST, susceptibility(KEPT)],
  ] as const) {
    const answer = await t.api.call(`/fhir/Observation/${own}`, { token: t.account.token });
    assert.equal(answer.status, 200);
    assert.deepEqual(clinicalFaults(answer.text), []);
    const { basedOn: _order, ...resource } = parseFhirJson(answer.text) as Record<string, unknown>;
    assert.deepEqual(resource, parseFhirJson(source));
  }
});
