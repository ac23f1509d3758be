/** `--host` and `--port` of the commands that listen. */
import { InvalidArgumentError } from 'commander';

/** Flags win over the environment, and child processes get them through it. */
export function applyAddress(env: NodeJS.ProcessEnv, { host, port }: { host?: string; port?: string }): void {
  if (host !== undefined) env.HOST = host;
  if (port !== undefined) env.PORT = port;
}

export function portNumber(text: string): string {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return text;
}
