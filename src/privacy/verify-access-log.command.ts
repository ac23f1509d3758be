/** `interchange access-log verify` */
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../platform/command/command.ts';
import { type NotedHead, type VerificationResult, verifyAccessLog } from './verify-access-log.ts';

export function verifyAccessLogCommand(environment: CommandEnvironment): Command {
  return new Command('verify')
    .description('prove that no entry of the access log was changed or removed; exits 1 when one was')
    .option(
      '--heads <file>',
      'output of an earlier run with --json: its heads must still be part of the chains',
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange access-log verify --json > heads.json\n  npx interchange access-log verify --heads heads.json',
    )
    .action(async ({ heads }: { heads?: string }) => {
      const noted = heads === undefined ? [] : await readHeads(heads);
      const result = await environment.withSession(({ db, keys }) =>
        verifyAccessLog(db, keys.derive('access-log'), { noted, onProgress: progress(environment) }),
      );
      environment.print(result, summary(result));
      if (!result.ok) process.exitCode = 1;
    });
}

function progress({ stderr, json }: CommandEnvironment): (entries: number) => void {
  if (json || !stderr.isTTY) return () => undefined;
  return (entries) => void stderr.write(`\r${entries} entries checked`);
}

function summary({ ok, entries, writers, faults }: VerificationResult): string {
  if (ok) return `The access log is whole: ${entries} entries in ${writers} chains, none changed or removed.`;
  const lines = faults.map(
    ({ writerId, sequence, reason }) =>
      `  chain ${writerId}${sequence === null ? '' : `, entry ${sequence}`}: ${reason}`,
  );
  return `The access log is NOT whole:\n${lines.join('\n')}`;
}

async function readHeads(path: string): Promise<NotedHead[]> {
  try {
    const { heads } = JSON.parse(await readFile(path, 'utf8')) as { heads: NotedHead[] };
    return heads.map(({ writerId, sequence, hash }) => ({ writerId, sequence, hash }));
  } catch {
    throw new UsageError('--heads must name a file with the output of: interchange access-log verify --json');
  }
}
