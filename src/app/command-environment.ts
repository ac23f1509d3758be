/** Opens what commands work with, and prints what they answer (design section 5). */

import type { CommandEnvironment, CommandSession } from '../platform/command/command.ts';
import { createPool } from '../platform/db/database.ts';
import { SERVICE_ROLE } from '../platform/db/migrate.ts';
import { createLog } from '../platform/log/log.ts';
import { openDatabase, openKeys, requireSchema } from './build-runtime.ts';
import { baseUrlOf, loadConfig } from './config/config.ts';

export interface CommandOutput {
  json: boolean;
  stdout: NodeJS.WritableStream;
}

export function createCommandEnvironment(output: CommandOutput): CommandEnvironment {
  return {
    withSession,
    print(document, text) {
      output.stdout.write(
        output.json ? `${JSON.stringify(document, null, 2)}\n` : text === '' ? '' : `${text}\n`,
      );
    },
    get json() {
      return output.json;
    },
    stdin: process.stdin,
    stderr: process.stderr,
    now: () => new Date(),
  };
}

async function withSession<T>(work: (session: CommandSession) => Promise<T>): Promise<T> {
  const config = loadConfig(process.env);
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
      return await work({ db, adminUrl: opened.url, keys, publicBaseUrl: baseUrlOf(config) });
    } finally {
      await Promise.all([db.end(), keys.close()]);
    }
  } finally {
    await opened.release();
  }
}
