/** What a command says that was given an option that it does not know, a value without its option, or an option twice. */
import type { Command, ErrorOptions, Option } from 'commander';

const MISSING_OPTION = 'commander.missingMandatoryOptionValue';
const EXCESS_ARGUMENTS = 'commander.excessArguments';
const UNKNOWN_OPTION = 'commander.unknownOption';
const UNKNOWN_COMMAND = 'commander.unknownCommand';
const PATH = /<(?:file|folder)>/;
/** Without the value behind `=`, or behind the one letter of a short option. */
const FLAG = /^(?:--[^=]*|-.)/u;

/** commander's own, which its types leave out. `unknownOption` names the option, and one that is like it. */
type Internals = Command & {
  /** Of the program: what was given to it. */
  rawArgs: readonly string[];
  unknownOption(flag: string): never;
  optionMissingArgument(option: Option): never;
};

export function configureUsageErrors(command: Command): void {
  const error = command.error.bind(command);
  command.error = (message: string, options?: ErrorOptions): never => {
    if (options?.code === MISSING_OPTION || options?.code === EXCESS_ARGUMENTS) refuseEmptyOptions(command);
    const unknown = unknownOf(command);
    // It is why another option is missing. What may stand behind it is not repeated: it may be a secret.
    if (options?.code === MISSING_OPTION && unknown !== undefined)
      (command as Internals).unknownOption(unknown.match(FLAG)?.[0] ?? '-');
    if (options?.code === UNKNOWN_OPTION) return error(unknownOption(command, message), options);
    if (options?.code === UNKNOWN_COMMAND && command.parent !== null)
      return error(unknownCommand(command, message), options);
    return error(
      misplacedValue(command, options?.code) ?? missingOptions(command, options?.code) ?? message,
      options,
    );
  };
  // Where nothing else is missing, `--reason $WHY --dry-run` would be done, and not as a dry run.
  command.hook('preAction', () => refuseEmptyOptions(command));
  for (const option of command.options) noteRepeated(command, option);
}

/** Of an option with one value that is given twice the last one counts. Who gave two may have meant both. */
function noteRepeated(command: Command, option: Option): void {
  let isGiven = false;
  command.on(`option:${option.name()}`, (given: string | null) => {
    // A list has the one before, too.
    const isAlone = String(command.getOptionValue(option.attributeName())) === given;
    if (isGiven && isAlone)
      command
        .configureOutput()
        .writeErr?.(`note: ${option.long} was given more than once. The last one is used.\n`);
    isGiven = true;
  });
}

/** The first option that the command does not know. What stands after `--` is none. */
function unknownOf(command: Command): string | undefined {
  let program = command;
  while (program.parent !== null) program = program.parent;
  const end = command.args.indexOf('--');
  // commander leaves `--` among the arguments where an option that it does not know stands before it.
  if (end === -1 && (program as Internals).rawArgs.includes('--')) return undefined;
  const given = end === -1 ? command.args : command.args.slice(0, end);
  return given.find((one) => one.startsWith('-') && one !== '-');
}

/** An empty path, or a value that is the next option: its own was empty, as a variable of the shell is that was not set. */
function refuseEmptyOptions(command: Command): void {
  const empty = command.options.find((option) => {
    const value = String(command.getOptionValue(option.attributeName()));
    // An empty path would be the folder that the command is called in.
    return (value === '' && PATH.test(option.flags)) || command.options.some(({ long }) => long === value);
  });
  if (empty !== undefined) (command as Internals).optionMissingArgument(empty);
}

/** Without its value. An option that is known and takes no value is unknown to commander with one. */
function unknownOption(command: Command, given: string): string {
  const flag = given.match(/'(.*)'/s)?.[1]?.match(FLAG)?.[0];
  const message = given.replace(/'.*'/s, () => `'${flag}'`);
  const isKnown = command.options.some(({ long }) => long === flag);
  return isKnown ? `error: option '${flag}' takes no value` : message;
}

/** Undefined where commander's own message says it. The value is not repeated: it may be a secret. */
function misplacedValue(command: Command, code: string | undefined): string | undefined {
  const isMisplaced = command.registeredArguments.length === 0 && command.args.length > 0;
  if (!isMisplaced || (code !== MISSING_OPTION && code !== EXCESS_ARGUMENTS)) return undefined;
  const options = code === MISSING_OPTION ? missingOf(command) : command.options;
  const flags = options
    .filter(({ required, optional }) => required || optional)
    .map((option) => option.flags);
  return flags.length === 0
    ? 'error: This command takes no values. Leave out what was given.'
    : `error: A value was given without its option. This command takes its values as options: ${flags.join(', ')}.`;
}

/** With the commands of the group: commander would name one that is spelt alike, such as `create` for `update`. */
function unknownCommand(group: Command, message: string): string {
  const names = group.commands.map((one) => one.name());
  return `${message.split('\n')[0]}\n(commands of ${group.name()}: ${names.join(', ')})`;
}

/** All of them: commander names the first alone, and the command would be called once for each. */
function missingOptions(command: Command, code: string | undefined): string | undefined {
  const missing = code === MISSING_OPTION ? missingOf(command) : [];
  if (missing.length < 2) return undefined;
  return `error: required options ${missing.map(({ flags }) => `'${flags}'`).join(', ')} not specified`;
}

function missingOf(command: Command): Option[] {
  return command.options.filter(
    (option) => option.mandatory && command.getOptionValue(option.attributeName()) === undefined,
  );
}
