/** The source of the records: changes patients by imports, a few at a time, each until the import is answered. */
import { bundleAt, patientAt } from '../records.ts';
import { pause, type World } from '../world.ts';

/** Patients in one import. */
const MOST_AT_ONCE = 6;
/** One in so many imports brings everything of a patient along, of which only the patient changed. */
const WHOLE_EVERY = 10;

export async function changePatients(world: World): Promise<void> {
  const { ledger, patients } = world;
  const random = world.random('change-patients');
  while (!world.stopping) {
    const count = random.between(1, Math.min(MOST_AT_ONCE, patients.length));
    const chosen = new Set(Array.from({ length: count }, () => random.pick(patients)));
    const next = [...chosen].map((patient) => ({
      patient,
      round: (ledger.rounds.get(patient.number) ?? 1) + 1,
    }));
    const isWhole = random.between(1, WHOLE_EVERY) === 1;
    const lines = next.map(({ patient, round }) =>
      JSON.stringify(isWhole ? bundleAt(patient, round) : patientAt(patient, round)),
    );
    await importLines(world, lines);
    for (const { patient, round } of next) ledger.rounds.set(patient.number, round);
    await pause(random, 150);
  }
}

/** Returns when the import was answered and took everything. A repeated one changes nothing. */
export async function importLines(
  { client }: Pick<World, 'client'>,
  lines: readonly string[],
): Promise<void> {
  for (;;) {
    const { json } = await client.insist('imports', '/imports/fhir', {
      token: await client.token(),
      headers: { 'content-type': 'application/fhir+ndjson' },
      body: lines.join('\n'),
    });
    if (json.rejectedCount === 0) return;
  }
}
