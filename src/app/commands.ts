/** The commands of `interchange`, in the order of their help. Contract: CMD-5. */
import { Command, CommanderError } from 'commander';
import { type CommandCaller, commandErrorOf, UsageError } from '../platform/command/command.ts';
import { DomainError } from '../platform/domain-error.ts';
import { packageVersion } from '../platform/package-version.ts';
import { isUuid } from '../platform/uuid.ts';
import { type CommandCall, createCommandEnvironment, harmless } from './commands/command-environment.ts';
import { COMMANDS } from './commands/command-list.ts';
import { failureText } from './commands/failure-text.ts';
import { configureHelp, withoutHelpWord } from './commands/help.ts';
import { configureUsageErrors } from './commands/usage-errors.ts';

/** With all commands, or with the one of this name where there is one. */
export async function buildProgram(
  caller: CommandCaller = process,
  call: CommandCall = { json: false, exitCode: 0 },
  only?: string,
): Promise<Command> {
  const environment = createCommandEnvironment(caller, call);
  const program = new Command('interchange')
    .description(
      'Exchange of clinical records: sign-in for systems, FHIR R4 resources, and a log of every access.',
    )
    .version(packageVersion(), '--version', 'print the version')
    .addHelpText(
      'after',
      '\nSettings are environment variables: see docs/environment.md. Errors go to stderr.\nExit code: 0 the command succeeded, 1 it failed, 2 it was called with wrong options.',
    )
    .addHelpText('after', '\nExample:\n  npx interchange demo');
  const called = COMMANDS.filter(({ name }) => name === only);
  for (const { name, description, hidden = false, load } of called.length > 0 ? called : COMMANDS) {
    const commands = (await load()).map((make) => make(environment));
    if (description === undefined) for (const command of commands) program.addCommand(command, { hidden });
    else
      program.addCommand(
        commands.reduce((parent, one) => parent.addCommand(one), new Command(name).description(description)),
      );
  }
  everyCommand(program, (command) => {
    configureHelp(command);
    configureUsageErrors(command);
    command.configureOutput({
      writeOut: (text) => caller.stdout.write(text),
      writeErr: (text) => caller.stderr.write(text),
    });
    command.exitOverride().showHelpAfterError('(run the command with --help to see an example)');
    if (command.commands.length > 0) return;
    if (!command.options.some(({ long }) => long === '--json'))
      command.option('--json', 'print one JSON document on stdout');
    command.hook('preAction', (_program, action) => {
      lowerIds(action);
      call.json = action.opts().json === true;
    });
  });
  return program;
}

const ID_OPTIONS = ['id', 'organisation', 'facility', 'patient', 'connection'];

/** UUIDs are the same in either case; everything behind a command has them in lower case, as the database does. */
function lowerIds(command: Command): void {
  const lowered = (value: unknown) =>
    typeof value === 'string' && isUuid(value) ? value.toLowerCase() : value;
  for (const name of ID_OPTIONS) {
    const value: unknown = command.getOptionValue(name);
    if (value !== undefined)
      command.setOptionValueWithSource(
        name,
        Array.isArray(value) ? value.map(lowered) : lowered(value),
        command.getOptionValueSource(name),
      );
  }
}

function everyCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) everyCommand(child, visit);
}

/** Run the command line. Returns the exit code: 0 done, 1 failed, 2 called wrongly, or another that the command names. */
export async function runProgram(argv: readonly string[], caller: CommandCaller = process): Promise<number> {
  const call: CommandCall = { json: false, exitCode: 0 };
  try {
    const program = await buildProgram(caller, call, argv[0]);
    await program.parseAsync(withoutHelpWord(program, argv), { from: 'user' });
    return call.exitCode;
  } catch (error) {
    return reportFailure(error instanceof DomainError ? commandErrorOf(error) : error, caller);
  }
}

function reportFailure(error: unknown, { stderr }: CommandCaller): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    stderr.write(`error: ${harmless(error.message)}\n`);
    return 2;
  }
  stderr.write(`error: ${harmless(failureText(error))}\n`);
  return 1;
}
