import type { Command } from 'commander';

/** Commands with their full names. */
export function leaves(command: Command, name = ''): { name: string; command: Command }[] {
  if (command.commands.length === 0) return [{ name: name.trim(), command }];
  return command.commands.flatMap((child) => leaves(child, `${name} ${child.name()}`));
}
