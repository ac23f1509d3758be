/** `interchange target create`. Contract: PUB-8, PUB-52, CMD-15. */
import type { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { readSecret } from '../../platform/command/read-secret.ts';
import { createFhirServer } from './manage-fhir-servers.ts';
import {
  asUsage,
  type NameOptions,
  namedCommand,
  nameOf,
  type ServerSettingOptions,
  serverSettingsOf,
  targetDocument,
  targetText,
  withSettingOptions,
} from './target-options.ts';

export function createTargetCommand(environment: CommandEnvironment): Command {
  const command = namedCommand('create', 'add a FHIR server as a target that records can be published to')
    .requiredOption('--base <url>', 'base address of the server: https, or http to this machine')
    .requiredOption('--auth <method>', 'none, bearer, basic or api-key');
  return withSettingOptions(command, { creating: true })
    .addHelpText(
      'after',
      '\nThe first target is the default one.\n\nExample:\n  printf %s "$TOKEN" | npx interchange target create --name national \\\n    --base https://fhir.example.org/r4 --auth bearer --secret-stdin --id-policy server --references send',
    )
    .action(async (options: NameOptions & ServerSettingOptions) => {
      const { base, auth, ...settings } = serverSettingsOf(options);
      if (base === undefined || auth === undefined)
        throw new UsageError('--base and --auth are missing. Give both.');
      const { name, organisationId } = nameOf(options);
      const secret = options.secretStdin === true ? await readSecret(environment.stdin) : undefined;
      const server = await asUsage(() =>
        environment.withSession((session) =>
          createFhirServer(session, {
            organisationId,
            settings: { ...settings, name, base, auth },
            secret,
            makeDefault: options.default === true,
          }),
        ),
      );
      environment.print(targetDocument(server), `${targetText(server)}\n  id ${server.id}`);
    });
}
