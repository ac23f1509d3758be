/** The access log for the time of a command: what is shown to the operator is read for OPS (docs/adr/0053). */
import { randomUUID } from 'node:crypto';
import { DEFAULT_PURPOSE_OF_USE } from '../../fhir/purpose-of-use.ts';
import type { CommandEnvironment, CommandSession } from '../../platform/command/command.ts';
import type { Reader } from '../authorise-access.ts';
import { type AccessLog, OPERATOR_ACCOUNT_ID } from './access-log.ts';
import { createAccessLogWriter } from './access-log.writer.ts';
import { newestChainKey } from './access-log-keys.ts';

/** Whoever runs the command; the entries of one command have one correlation id. */
export type Operator = Omit<Reader, 'scope'>;

export async function withOperatorLog<Result>(
  { now }: Pick<CommandEnvironment, 'now'>,
  { db, keys }: Pick<CommandSession, 'db' | 'keys'>,
  work: (accessLog: AccessLog, operator: Operator) => Promise<Result>,
): Promise<Result> {
  const accessLog = createAccessLogWriter({
    pool: db,
    chainKey: (on) => newestChainKey(keys, on),
    now,
    onError: () => undefined,
  });
  const caller = { accountId: OPERATOR_ACCOUNT_ID };
  try {
    return await work(accessLog, {
      caller,
      purposeOfUse: DEFAULT_PURPOSE_OF_USE,
      correlationId: randomUUID(),
    });
  } finally {
    await accessLog.close();
  }
}
