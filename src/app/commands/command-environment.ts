/** Opens what commands work with, and prints what they answer. Contract: CMD-4, CMD-28. */

import type { CommandCaller, CommandEnvironment, CommandSession } from '../../platform/command/command.ts';
import { withPool } from '../../platform/db/database.ts';
import { SERVICE_ROLE } from '../../platform/db/migrate.ts';
import { createCursorCodec } from '../../platform/http/cursor.ts';
import { baseUrlOf, loadConfig } from '../config/config.ts';
import { openKeys, requireSchema, withDatabase } from '../runtime/open-database.ts';
import { readServiceAddress } from '../serving/service-address.store.ts';

/** What one call of the command line came to. */
export interface CommandCall {
  json: boolean;
  exitCode: number;
}

export function createCommandEnvironment(
  { env, stdin, stdout, stderr }: CommandCaller,
  call: CommandCall,
): CommandEnvironment {
  /** The base address, where it had to be guessed. */
  let guess: string | undefined;

  return {
    withSession: (work) =>
      withSession({ env, stderr }, (session, guessed) => {
        guess = guessed;
        return work(session);
      }),
    print(document, text) {
      const origin = guess === undefined ? undefined : new URL(guess).origin;
      const guessed = origin !== undefined && JSON.stringify(document).includes(origin);
      if (call.json) stdout.write(`${escaped(JSON.stringify(document, null, 2))}\n`);
      else if (text !== '') stdout.write(`${harmless(text)}\n`);
      if (guessed)
        stderr.write(
          `note: ${origin} is a guess, because the service has never run on this database. In the output of this command, put the address of the service in its place, and keep what follows it. To have commands know the address, set PUBLIC_BASE_URL, such as https://records.example.org/api/v1.\n`,
        );
    },
    get json() {
      return call.json;
    },
    fail(message, exitCode = 1) {
      stderr.write(`error: ${harmless(message)}\n`);
      call.exitCode = exitCode;
    },
    env,
    stdin,
    stdout,
    stderr,
    now: () => new Date(),
  };
}

/** What a terminal would do instead of showing it, or what turns around the text beside it, may stand in a record. */
export function harmless(text: string): string {
  return text.replaceAll(/(?![\t\n])[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

/** Of the control characters, JSON lets these stand as they are (RFC 8259 section 7). */
function escaped(json: string): string {
  return json.replaceAll(/[\x7f-\x9f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
}

type Work<T> = (session: CommandSession, guessedBaseUrl: string | undefined) => Promise<T>;

async function withSession<T>(
  { env, stderr }: Pick<CommandCaller, 'env' | 'stderr'>,
  work: Work<T>,
): Promise<T> {
  const config = loadConfig(env);
  return withDatabase(config, async (opened) => {
    // Who forgot to say where the records are would take an empty answer for the truth.
    if (await requireSchema(opened, config))
      stderr.write(
        `note: There was no database in ${config.dataDir}, so a new one was made there. If your records are elsewhere, set DATA_DIR or DATABASE_URL.\n`,
      );
    const { keys } = await openKeys(opened, config);
    const { url } = opened;
    const pool = { url, max: 4, applicationName: 'interchange command', role: SERVICE_ROLE };
    return withPool(pool, async (db) => {
      const known = config.publicBaseUrl ?? (await readServiceAddress(db));
      const publicBaseUrl = known ?? baseUrlOf(config);
      const cursors = createCursorCodec(keys.derive('cursor'));
      const session = { db, adminUrl: url, keys, cursors, publicBaseUrl };
      return work(session, known === undefined ? publicBaseUrl : undefined);
    }).finally(keys.close);
  });
}
