/**
 * `interchange serve` and `interchange demo`, and what `npm start` runs. The service is loaded only here: other commands start sooner.
 * Contract: CMD-17, CMD-21.
 */
import cluster from 'node:cluster';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { START_ADDRESS } from '../http/listen-failure.ts';

interface AddressOptions {
  host?: string;
  port?: string;
}

interface ServeOptions extends AddressOptions {
  role: 'all' | 'api' | 'worker';
  processes: number;
}

export function serveCommand({ env }: CommandEnvironment): Command {
  const command = new Command('serve')
    .description('run the API, the console and the delivery worker')
    .addOption(
      new Option('--role <role>', 'what this process does').choices(['all', 'api', 'worker']).default('all'),
    );
  return withAddress(command)
    .option('--processes <n>', 'number of processes that share the port', processCount, 1)
    .option('--json', 'changes nothing: the log on stdout is JSON lines already')
    .addHelpText('after', '\nExample:\n  npx interchange serve --role api --port 8080 --processes 4')
    .action(async (options: ServeOptions) => {
      applyAddress(env, options);
      const { serve } = await import('../serving/serve.ts');
      await serve({ role: options.role, processes: options.processes, env });
    });
}

export function demoCommand({ env }: CommandEnvironment): Command {
  const command = new Command('demo').description(
    'run the service with a demo organisation, accounts and records',
  );
  return withAddress(command)
    .option('--json', 'print one JSON document instead of the text')
    .addHelpText('after', '\nExample:\n  npx interchange demo --port 8080')
    .action(async (options: AddressOptions & { json?: true }) => {
      applyAddress(env, options);
      const { runDemo } = await import('./run-demo.ts');
      await runDemo(env, { json: options.json === true });
    });
}

/** With DATABASE_URL it serves and creates nothing; without, it is the demo. */
export function startCommand({ env }: CommandEnvironment): Command {
  return new Command('start').description('what npm start does').action(async () => {
    const named = { addressNames: START_ADDRESS };
    const configured = `${env.DATABASE_URL ?? ''}${env.DATABASE_URL_FILE ?? ''}`.trim() !== '';
    if (!configured) return (await import('./run-demo.ts')).runDemo(env, named);
    return (await import('../serving/serve.ts')).serve({ role: 'all', processes: 1, env, ...named });
  });
}

function withAddress(command: Command): Command {
  return command
    .option('--host <address>', 'address that the service listens on (default: HOST, or 127.0.0.1)')
    .option('--port <port>', 'port that the service listens on (default: PORT, or 3000)', portNumber);
}

/**
 * Flags win over the environment, and child processes get them through it: they have the same flags, but for them the
 * free port of `--port 0` is found already.
 */
function applyAddress(env: NodeJS.ProcessEnv, { host, port }: AddressOptions): void {
  if (cluster.isWorker) return;
  if (host !== undefined) env.HOST = host;
  if (port !== undefined) env.PORT = port;
}

function portNumber(text: string): string {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return text;
}

function processCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 256)
    throw new InvalidArgumentError('Give a number from 1 to 256.');
  return count;
}
