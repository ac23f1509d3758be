/** `interchange access-log verify`. Contract: LOG-15. */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { progressLine } from '../../platform/command/progress-line.ts';
import { HEAD_EVENT } from '../access-log/access-log.writer.ts';
import { allChainKeys } from '../access-log/access-log-keys.ts';
import { REGISTRATION_CHANGED } from './chain-walk.ts';
import { type NotedHead, type VerificationResult, verifyAccessLog } from './verify-access-log.ts';

export function verifyAccessLogCommand(environment: CommandEnvironment): Command {
  return new Command('verify')
    .description(
      'check that nobody changed or removed an entry of the access log; exit code 1 if somebody did',
    )
    .option('--heads <file>', 'output of an earlier run with --json; the chains must still contain its heads')
    .option(
      '--archive <folder>',
      'folder with the files of all archived months; they are read and must fit the chains',
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange access-log verify --json > heads.json\n  npx interchange access-log verify --heads heads.json\n  npx interchange access-log verify --archive /srv/access-log',
    )
    .action(async ({ heads, archive }: { heads?: string; archive?: string }) => {
      const noted = heads === undefined ? [] : await readHeads(heads);
      const archiveFolder = archive === undefined ? undefined : await existingFolder(archive);
      const progress = progressLine(environment);
      const verifying = environment.withSession(({ db, keys }) =>
        verifyAccessLog(db, (on) => allChainKeys(keys, on), {
          noted,
          onProgress: (entries) => progress.show(`${entries} entries checked`),
          ...(archiveFolder === undefined ? {} : { archiveFolder }),
        }),
      );
      const result = await verifying.finally(progress.end);
      environment.print({ verifiedAt: environment.now(), ...result }, summary(result));
      if (!result.ok)
        environment.fail('The access log is not whole, or cannot be read whole. The output says more.');
    });
}

function summary(result: VerificationResult): string {
  const { ok, entries, writers, faults } = result;
  if (ok)
    return [
      `The access log is whole: ${entries} ${entries === 1 ? 'entry' : 'entries'} in ${writers} ${writers === 1 ? 'chain' : 'chains'}, none changed or removed.`,
      ...headLines(result),
      ...archiveLines(result),
      ...restoreLines(result),
    ].join('\n');
  const unread = unreadLines(result);
  if (faults.length === 0)
    return ['The access log could not be read whole. Nothing that was read was changed.', ...unread].join(
      '\n',
    );
  const lines = faults.map(
    ({ writerId, sequence, reason, archive }) =>
      `  ${archive ?? `chain ${writerId}${sequence === null ? '' : `, entry ${sequence}`}`}: ${reason}`,
  );
  const allRegistrations =
    faults.length >= writers && faults.every(({ reason }) => reason === REGISTRATION_CHANGED);
  const hint = allRegistrations
    ? '\nThe registration of every chain differs. Check that the master key is the one that the log was written with.'
    : '';
  if (faults.every(({ restoredAt }) => restoredAt !== undefined))
    return [
      'The database was put back to an older state by a restore, and the entries since the backup are not in it:',
      ...lines,
      'Nothing else was changed or removed. Note the heads anew: npx interchange access-log verify --json > heads.json',
    ].join('\n');
  return [`The access log is NOT whole:\n${lines.join('\n')}${hint}`, ...unread].join('\n');
}

function unreadLines({ organisationsUnread, entriesUnread }: VerificationResult): string[] {
  if (organisationsUnread.length === 0) return [];
  return [
    `The database refused to read the entries of these organisations: ${organisationsUnread.join(', ')}. So ${entriesUnread} entries were not checked. Run the command again when the database reads them.`,
  ];
}

function restoreLines({ restores }: VerificationResult): string[] {
  return restores.map(({ restoredAt, backupTakenAt }) => {
    const backup = backupTakenAt === null ? '' : ` to the backup of ${backupTakenAt.toISOString()}`;
    return `The operator put the database back${backup} on ${restoredAt.toISOString()}. Entries between are not in it.`;
  });
}

function headLines({ headsCompared }: VerificationResult): string[] {
  if (headsCompared === 0) return [];
  return [
    headsCompared === 1
      ? '1 noted head was compared, and is part of its chain.'
      : `${headsCompared} noted heads were compared, and are part of their chains.`,
  ];
}

function archiveLines({ archived, headsInArchives }: VerificationResult): string[] {
  const { months, entries, filesChecked, filesRead } = archived;
  if (months.length === 0) return filesChecked ? ['No month was archived, so no archive file was read.'] : [];
  const span = months.length === 1 ? months[0] : `${months[0]} to ${months.at(-1)}`;
  if (filesChecked)
    return [
      `${filesRead} archive ${filesRead === 1 ? 'file was' : 'files were'} read.`,
      `The archive files of ${span} are whole too: ${entries} entries, which fit the chains.`,
    ];
  const heads =
    headsInArchives === 0 ? '' : ` ${headsInArchives} of the heads from the earlier run are in them.`;
  return [
    `${entries} more entries are in archive files (${span}).${heads} Check the files with --archive <folder>.`,
  ];
}

async function existingFolder(path: string): Promise<string> {
  const folder = resolve(path);
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() === true) return folder;
  throw new UsageError(
    `--archive ${folder} is not a folder. Name the folder that interchange access-log archive --out wrote to.`,
  );
}

async function readHeads(path: string): Promise<NotedHead[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const heads = parseHeads(text);
  if (heads === undefined)
    throw new UsageError(
      '--heads must name a file with the output of interchange access-log verify --json, or with the access-log.head lines of the service log.',
    );
  return heads;
}

/** The document of an earlier run, or log lines of the service with its heads among others. */
function parseHeads(text: string): NotedHead[] | undefined {
  const document = parseJson(text) as { heads?: unknown; verifiedAt?: unknown } | null | undefined;
  if (Array.isArray(document?.heads)) {
    const at = noteTime(document.verifiedAt);
    return document.heads.every(isHead) ? document.heads.map((head) => ({ ...head, ...at })) : undefined;
  }
  const heads = text.split('\n').flatMap(headOfLine);
  return heads.length > 0 && heads.every(isHead) ? heads : undefined;
}

interface LoggedHead {
  event?: string;
  time?: string;
  writerId: string;
  count: number;
  hash: string;
}

function headOfLine(line: string): NotedHead[] {
  const logged = parseJson(line) as LoggedHead | null | undefined;
  if (logged?.event !== HEAD_EVENT) return [];
  const { writerId, count, hash, time } = logged;
  return [{ writerId, sequence: count, hash, ...noteTime(time) }];
}

function noteTime(text: unknown): { notedAt?: Date } {
  const notedAt = new Date(typeof text === 'string' ? text : Number.NaN);
  return Number.isNaN(notedAt.getTime()) ? {} : { notedAt };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isHead(head: unknown): head is NotedHead {
  const { writerId, sequence, hash } = (head ?? {}) as Partial<NotedHead>;
  return typeof writerId === 'string' && Number.isInteger(sequence) && typeof hash === 'string';
}
