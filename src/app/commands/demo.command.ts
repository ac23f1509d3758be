/** `interchange demo` */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { applyAddress, portNumber } from './address-options.ts';

export function demoCommand({ env }: CommandEnvironment): Command {
  return new Command('demo')
    .description('run the service with a demo organisation, accounts and records')
    .option('--host <address>', 'address that the service listens on (default: HOST, or 127.0.0.1)')
    .option('--port <port>', 'port that the service listens on (default: PORT, or 3000)', portNumber)
    .option('--json', 'print one JSON document instead of the text')
    .addHelpText('after', '\nExample:\n  npx interchange demo --port 8080')
    .action(async (options: { host?: string; port?: string; json?: true }) => {
      applyAddress(env, options);
      const { runDemo } = await import('./run-demo.ts');
      await runDemo(env, { json: options.json === true });
    });
}
