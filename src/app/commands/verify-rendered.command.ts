/** `interchange rendered verify`. Contract: CMD-22. */
import { Command } from 'commander';
import { type CheckedTexts, checkTexts, type TextCheck } from '../../clinical/kept/check-texts.ts';
import type { KeptTable } from '../../clinical/kept/kept-texts.store.ts';
import { OBSERVATION_TEXTS } from '../../clinical/kept/observation-texts.store.ts';
import { ENCOUNTER_TEXTS } from '../../encounters/encounter.store.ts';
import { ORDER_TEXTS } from '../../investigations/kept/order-rendering.store.ts';
import { PATIENT_TEXTS } from '../../patients/kept/patient-texts.store.ts';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { listOrganisations } from '../../tenancy/organisations/organisation.store.ts';

/** What is kept as text, by type. */
const KEPT: Readonly<Record<string, KeptTable | CheckedTexts>> = {
  Encounter: ENCOUNTER_TEXTS,
  Observation: OBSERVATION_TEXTS,
  Patient: PATIENT_TEXTS,
  ServiceRequest: ORDER_TEXTS,
};

/** Records that are named in words. */
const LISTED = 100;

export function verifyRenderedCommand(environment: CommandEnvironment): Command {
  return new Command('verify')
    .description(
      'compare the text that each record is kept as with the columns that it is made of; exit code 1 if one differs',
    )
    .option('--renew', 'write each text that is missing, of an older version, or wrong')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange rendered verify\n  npx interchange rendered verify --renew',
    )
    .action(async ({ renew = false }: { renew?: boolean }) => {
      const types = await environment.withSession(({ db }) => checkAll(db, renew));
      const ok = renew || types.every(({ different }) => different.length === 0);
      environment.print({ ok, renewed: renew, types }, types.map((type) => summary(type, renew)).join('\n'));
      if (!ok)
        environment.fail('Some texts are not what the columns say. To write them anew, run it with --renew.');
    });
}

type TypeCheck = TextCheck & { type: string };

async function checkAll(db: Queryable, renew: boolean): Promise<TypeCheck[]> {
  const types: TypeCheck[] = [];
  const organisations = await listOrganisations(db);
  for (const [type, table] of Object.entries(KEPT)) {
    const total: TypeCheck = { type, records: 0, missing: 0, different: [] };
    for (const { id } of organisations) {
      const { records, missing, different } = await checkTexts(db, table, id, { renew });
      total.records += records;
      total.missing += missing;
      total.different.push(...different);
    }
    types.push(total);
  }
  return types;
}

function summary({ type, records, missing, different }: TypeCheck, renewed: boolean): string {
  const then = renewed ? ' (written now)' : ' (the next read writes it)';
  const counts = `${type}: ${records} ${records === 1 ? 'record' : 'records'}, ${missing} without a current text${missing === 0 ? '' : then}.`;
  const wrong = different.length;
  if (wrong === 0) return `${counts} Every other text is right.`;
  const next = renewed ? ', written anew' : `. Write ${wrong === 1 ? 'it' : 'them'} anew with --renew`;
  const lines = different.slice(0, LISTED).map((id) => `  ${type}/${id}`);
  if (wrong > LISTED) lines.push(`  and ${wrong - LISTED} more (--json names all of them)`);
  return [`${counts} ${wrong} wrong ${wrong === 1 ? 'text' : 'texts'}${next}:`, ...lines].join('\n');
}
