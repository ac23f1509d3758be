/** `interchange connection list` and `show` */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { requireOrganisation } from '../../tenancy/organisations/facilities.ts';
import { connectionView } from './connection.schema.ts';
import { listConnections, organisationsWithConnections } from './connection.store.ts';
import type { Connection } from './connection.ts';
import { connectionLine, printConnection, requireConnection } from './named-connection.ts';

export function listConnectionsCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('list the connections of one organisation or of all')
    .option('--organisation <id>', 'only connections of this organisation')
    .addHelpText('after', '\nExample:\n  npx interchange connection list')
    .action(async ({ organisation }: { organisation?: string }) => {
      await environment.withSession(async ({ db, publicBaseUrl }) => {
        if (organisation !== undefined) await requireOrganisation(db, organisation);
        const organisations =
          organisation === undefined ? await organisationsWithConnections(db) : [organisation];
        const found: Connection[] = [];
        for (const organisationId of organisations)
          found.push(...(await listConnections(db, { organisationId })));
        const views = found.map((connection) => connectionView(connection, publicBaseUrl));
        environment.print({ items: views }, found.map(connectionLine).join('\n'));
      });
    });
}

export function showConnectionCommand(environment: CommandEnvironment): Command {
  return new Command('show')
    .description('show one connection: settings, state of the exchange, and the last use of each secret')
    .requiredOption('--id <id>', 'connection')
    .addHelpText('after', '\nExample:\n  npx interchange connection show --id 7f0c…')
    .action(async ({ id }: { id: string }) => {
      await environment.withSession(async (session) =>
        printConnection(environment, session, await requireConnection(session, id)),
      );
    });
}
