/** The commands of `interchange`, in the order of their help. Contract: CMD-5. */
import { Command, CommanderError } from 'commander';
import { exchangeSimulatorCommand } from '../../tools/exchange-simulator/exchange-simulator.command.ts';
import { fhirSimulatorCommand } from '../../tools/fhir-simulator/fhir-simulator.command.ts';
import { CONNECTION_COMMANDS } from '../exchange/connections/manage-connections.command.ts';
import { onPatientsChanged } from '../exchange/queue/enqueue-patient-changes.ts';
import { countDeliveriesCommand, listDeliveriesCommand } from '../exchange/review/list-deliveries.command.ts';
import {
  replayDeliveriesCommand,
  skipDeliveriesCommand,
} from '../exchange/review/review-deliveries.command.ts';
import { showDeliveryCommand } from '../exchange/review/show-delivery.command.ts';
import { setPrivacyCommand } from '../patients/set-privacy.command.ts';
import {
  type CommandCaller,
  type CommandEnvironment,
  commandErrorOf,
  UsageError,
} from '../platform/command/command.ts';
import { DomainError } from '../platform/domain-error.ts';
import { packageVersion } from '../platform/package-version.ts';
import { isUuid } from '../platform/uuid.ts';
import { archiveAccessLogCommand } from '../privacy/archive/archive-access-log.command.ts';
import { verifyAccessLogCommand } from '../privacy/verification/verify-access-log.command.ts';
import { TARGET_COMMANDS } from '../publish/servers/manage-targets.command.ts';
import { importCommand } from '../records/import/import.command.ts';
import { ACCOUNT_COMMANDS } from '../sign-in/accounts/account.command.ts';
import { KEY_COMMANDS } from '../sign-in/keys/signing-key.command.ts';
import { AUDIT_COMMANDS } from '../tenancy/audit/audit.command.ts';
import { FACILITY_COMMANDS } from '../tenancy/organisations/facility.command.ts';
import { ORGANISATION_COMMANDS } from '../tenancy/organisations/organisation.command.ts';
import { ROLE_COMMANDS } from '../tenancy/roles/role.command.ts';
import { translateCodeCommand } from '../terminology/lookup/translate-code.command.ts';
import { listMapsCommand } from '../terminology/maps/list-maps.command.ts';
import { exportMapsCommand } from '../terminology/transfer/export-maps.command.ts';
import { importMapsCommand } from '../terminology/transfer/import-maps.command.ts';
import { listUnmappedCommand } from '../terminology/unmapped/list-unmapped.command.ts';
import { backupCommand } from './backup/backup.command.ts';
import { restoreCommand } from './backup/restore.command.ts';
import { type CommandCall, createCommandEnvironment } from './commands/command-environment.ts';
import { demoCommand } from './commands/demo.command.ts';
import { failureText } from './commands/failure-text.ts';
import { configureHelp } from './commands/help.ts';
import { migrateCommand } from './commands/migrate.command.ts';
import { runRetentionCommand } from './commands/retention.command.ts';
import { serveCommand, startCommand } from './commands/serve.command.ts';
import { configureUsageErrors } from './commands/usage-errors.ts';
import { verifyRenderedCommand } from './commands/verify-rendered.command.ts';
import { loadConfig } from './config/config.ts';
import { doctorCommand } from './doctor/doctor.command.ts';
import { rotateMasterKeyCommand } from './master-key/rotate-master-key.command.ts';
import { scaleOutCommand } from './scale-out/scale-out.command.ts';

type CommandMaker = (environment: CommandEnvironment) => Command;

