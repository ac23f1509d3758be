/** The command line: in the process of the test, or as a process of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../src/app/commands.ts';

const ENTRY = fileURLToPath(new URL('../../src/bin/interchange.ts', import.meta.url));

export interface CommandResult {
  /** Null when a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  /** The whole environment; a process also gets PATH, HOME, NODE_COMPILE_CACHE, and DRAIN_SECONDS=0. */
  env?: Record<string, string>;
  stdin?: string;
  /** Standard error is a terminal; in the process of the test only. */
  isTerminal?: boolean;
}

export interface ProcessOptions extends CommandOptions {
  cwd?: string;
  /** The program, where it is not that of this checkout. */
  entry?: string;
  /** It is killed when it runs longer. */
  timeoutMs?: number;
}

/** Run `interchange <args>` to its end without a process of its own, which would take a second of processor time. */
export async function runCommand(
  args: readonly string[],
  { env = {}, stdin = '', isTerminal = false }: CommandOptions = {},
): Promise<CommandResult> {
  const [stdout, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: isTerminal })];
  const printed = { stdout: '', stderr: '' };
  stdout.on('data', (chunk: Buffer) => {
    printed.stdout += chunk.toString();
  });
  stderr.on('data', (chunk: Buffer) => {
    printed.stderr += chunk.toString();
  });
  const code = await runProgram(args, {
    env: { ...env },
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout,
    stderr,
  });
  await Promise.all([stdout, stderr].map((stream) => once(stream.end(), 'end')));
  return { code, ...printed };
}

/** The JSON document that `interchange <args> --json` prints; undefined where it prints none. Throws when it fails. */
export async function runJson(args: readonly string[], options?: CommandOptions) {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], options);
  if (code !== 0)
    throw new Error(`interchange ${args.slice(0, 2).join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout === '' ? undefined : JSON.parse(stdout);
}

/** Run `interchange <args>` as a process to its end. */
export async function runProcess(
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<CommandResult> {
  const started = startCommand(args, options);
  started.child.stdin.end(options.stdin ?? '');
  return started.ended;
}

export interface StartedCommand {
  child: ChildProcessWithoutNullStreams;
  ended: Promise<CommandResult>;
  /** What it printed so far. */
  output(): { stdout: string; stderr: string };
  /** Resolves once stdout matches; rejects when the process ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Start it; end it with a signal to `child`. */
export function startCommand(
  args: readonly string[],
  { env = {}, cwd, entry = ENTRY, timeoutMs }: ProcessOptions = {},
): StartedCommand {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, [entry, ...args], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, DRAIN_SECONDS: '0', ...env },
    ...(cwd === undefined ? {} : { cwd }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs, killSignal: 'SIGKILL' }),
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdin.on('error', () => undefined);
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return {
    child,
    ended,
    output: () => ({ stdout, stderr }),
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(stdout);
          if (match === null) return;
          child.stdout.off('data', look);
          resolve(match);
        };
        child.stdout.on('data', look);
        void ended.then(() => reject(new Error(`ended without printing ${pattern}:\n${stdout}\n${stderr}`)));
        look();
      }),
  };
}
