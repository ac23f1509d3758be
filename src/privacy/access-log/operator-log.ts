/** The access log for the time of a command. */
import type { CommandEnvironment, CommandSession } from '../../platform/command/command.ts';
import type { AccessLog } from './access-log.ts';
import { createAccessLogWriter } from './access-log.writer.ts';
import { newestChainKey } from './access-log-keys.ts';

export async function withOperatorLog<Result>(
  { now }: Pick<CommandEnvironment, 'now'>,
  { db, keys }: Pick<CommandSession, 'db' | 'keys'>,
  work: (accessLog: AccessLog) => Promise<Result>,
): Promise<Result> {
  const accessLog = createAccessLogWriter({
    pool: db,
    chainKey: (on) => newestChainKey(keys, on),
    now,
    onError: () => undefined,
  });
  try {
    return await work(accessLog);
  } finally {
    await accessLog.close();
  }
}
