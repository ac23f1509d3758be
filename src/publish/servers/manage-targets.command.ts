/**
 * `interchange target create`, `list`, `show`, `update`, `enable`, `disable`, `remove` and `rotate-secret`.
 * Contract: PUB-8, PUB-52, CMD-15.
 */
import { Command, Option } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { readSecret } from '../../platform/command/read-secret.ts';
import { definedMembers } from '../../platform/defined-members.ts';
import { requireOrganisation } from '../../tenancy/organisations/facilities.ts';
import { listFhirServers } from './fhir-server.store.ts';
import type { FhirServer } from './fhir-server.ts';
import {
  changeFhirServer,
  createFhirServer,
  type NewFhirServer,
  removeFhirServer,
  requireFhirServer,
  rotateFhirServerSecret,
  switchFhirServer,
} from './manage-fhir-servers.ts';
import {
  type NameOptions,
  namedCommand,
  type ServerSettingOptions,
  serverNameOf,
  serverSettingsOf,
  targetDocument,
  targetText,
  withSettingOptions,
} from './target-options.ts';
import { testTargetCommand } from './test-target.command.ts';

/** The commands of `interchange target`, in the order of its help. */
export const TARGET_COMMANDS = [
  createTargetCommand,
  listTargetsCommand,
  showTargetCommand,
  updateTargetCommand,
  (environment: CommandEnvironment) => switchCommand(environment, 'enable'),
  (environment: CommandEnvironment) => switchCommand(environment, 'disable'),
  removeTargetCommand,
  rotateTargetSecretCommand,
  testTargetCommand,
];

function createTargetCommand(environment: CommandEnvironment): Command {
  const command = namedCommand('create', 'add a FHIR server as a target that records can be published to')
    .requiredOption('--base <url>', 'base address of the server: https, or http to this machine')
    .requiredOption('--auth <method>', 'none, bearer, basic or api-key');
  return withSettingOptions(command, { creating: true })
    .addHelpText(
      'after',
      '\nThe first target is the default one.\n\nExample:\n  printf %s "$TOKEN" | npx interchange target create --name national \\\n    --base https://fhir.example.org/r4 --auth bearer --secret-stdin --id-policy server --references send',
    )
    .action(async (options: NameOptions & ServerSettingOptions) => {
      const { name, organisationId } = serverNameOf(options);
      // --base and --auth are required.
      const settings = { ...serverSettingsOf(options), name } as NewFhirServer;
      const secret = options.secretStdin === true ? await readSecret(environment.stdin) : undefined;
      const server = await environment.withSession((session) =>
        createFhirServer(session, {
          organisationId,
          settings,
          secret,
          makeDefault: options.default === true,
        }),
      );
      environment.print(targetDocument(server), `${targetText(server)}\n  id ${server.id}`);
    });
}

function listTargetsCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('list all targets, or with --organisation those that the organisation can use')
    .option('--organisation <id>', 'organisation')
    .addHelpText('after', '\nExample:\n  npx interchange target list')
    .action(async ({ organisation }: { organisation?: string }) => {
      const servers = await environment.withSession(async ({ db }) => {
        if (organisation !== undefined) await requireOrganisation(db, organisation);
        return listFhirServers(db, organisation);
      });
      environment.print(
        { items: servers.map(targetDocument) },
        servers.map(targetText).join('\n') ||
          'There is no target yet. Create one with: npx interchange target create',
      );
    });
}

function showTargetCommand(environment: CommandEnvironment): Command {
  return namedCommand('show', 'show the settings of a target, without its secret')
    .addHelpText('after', '\nExample:\n  npx interchange target show --name national')
    .action(async (options: NameOptions) => {
      show(
        environment,
        await environment.withSession(({ db }) => requireFhirServer(db, serverNameOf(options))),
      );
    });
}

interface UpdateOptions extends NameOptions, ServerSettingOptions {
  rename?: string;
  keepIds?: true;
  forgetIds?: true;
  json?: true;
}

function updateTargetCommand(environment: CommandEnvironment): Command {
  const command = namedCommand('update', 'change a target, from the next publish on')
    .option('--rename <name>', 'new name')
    .option('--base <url>', 'new base address')
    .addOption(
      new Option(
        '--keep-ids',
        'the new address leads to the same server, so keep the recorded ids',
      ).conflicts('forgetIds'),
    )
    .option(
      '--forget-ids',
      'the new address leads to another server, or to a newly installed one, so forget the recorded ids',
    )
    .option('--auth <method>', 'none, bearer, basic or api-key');
  return withSettingOptions(command, { creating: false })
    .option('--no-allow-local-codes', 'do not publish codes that no terminology map covers')
    .addHelpText('after', '\nExample:\n  npx interchange target update --name national --references send')
    .action(async (options: UpdateOptions) => {
      const { name: _name, organisation: _organisation, json: _json, ...changes } = options;
      if (Object.keys(changes).length === 0) throw new UsageError('Give at least one setting to change.');
      const secret = options.secretStdin === true ? await readSecret(environment.stdin) : undefined;
      const server = await environment.withSession((session) =>
        changeFhirServer(session, serverNameOf(options), {
          settings: definedMembers({ ...serverSettingsOf(options), name: options.rename }),
          secret,
          makeDefault: options.default === true,
          ids: options.forgetIds === true ? 'forget' : options.keepIds === true ? 'keep' : undefined,
        }),
      );
      show(environment, server);
    });
}

function switchCommand(environment: CommandEnvironment, to: 'enable' | 'disable'): Command {
  const what =
    to === 'enable'
      ? 'allow publishes to a target again'
      : 'stop publishes to a target; such calls are then answered 503';
  return namedCommand(to, what)
    .addHelpText('after', `\nExample:\n  npx interchange target ${to} --name national`)
    .action(async (options: NameOptions) => {
      const now = environment.now();
      const server = await environment.withSession((session) =>
        switchFhirServer(session, serverNameOf(options), { enabled: to === 'enable', now }),
      );
      show(environment, server);
    });
}

function removeTargetCommand(environment: CommandEnvironment): Command {
  return namedCommand('remove', 'remove a target and erase its secret; the history of publishes stays')
    .addHelpText('after', '\nExample:\n  npx interchange target remove --name national')
    .action(async (options: NameOptions) => {
      const { id, name } = await environment.withSession((session) =>
        removeFhirServer(session, serverNameOf(options), environment.now()),
      );
      environment.print({ id, name, removed: true }, `Removed ${name}.`);
    });
}

function rotateTargetSecretCommand(environment: CommandEnvironment): Command {
  return namedCommand('rotate-secret', 'replace the secret of a target with the one on standard input')
    .addHelpText(
      'after',
      '\nExample:\n  printf %s "$TOKEN" | npx interchange target rotate-secret --name national',
    )
    .action(async (options: NameOptions) => {
      const secret = await readSecret(environment.stdin);
      const server = await environment.withSession((session) =>
        rotateFhirServerSecret(session, serverNameOf(options), secret),
      );
      show(environment, server);
    });
}

function show(environment: CommandEnvironment, server: FhirServer): void {
  environment.print(targetDocument(server), targetText(server));
}
