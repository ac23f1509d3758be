/** `interchange fhir-simulator`: a FHIR server on this machine to try publishing with (docs/publish.md). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Command } from 'commander';
import type { CommandEnvironment } from '../../src/platform/command/command.ts';
import { readBytes } from '../../src/platform/http/body.ts';
import { HttpError } from '../../src/platform/http/errors.ts';
import { http } from '../../src/platform/node-http.ts';
import { portOf, serveUntilStopped } from '../simulator.ts';
import { answerWith, isOutcome, perform, readPath } from './fhir-interface.ts';
import { FhirStore } from './fhir-store.ts';

interface Options {
  port: string;
  ownIds?: true;
  integrity: boolean;
  declaredIds: boolean;
}

export function fhirSimulatorCommand(environment: CommandEnvironment): Command {
  return new Command('fhir-simulator')
    .description('run a simulated FHIR server that keeps resources in memory and prints each request')
    .option('--port <port>', 'port on 127.0.0.1', '4200')
    .option('--own-ids', 'assign ids itself and refuse ids of clients; publish to it with --id-policy server')
    .option('--no-declared-ids', 'do not say in /metadata whether it accepts ids of clients (updateCreate)')
    .option('--no-integrity', 'accept references to resources that do not exist')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange fhir-simulator &\n  npx interchange target create --name local --base http://127.0.0.1:4200/fhir \\\n    --auth none --references send',
    )
    .action(async (options: Options) => {
      const port = portOf(options.port);
      const store = new FhirStore({
        name: 'interchange fhir-simulator',
        clientIds: options.ownIds !== true,
        declaresClientIds: options.declaredIds,
        referentialIntegrity: options.integrity,
        conditionalCreate: true,
        search: true,
      });
      const server = http.createServer((request, response) => {
        answerCall(environment, store, { request, response }).catch(() => response.destroy());
      });
      await serveUntilStopped(server, port, (address) => {
        const base = `${address}/fhir`;
        environment.print({ base }, `FHIR server, in memory: ${base}`);
      });
    });
}

const LOCAL_HOST = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/i;
const MAX_BODY_BYTES = 64 * 1024 * 1024;

async function answerCall(
  environment: CommandEnvironment,
  store: FhirStore,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const { method = 'GET', headers, url = '/' } = request;
  // A page of somebody else's, open in a browser on this machine, could read what is here under a name of its own.
  if (!LOCAL_HOST.test(headers.host ?? '')) return void response.writeHead(421).end();
  const { path, ...where } = readPath(url);
  const body = await readBytes(request, MAX_BODY_BYTES).catch(ifTooLarge);
  if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end();
  const outcome = perform(store, { method, ...where, body: body.toString(), headers });
  const status = isOutcome(outcome) ? outcome.status : 200;
  answerWith(response, outcome);
  environment.print({ at: environment.now(), method, path, status }, `${method} ${path} ${status}`);
}

function ifTooLarge(error: unknown): undefined {
  if (!(error instanceof HttpError)) throw error;
}