export function buildProgram(
  caller: CommandCaller = process,
  call: CommandCall = { json: false, exitCode: 0 },
): Command {
  const environment = createCommandEnvironment(caller, call);
  const program = new Command('interchange')
    .description(
      'Exchange of clinical records: sign-in for systems, FHIR R4 resources, and a log of every access.',
    )
    .version(packageVersion(), '--version', 'print the version')
    .addHelpText(
      'after',
      '\nSettings are environment variables: see docs/environment.md. Errors go to stderr.\nExit code: 0 the command succeeded, 1 it failed, 2 it was called with wrong options.',
    )
    .addHelpText('after', '\nExample:\n  npx interchange demo');
  const group = (name: string, description: string, makers: readonly CommandMaker[]) => {
    const parent = new Command(name).description(description);
    for (const make of makers) parent.addCommand(make(environment));
    program.addCommand(parent);
  };
  program.addCommand(serveCommand(environment));
  program.addCommand(migrateCommand(environment));
  program.addCommand(doctorCommand(environment));
  program.addCommand(backupCommand(environment));
  program.addCommand(restoreCommand(environment));
  program.addCommand(scaleOutCommand(environment));
  program.addCommand(demoCommand(environment));
  program.addCommand(startCommand(environment), { hidden: true });
  group('organisation', 'Organisations', ORGANISATION_COMMANDS);
  group('facility', 'Facilities of an organisation', FACILITY_COMMANDS);
  group('role', 'Roles: what accounts may do', ROLE_COMMANDS);
  group('account', 'Accounts that sign in', ACCOUNT_COMMANDS);
  group('audit', 'The record of who changed what in the administration', AUDIT_COMMANDS);
  group('key', 'The keys that sign access tokens', KEY_COMMANDS);
  group('master-key', 'The key that protects all secrets in the database', [rotateMasterKeyCommand]);
  group('patient', 'Patients', [setPrivacyCommand]);
  program.addCommand(
    importCommand(environment, {
      onPatientsChanged,
      understoodExtensions: () => loadConfig(environment.env).importUnderstoodExtensions,
    }),
  );
  group('connection', 'Connections to exchanges', CONNECTION_COMMANDS);
  group('delivery', 'Deliveries to exchanges, and what to do with held ones', [
    listDeliveriesCommand,
    showDeliveryCommand,
    countDeliveriesCommand,
    replayDeliveriesCommand,
    skipDeliveriesCommand,
  ]);
  group('retention', 'Removal of data that is kept for a limited time', [runRetentionCommand]);
  program.addCommand(exchangeSimulatorCommand(environment));
  program.addCommand(fhirSimulatorCommand(environment));
  group('access-log', 'The record of every access to patient data', [
    verifyAccessLogCommand,
    archiveAccessLogCommand,
  ]);
  group('target', 'FHIR servers to publish to', TARGET_COMMANDS);
  group('terminology', 'Maps from local to standard codes', [
    importMapsCommand,
    exportMapsCommand,
    listMapsCommand,
    translateCodeCommand,
    listUnmappedCommand,
  ]);
  group('rendered', 'Records that are kept as finished text, too', [verifyRenderedCommand]);
  everyCommand(program, (command) => {
    configureHelp(command);
    configureUsageErrors(command);
    command.configureOutput({
      writeOut: (text) => caller.stdout.write(text),
      writeErr: (text) => caller.stderr.write(text),
    });
    command.exitOverride().showHelpAfterError('(run the command with --help to see an example)');
    if (command.commands.length > 0) return;
    if (!command.options.some(({ long }) => long === '--json'))
      command.option('--json', 'print one JSON document on stdout');
    command.hook('preAction', (_program, action) => {
      lowerIds(action);
      call.json = action.opts().json === true;
    });
  });
  return program;
}

const ID_OPTIONS = ['id', 'organisation', 'facility', 'patient', 'connection'];

/** UUIDs are the same in either case; everything behind a command has them in lower case, as the database does. */
function lowerIds(command: Command): void {
  const lowered = (value: unknown) =>
    typeof value === 'string' && isUuid(value) ? value.toLowerCase() : value;
  for (const name of ID_OPTIONS) {
    const value: unknown = command.getOptionValue(name);
    if (value !== undefined)
      command.setOptionValueWithSource(
        name,
        Array.isArray(value) ? value.map(lowered) : lowered(value),
        command.getOptionValueSource(name),
      );
  }
}

function everyCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) everyCommand(child, visit);
}

/** Run the command line. Returns the exit code: 0 done, 1 failed, 2 called wrongly. */
export async function runProgram(argv: readonly string[], caller: CommandCaller = process): Promise<number> {
  const call: CommandCall = { json: false, exitCode: 0 };
  try {
    await buildProgram(caller, call).parseAsync([...argv], { from: 'user' });
    return call.exitCode;
  } catch (error) {
    return reportFailure(error instanceof DomainError ? commandErrorOf(error) : error, caller);
  }
}

function reportFailure(error: unknown, { stderr }: CommandCaller): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    stderr.write(`error: ${error.message}\n`);
    return 2;
  }
  stderr.write(`error: ${failureText(error)}\n`);
  return 1;
}
