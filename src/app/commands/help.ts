/**
 * How the help of every command looks: what must be given is marked, defaults stand as they are typed. And how it is asked for.
 * Contract: CMD-3, CMD-5.
 */
import type { Command, Option } from 'commander';

export function configureHelp(command: Command): void {
  command.configureHelp({
    optionDescription: describeOption,
    commandUsage: describeUsage,
    minWidthToWrap: NARROW,
  });
}

/** Columns for descriptions that are still wrapped. A terminal that is narrower wraps them itself, in the middle of words. */
const NARROW = 20;

function describeOption({ description, argChoices, defaultValue, mandatory }: Option): string {
  const shown = defaultValue === undefined || typeof defaultValue === 'boolean' || defaultValue === '';
  const notes = [
    ...(mandatory ? ['required'] : []),
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`]),
    ...(shown ? [] : [`default: ${String(defaultValue)}`]),
  ];
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
}

/** The options that must be given, with their values, then the rest. */
function describeUsage(command: Command): string {
  const names = [command.name()];
  for (let parent = command.parent; parent !== null; parent = parent.parent) names.unshift(parent.name());
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
  return [...names, ...required, command.usage()].join(' ');
}

const ASKS = new Set(['--help', '-h']);

/**
 * `help facility create` is `facility create --help`. An unknown command is called without `--help`: commander then refuses
 * it, where it would show the help of all commands otherwise.
 */
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
