/**
 * `help facility create` is `facility create --help`. An unknown command is called without `--help`: commander then refuses
 * it, where it would show the help of all commands otherwise. Contract: CMD-5.
 */
import type { Command } from 'commander';

const ASKS = new Set(['--help', '-h']);

export function withoutHelpWord(program: Command, argv: readonly string[]): string[] {
  const path: string[] = [];
  let command = program;
  let isAsked = false;
  for (const [at, word] of argv.entries()) {
    if (command.commands.length === 0 || word.startsWith('-')) {
      const rest = argv.slice(at);
      return [...path, ...rest, ...(isAsked && !rest.some((one) => ASKS.has(one)) ? ['--help'] : [])];
    }
    if (word === 'help') {
      isAsked = true;
      continue;
    }
    path.push(word);
    const called = command.commands.find((one) => one.name() === word);
    if (called === undefined) return path;
    command = called;
  }
  return isAsked ? [...path, '--help'] : path;
}
