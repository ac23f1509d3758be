/** `interchange connection create`. Contract: CMD-12. */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { requireFacility, requireOrganisation } from '../../tenancy/organisations/facilities.ts';
import { BY_OPERATOR } from './connection.ts';
import { type SettingOptions, settingsOf, withSettings } from './connection-options.ts';
import { createConnection } from './create-connection.ts';

type Needed = Record<'organisation' | 'name' | 'address' | 'clientId', string>;

export function createConnectionCommand(environment: CommandEnvironment): Command {
  return withSettings(new Command('create'), { creating: true })
    .description('connect an organisation to an exchange; prints its secrets, which are never shown again')
    .requiredOption('--organisation <id>', 'organisation whose patients are delivered')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange connection create --organisation 7f0c… --name "Lagos HIE" \\\n    --address https://hie.example.org/patients --client-id clinic-1',
    )
    .action(async ({ organisation, ...options }: SettingOptions & Needed) => {
      const { name, address, clientId } = options;
      const settings = settingsOf(options);
      const created = await environment.withSession(async ({ db, keys, publicBaseUrl }) => {
        await requireOrganisation(db, organisation);
        for (const facility of options.facility ?? []) await requireFacility(db, organisation, facility);
        const input = { facilityIds: null, ...settings, name, address, clientId };
        const scope = { organisationId: organisation.toLowerCase() };
        const now = environment.now();
        return createConnection({ db, keys, publicBaseUrl, now, author: BY_OPERATOR }, scope, input);
      });
      environment.print(
        created,
        `connection       ${created.id}\noutbound secret  ${created.outboundSecret}\ncallback secret  ${created.callbackSecret}\ncallback address ${created.callbackUrl}\nGive both secrets to the exchange now. They are not shown again.`,
      );
    });
}
