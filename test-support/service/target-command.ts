/** `interchange target …` in this process: what it prints, and how it would exit. */
import { Readable, Writable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import { type CommandEnvironment, commandErrorOf, UsageError } from '../../src/platform/command/command.ts';
import { createKeyRing } from '../../src/platform/crypto/key-ring.ts';
import { DomainError } from '../../src/platform/domain-error.ts';
import { TARGET_COMMANDS } from '../../src/publish/servers/manage-targets.command.ts';
import type { TestDatabase } from '../database/database.ts';

export interface RanTargetCommand {
  code: number;
  stdout: string;
  stderr: string;
}

/** Run the words after `interchange target`. */
export async function runTargetCommand(
  { database, masterKey }: { database: TestDatabase; masterKey: Buffer },
  line: string,
  stdin = '',
): Promise<RanTargetCommand> {
  const ran: RanTargetCommand = { code: 0, stdout: '', stderr: '' };
  const [name = '', ...rest] = line.split(' ');
  const asJson = rest.includes('--json');
  const command = commandOf(name, {
    withSession: (work) =>
      work({
        db: database.pool,
        adminUrl: database.url,
        keys: createKeyRing(masterKey),
        publicBaseUrl: '',
      }),
    print(document, text) {
      ran.stdout += asJson ? JSON.stringify(document) : text;
    },
    json: asJson,
    fail() {
      ran.code = 1;
    },
    env: {},
    stdout: process.stdout,
    stdin: Readable.from([Buffer.from(stdin)]),
    stderr: new Writable({
      write(chunk: Buffer, _encoding, done) {
        ran.stderr += chunk.toString();
        done();
      },
    }),
    now: () => new Date(),
  });
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  try {
    await command.parseAsync(
      rest.filter((argument) => argument !== '--json'),
      { from: 'user' },
    );
  } catch (failure) {
    const error = failure instanceof DomainError ? commandErrorOf(failure) : failure;
    ran.code = error instanceof UsageError || error instanceof CommanderError ? 2 : 1;
    ran.stderr += (error as Error).message;
  }
  return ran;
}

function commandOf(name: string, environment: CommandEnvironment): Command {
  const all = TARGET_COMMANDS.map((make) => make(environment));
  const found = all.find((command) => command.name() === name);
  if (found === undefined) throw new Error(`no such command: ${name}`);
  return found;
}
