/** Categories of results and reports (https://hl7.org/fhir/R4/observation.html, https://hl7.org/fhir/R4/diagnosticreport.html). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importJson } from '../../test-support/records/import-files.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';

const HL7 = 'http://terminology.hl7.org/CodeSystem';
const LOCAL = { code: 'HAEM', system: 'urn:example:sections', display: 'Haematology' };
const IMAGING = { code: 'LP29684-5', system: 'http://loinc.org', display: 'Radiology' };
const EXAM = { code: 'exam', system: `${HL7}/observation-category` };
/** The system had this address before R4. */
const SOCIAL = { code: 'social-history', system: 'http://hl7.org/fhir/observation-category' };
/** As US Core categorises reports. */
const CARDIOLOGY = { code: 'LP29708-2', system: 'http://loinc.org', display: 'Cardiology' };
const MICROBIOLOGY = { code: 'MB', system: `${HL7}/v2-0074` };
const LABORATORY = { system: `${HL7}/observation-category`, code: 'laboratory', display: 'Laboratory' };
const LAB = { system: `${HL7}/v2-0074`, code: 'LAB', display: 'Laboratory' };
const RAD = { system: `${HL7}/v2-0074`, code: 'RAD', display: 'Radiology' };
const id = (number: number) => `8b000000-0000-4000-8000-00000000000${number}`;
const PATIENT = id(0);

const t = await useTestApi();

/** Those of the resources of this type in the Bundles of all orders, by id. */
async function categoriesOf(discipline: 'lab' | 'imaging', type: string): Promise<Record<string, object[]>> {
  const get = async (path: string) =>
    (await t.api.call(`/investigations/${discipline}/orders${path}`, { token: t.account.token })).json;
  const found: Record<string, object[]> = {};
  for (const { orderId } of (await get(`?patient=${PATIENT}`)).items)
    for (const { resource } of (await get(`/${orderId}/clinical/fhir`)).bundle.entry)
      if (resource.resourceType === type)
        found[resource.id] = resource.category.flatMap(({ coding }: { coding: object[] }) => coding);
  return found;
}

test("a result and a report with a category of the source's own also have HL7's, and a standard one stays alone [FETCH-37]", async () => {
  const record = (resourceType: string, number: number, category: object, more: object = {}) => ({
    resourceType,
    id: id(number),
    status: 'final',
    code: { text: `test ${number}` },
    category: [{ coding: [category] }],
    subject: { reference: `Patient/${PATIENT}` },
    ...more,
  });
  const result = [1, 2, 6].map((number) => ({ reference: `Observation/${id(number)}` }));
  const records = [
    { resourceType: 'Patient', id: PATIENT },
    record('Observation', 1, LOCAL, { valueString: 'A' }),
    record('Observation', 2, EXAM, { valueString: 'B' }),
    record('DiagnosticReport', 3, LOCAL, { result }),
    record('DiagnosticReport', 4, MICROBIOLOGY),
    record('DiagnosticReport', 5, IMAGING),
    record('Observation', 6, SOCIAL, { valueString: 'C' }),
    record('DiagnosticReport', 7, CARDIOLOGY, { result: result.slice(0, 1) }),
  ];
  const { rejected } = await importJson(
    t.api.database.pool,
    t.tenant,
    JSON.stringify({
      resourceType: 'Bundle',
      type: 'collection',
      entry: records.map((resource) => ({ resource })),
    }),
  );
  assert.deepEqual(rejected, []);
  assert.deepEqual(await categoriesOf('lab', 'Observation'), {
    [id(1)]: [LOCAL, LABORATORY],
    [id(2)]: [{ ...EXAM }],
    [id(6)]: [{ ...SOCIAL }],
  });
  assert.deepEqual(await categoriesOf('lab', 'DiagnosticReport'), {
    [id(3)]: [LOCAL, LAB],
    [id(4)]: [{ ...MICROBIOLOGY }],
    [id(7)]: [CARDIOLOGY],
  });
  assert.deepEqual(await categoriesOf('imaging', 'DiagnosticReport'), { [id(5)]: [IMAGING, RAD] });
  const single = await t.api.call(`/fhir/Observation/${id(1)}`, { token: t.account.token });
  assert.deepEqual(single.json.category, [{ coding: [LOCAL] }, { coding: [LABORATORY] }]);
});
