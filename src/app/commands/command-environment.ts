/** Opens what commands work with, and prints what they answer. Contract: CMD-4. */

import type { CommandCaller, CommandEnvironment, CommandSession } from '../../platform/command/command.ts';
import { createPool } from '../../platform/db/database.ts';
import { SERVICE_ROLE } from '../../platform/db/migrate.ts';
import { createLog } from '../../platform/log/log.ts';
import { baseUrlOf, loadConfig } from '../config/config.ts';
import { openDatabase, openKeys, requireSchema } from '../runtime/open-database.ts';
import { readServiceAddress } from '../serving/service-address.store.ts';

/** What one call of the command line came to. */
export interface CommandCall {
  json: boolean;
  exitCode: 0 | 1;
}

export function createCommandEnvironment(
  { env, stdin, stdout, stderr }: CommandCaller,
  call: CommandCall,
): CommandEnvironment {
  /** The base address, where it had to be guessed. */
  let guess: string | undefined;

  return {
    withSession: (work) =>
      withSession(env, (session, guessed) => {
        guess = guessed;
        return work(session);
      }),
    print(document, text) {
      const origin = guess === undefined ? undefined : new URL(guess).origin;
      const guessed = origin !== undefined && JSON.stringify(document).includes(origin);
      if (call.json) stdout.write(`${JSON.stringify(document, null, 2)}\n`);
      else if (text !== '') stdout.write(`${text}\n`);
      if (guessed)
        stderr.write(
          `note: the address ${origin} is a guess, because the service has never run on this database. Set PUBLIC_BASE_URL to the address of the service, ending in /api/v1.\n`,
        );
    },
    get json() {
      return call.json;
    },
    fail() {
      call.exitCode = 1;
    },
    env,
    stdin,
    stdout,
    stderr,
    now: () => new Date(),
  };
}

type Work<T> = (session: CommandSession, guessedBaseUrl: string | undefined) => Promise<T>;

async function withSession<T>(env: NodeJS.ProcessEnv, work: Work<T>): Promise<T> {
  const config = loadConfig(env);
  const log = createLog('silent');
  const opened = await openDatabase(config, log);
  try {
    await requireSchema(opened, config);
    const { keys } = await openKeys(opened, config);
    const ignored = () => undefined;
    const db = createPool(
      { url: opened.url, max: 4, applicationName: 'interchange command', role: SERVICE_ROLE },
      ignored,
    );
    try {
      const known = config.publicBaseUrl ?? (await readServiceAddress(db));
      const publicBaseUrl = known ?? baseUrlOf(config);
      return await work(
        { db, adminUrl: opened.url, keys, publicBaseUrl },
        known === undefined ? publicBaseUrl : undefined,
      );
    } finally {
      await Promise.all([db.end(), keys.close()]);
    }
  } finally {
    await opened.release();
  }
}
