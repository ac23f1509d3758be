/** `interchange fhir-simulator`: a FHIR server on this machine to try publishing with (docs/publish.md). */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { Command } from 'commander';
import { type CommandEnvironment, CommandError, UsageError } from '../../platform/command/command.ts';
import { answerWith, isOutcome, perform, readPath } from './fhir-interface.ts';
import { FhirStore } from './fhir-store.ts';

interface Options {
  port: string;
  ownIds?: true;
  integrity: boolean;
}

export function fhirSimulatorCommand(environment: CommandEnvironment): Command {
  return new Command('fhir-simulator')
    .description('a local FHIR server, in memory, to publish to; prints what it is sent')
    .option('--port <port>', 'port on 127.0.0.1', '4200')
    .option('--own-ids', 'give ids itself and refuse those of others: publish with --id-policy server')
    .option('--no-integrity', 'take references that lead nowhere')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange fhir-simulator &\n  npx interchange target create --name local --base http://127.0.0.1:4200/fhir \\\n    --auth none --references send',
    )
    .action(async (options: Options) => {
      const port = Number(options.port);
      if (!Number.isInteger(port) || port < 0 || port > 65_535)
        throw new UsageError('--port must be from 0 to 65535.');
      const store = new FhirStore({
        name: 'interchange fhir-simulator',
        clientIds: options.ownIds !== true,
        referentialIntegrity: options.integrity,
        conditionalCreate: true,
        search: true,
      });
      const server = createServer((request, response) => {
        answerCall(environment, store, { request, response }).catch(() => response.destroy());
      });
      server.listen(port, '127.0.0.1');
      await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
        throw new CommandError(`Port ${port} cannot be listened on (${code}). Choose another with --port.`);
      });
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/fhir`;
      environment.print({ base }, `FHIR server, in memory: ${base}`);
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
      server.closeAllConnections();
      server.close();
    });
}

async function answerCall(
  environment: CommandEnvironment,
  store: FhirStore,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const { method = 'GET', headers, url = '/' } = request;
  const { path, ...where } = readPath(url);
  const outcome = perform(store, { method, ...where, body: await readText(request), headers });
  const status = isOutcome(outcome) ? outcome.status : 200;
  answerWith(response, outcome);
  environment.print({ at: environment.now(), method, path, status }, `${method} ${path} ${status}`);
}
