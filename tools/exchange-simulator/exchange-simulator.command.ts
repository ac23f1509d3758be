/** `interchange exchange-simulator`: the other side of a connection, on this machine (docs/exchange.md). */
import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../src/platform/command/command.ts';
import { definedMembers } from '../../src/platform/defined-members.ts';
import { portOf, serveUntilStopped } from '../simulator.ts';
import { changedBehaviour, WELL } from './behaviour.ts';
import { type ConnectionFile, openConnectionFile } from './connection-file.ts';
import { createSimulatedExchange, type SimulatorEvent } from './simulated-exchange.ts';

interface Options {
  connection: string;
  port: string;
  path?: string;
  callbackHeader: string;
  failRate?: string;
  failStatus?: string;
  retryAfter?: string;
  delayMs?: string;
  rejectRate?: string;
  down?: true;
  callbacks: boolean;
}

export function exchangeSimulatorCommand(environment: CommandEnvironment): Command {
  return new Command('exchange-simulator')
    .description(
      'run a simulated exchange: it checks signatures, answers, sends signed callbacks, and prints each delivery',
    )
    .requiredOption(
      '--connection <file>',
      'file with the output of `connection create --json`, or - for standard input',
    )
    .option('--port <port>', 'port on 127.0.0.1', '4100')
    .option('--path <path>', 'the path that takes deliveries; others answer 404 (default: any)')
    .option('--callback-header <name>', 'header that carries the signature of callbacks', 'x-signature')
    .option('--fail-rate <part>', 'share of the deliveries that fail, from 0 to 1')
    .option('--fail-status <status>', 'HTTP status of the failed ones (default: 503)')
    .option('--retry-after <seconds>', 'retry-after of the failed ones, in seconds')
    .option('--delay-ms <n>', 'before each answer')
    .option('--reject-rate <part>', 'share of the deliveries that the callback rejects, from 0 to 1')
    .option('--down', 'drop every connection, until changed with POST /control')
    .option('--no-callbacks', 'send no callbacks')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange exchange-simulator --connection connection.json --fail-rate 0.3\n\nWhile it runs:\n  curl -d \'{"down":true}\' http://127.0.0.1:4100/control',
    )
    .action(async (options: Options) => {
      const port = portOf(options.port);
      const { path } = options;
      if (path?.startsWith('/') === false) throw new UsageError('--path must begin with /.');
      const behaviour = behaviourOf(options);
      const connection = await readConnection(environment, options.connection);
      const server = createSimulatedExchange({
        connection,
        path,
        callbackHeader: options.callbackHeader,
        behaviour,
        now: environment.now,
        onEvent: (event) =>
          environment.print(
            { at: environment.now(), ...event },
            line(event) + (isMismatch(event) ? hint(options.connection) : ''),
          ),
      });
      await serveUntilStopped(server, port, (address) =>
        environment.print(
          { address },
          `listening on ${address}${path ?? ' (any path)'}; change it with POST ${address}/control`,
        ),
      );
    });
}

function behaviourOf(options: Options) {
  const number = (text: string | undefined) =>
    text === undefined || text.trim() === '' ? undefined : Number(text);
  const changes = {
    failRate: number(options.failRate),
    failStatus: number(options.failStatus),
    retryAfterSeconds: number(options.retryAfter),
    delayMs: number(options.delayMs),
    rejectRate: number(options.rejectRate),
    down: options.down,
    callbacks: options.callbacks,
  };
  const behaviour = changedBehaviour(WELL, definedMembers(changes));
  if (behaviour === undefined)
    throw new UsageError(
      'Rates must be from 0 to 1, --fail-status must be from 300 to 599, and --retry-after and --delay-ms must be whole numbers.',
    );
  return behaviour;
}

async function readConnection(environment: CommandEnvironment, file: string): Promise<ConnectionFile> {
  const text =
    file === '-' ? await readText(environment.stdin) : await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) throw new UsageError(`${file} cannot be read. Check the path.`);
  return openConnectionFile(text, file === '-' ? undefined : file);
}

/** What to do when secrets do not match, after what happened. */
function hint(file: string): string {
  const renewal =
    file === '-'
      ? 'start the simulator again with the new ones'
      : `write what \`connection rotate-secret --json\` printed to ${file}; the simulator reads it again`;
  return `\n           These are not the secrets of the connection. If they were rotated, ${renewal}.`;
}

function isMismatch(event: SimulatorEvent): boolean {
  if (event.what === 'callback') return event.answer === 401;
  return event.what !== 'behaviour' && event.verdict === 'wrong-signature';
}

function line(event: SimulatorEvent): string {
  if (event.what === 'behaviour') return `behaviour  ${JSON.stringify(event.behaviour)}`;
  if (event.what === 'callback')
    return `callback   ${event.status} ${event.assignedId ?? ''} for ${event.deliveryId}: answered ${event.answer}`;
  if (event.what === 'test')
    return `test       of the connection, signature ${event.verdict}, answered ${event.answer}`;
  const about =
    event.patientId === undefined
      ? ''
      : ` ${event.event} #${event.sequence} of patient ${event.patientId}${event.again ? ' (again)' : ''}`;
  return `delivery  ${about} signature ${event.verdict}, answered ${event.answer}`;
}
