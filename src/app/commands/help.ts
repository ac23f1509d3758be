/**
 * How the help of every command looks: what must be given is marked, defaults stand as they are typed.
 * Contract: CMD-3.
 */
import type { Command, Option } from 'commander';

export function configureHelp(command: Command): void {
  command.configureHelp({ optionDescription: describeOption, commandUsage: describeUsage });
}

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
