/** `interchange patient privacy` */
import { Command } from 'commander';
import { PURPOSES_OF_USE, type PurposeOfUse } from '../fhir/purpose-of-use.ts';
import { type CommandEnvironment, CommandError, UsageError } from '../platform/command/command.ts';
import { splitList } from '../platform/command/split-list.ts';
import { DomainError } from '../platform/domain-error.ts';
import { isUuid } from '../platform/uuid.ts';
import { withOperatorLog } from '../privacy/access-log/operator-log.ts';
import { requireFacility } from '../tenancy/organisations/facilities.ts';
import { setPrivacy } from './set-privacy.ts';

interface Options {
  organisation: string;
  facility: string;
  patient: string;
  refuse: string[];
}

export function setPrivacyCommand(environment: CommandEnvironment): Command {
  return new Command('privacy')
    .description('set the purposes of use that a patient refuses, from the next call on')
    .requiredOption('--organisation <id>', 'organisation')
    .requiredOption('--facility <id>', 'facility that the patient is registered at')
    .requiredOption('--patient <id>', 'patient')
    .requiredOption(
      '--refuse <list>',
      `refused purposes, separated by commas: ${PURPOSES_OF_USE.join(',')}; "none" to refuse none`,
      splitList,
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange patient privacy --organisation 7f0c… --facility 91aa… --patient 32b1… --refuse RESEARCH,PAYMENT',
    )
    .action(async ({ organisation, facility, patient, refuse }: Options) => {
      const refusedPurposes = checkedPurposes(refuse);
      if (!isUuid(patient)) throw new UsageError('--patient must be a UUID.');
      await environment.withSession(async (session) => {
        const { db } = session;
        await requireFacility(db, organisation, facility);
        const scope = { organisationId: organisation, facilityId: facility };
        await withOperatorLog(environment, session, (accessLog, operator) =>
          setPrivacy(
            { db, accessLog },
            { patientId: patient, refusedPurposes },
            { ...operator, scope },
          ).catch(unknownPatient),
        );
      });
      environment.print({ id: patient, refusedPurposes }, `Refused: ${refusedPurposes.join(', ') || 'none'}`);
    });
}

/** What a caller over HTTP is told of ids and headers is of no use here. */
function unknownPatient(error: unknown): never {
  if (error instanceof DomainError && error.code === 'not_found')
    throw new CommandError('There is no such patient at this facility. Check --patient and --facility.');
  throw error;
}

function checkedPurposes(given: readonly string[]): PurposeOfUse[] {
  // Such as a variable of the shell that was not set: it must not allow what the patient refuses.
  if (given.length === 0)
    throw new UsageError('--refuse is empty. Name the refused purposes, or give --refuse none.');
  const names = given.filter((name) => name !== 'none');
  const unknown = names.find((name) => !(PURPOSES_OF_USE as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new UsageError(`The purpose of use ${unknown} is unknown. Use ${PURPOSES_OF_USE.join(', ')}.`);
  return PURPOSES_OF_USE.filter((purpose) => names.includes(purpose));
}
