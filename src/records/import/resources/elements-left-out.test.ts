/** docs/fhir-mapping.md lists every R4 element that an import leaves out, and no other. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bundle, type Resource } from '../../../../test-support/records/clinic.ts';
import { withEveryElement } from '../../../../test-support/records/every-element.ts';
import { useImportTest } from '../../../../test-support/records/import.ts';
import { IMPORTERS } from '../map/importers.ts';

const MAPPING = new URL('../../../../docs/fhir-mapping.md', import.meta.url);

const t = await useImportTest();

/** Names of the section; one that begins with a star stands for any path before it. */
function listed(): string[] {
  const [, section = ''] = readFileSync(MAPPING, 'utf8').split('## Elements that stay out\n');
  const [table = ''] = section.split('\n## ');
  const first = table
    .split('\n')
    .flatMap((line) => (line.startsWith('| `') ? (line.split('|')[1] ?? '') : []));
  return first.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

const PATIENT = randomUUID();

interface Members {
  class?: object;
  component?: object[];
  presentedForm?: object[];
}

/** Where R4 or a required code leaves no choice. */
const CHANGES: Readonly<Record<string, (members: Members) => object>> = {
  Encounter: ({ class: coding }) => ({
    class: { ...coding, system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
  }),
  // Invariants obs-6, a value or the reason why there is none, and obs-7, no value beside a component with its code.
  Observation: ({ component }) => ({
    dataAbsentReason: undefined,
    component: component?.map((one) => ({ ...one, code: { text: 'part' }, dataAbsentReason: undefined })),
  }),
  DiagnosticReport: ({ presentedForm }) => ({
    presentedForm: presentedForm?.map((one) => ({ ...one, contentType: 'text/plain' })),
  }),
};

test('every element of R4 is taken, or is listed with the reason', async () => {
  const counted = new Set<string>();
  for (const type of IMPORTERS.keys()) {
    const every = withEveryElement(type);
    const resource: Resource = {
      ...every,
      ...CHANGES[type]?.(every),
      ...('subject' in every ? { subject: { reference: `Patient/${PATIENT}` } } : {}),
      resourceType: type,
      id: randomUUID(),
    };
    const { rejected, notKept } = await t.run([bundle([{ resourceType: 'Patient', id: PATIENT }, resource])]);
    assert.deepEqual(rejected, [], type);
    for (const { element } of notKept) counted.add(element);
  }
  const names = listed();
  const isListed = (path: string) =>
    names.some((name) => (name.startsWith('*') ? path.endsWith(name.slice(1)) : path === name));
  assert.deepEqual(
    [...counted].filter((path) => !isListed(path)),
    [],
    'These are left out, and docs/fhir-mapping.md does not say why.',
  );
  const isCounted = (name: string) =>
    [...counted].some((path) => (name.startsWith('*') ? path.endsWith(name.slice(1)) : path === name));
  assert.deepEqual(
    names.filter((name) => !isCounted(name)),
    [],
    'docs/fhir-mapping.md lists these, but they are taken.',
  );
});
