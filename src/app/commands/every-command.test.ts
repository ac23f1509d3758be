import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Command } from 'commander';
import { leaves } from '../../../test-support/service/command-names.ts';
import { buildProgram } from '../commands.ts';

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

/** What the help says of an option, on one line. */
function afterFlags(help: string, flags: string): string {
  const text = help.slice(help.indexOf(`\n  ${flags} `) + flags.length + 3);
  return text.slice(0, text.search(/\n {2}-|\n\n/)).replaceAll(/\s+/g, ' ');
}

describe('every command', () => {
  test('says in its help what it does, its options, and an example that begins with its name [CMD-3]', async () => {
    for (const { name, command } of leaves(await buildProgram())) {
      if (name === 'start') continue;
      const help = helpOf(command);
      assert.ok(command.description().length > 10, name);
      for (const option of command.options)
        assert.ok((option.description ?? '') !== '', `${name} ${option.flags}`);
      for (const { flags, mandatory } of command.options) {
        assert.equal(help.split('\n')[0]?.includes(flags), mandatory, `${name} ${flags} in the usage`);
        if (mandatory)
          assert.equal(afterFlags(help, flags).match(/\(required[;)]/g)?.length, 1, `${name} ${flags}`);
      }
      assert.match(help, /--json/, name);
      assert.match(help, /Examples?:\n/, name);
      const example = help.slice(help.search(/Examples?:\n/));
      assert.ok(example.includes(`npx interchange ${name}`), `${name}: the example is of another command`);
    }
  });

  test('has options that a narrow terminal shows without breaking words', async () => {
    for (const { name, command } of leaves(await buildProgram())) {
      command.configureOutput({ getOutHelpWidth: () => 60 });
      const [, options = ''] = /\nOptions:\n(.*?)(?:\n\n|$)/s.exec(helpOf(command)) ?? [];
      const lines = options.split('\n');
      assert.ok(lines.length >= 2, name);
      // A word that is longer than its column stays whole, such as a URI.
      for (const line of lines)
        assert.ok(line.length <= 60 || /^ *\S+$/.test(line.slice(30)), `${name}: ${line}`);
    }
  });

  test('is the same when it is loaded without the others', async () => {
    const all = await buildProgram();
    for (const { commands, ...one } of all.commands.map((each) => ({
      name: each.name(),
      help: helpOf(each),
      commands: each.commands.map(helpOf),
    }))) {
      const program = await buildProgram(undefined, undefined, one.name);
      assert.deepEqual(
        program.commands.map((each) => each.name()),
        [one.name],
      );
      const [alone] = program.commands;
      assert.equal(alone && helpOf(alone), one.help);
      assert.deepEqual(alone?.commands.map(helpOf), commands);
    }
  });

  test('takes no secret as an argument [CMD-6]', async () => {
    // The path of a file is no secret.
    for (const { name, command } of leaves(await buildProgram()))
      for (const { long, required, optional } of command.options)
        if (/password|secret|token|key(?!-file)/.test(long ?? ''))
          assert.ok(!required && !optional, `${name} ${long} takes a value`);
  });

  test('has every option of an example [CMD-3]', async () => {
    for (const { name, command } of leaves(await buildProgram())) {
      const help = helpOf(command);
      const example = help.slice(help.search(/Examples?:\n/)).split('\n');
      for (const line of example.filter((part) => part.includes(`interchange ${name}`)))
        for (const [flag] of line.matchAll(/--[a-z-]+/g))
          assert.ok(
            command.options.some(({ long }) => long === flag),
            `${name} has no ${flag}`,
          );
    }
  });
});
