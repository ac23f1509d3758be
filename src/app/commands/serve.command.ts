/**
 * `interchange serve`, and what `npm start` runs. The service is loaded only here: other commands start sooner.
 * Contract: CMD-17, CMD-21.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { applyAddress, portNumber } from './address-options.ts';

interface ServeOptions {
  role: 'all' | 'api' | 'worker';
  host?: string;
  port?: string;
  processes: number;
}

export function serveCommand({ env }: CommandEnvironment): Command {
  return new Command('serve')
    .description('run the API, the console and the delivery worker')
    .addOption(
      new Option('--role <role>', 'what this process does').choices(['all', 'api', 'worker']).default('all'),
    )
    .option('--host <address>', 'address that the service listens on (default: HOST, or 127.0.0.1)')
    .option('--port <port>', 'port that the service listens on (default: PORT, or 3000)', portNumber)
    .option('--processes <n>', 'number of processes that share the port', processCount, 1)
    .option('--json', 'changes nothing: the log on stdout is JSON lines already')
    .addHelpText('after', '\nExample:\n  npx interchange serve --role api --port 8080 --processes 4')
    .action(async (options: ServeOptions) => {
      applyAddress(env, options);
      const { serve } = await import('../serving/serve.ts');
      await serve({ role: options.role, processes: options.processes, env });
    });
}

/** With DATABASE_URL it serves and creates nothing; without, it is the demo. */
export function startCommand({ env }: CommandEnvironment): Command {
  return new Command('start').description('what npm start does').action(async () => {
    const configured = `${env.DATABASE_URL ?? ''}${env.DATABASE_URL_FILE ?? ''}`.trim() !== '';
    if (!configured) return (await import('./run-demo.ts')).runDemo(env);
    return (await import('../serving/serve.ts')).serve({ role: 'all', processes: 1, env });
  });
}

function processCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 256)
    throw new InvalidArgumentError('Give a number from 1 to 256.');
  return count;
}
