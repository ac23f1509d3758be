/** `interchange backup`. Contract: CMD-25. */
import { existsSync } from 'node:fs';
import { access, constants, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { openDataFolder } from '../../../local-postgres/data-folder.ts';
import { isPutBackPlanned } from '../../../local-postgres/put-back.ts';
import { type CommandEnvironment, CommandError, UsageError } from '../../platform/command/command.ts';
import { shellWord } from '../../platform/command/shell-word.ts';
import { loadConfig } from '../config/config.ts';
import { masterKeySource } from '../config/master-key.ts';
import { backUp, megabytes } from './back-up.ts';
import { sizeOf } from './manifest.ts';
import { unlessSignalled } from './stopped-by-signal.ts';

interface Options {
  to: string;
  writeKeyFile?: string;
}

export function backupCommand(environment: CommandEnvironment): Command {
  return new Command('backup')
    .description('back up the embedded database, while the service runs or not, and prove that it starts')
    .requiredOption('--to <folder>', 'new folder of the backup')
    .option('--write-key-file <file>', 'also write the master key to this new file, outside of the backup')
    .addHelpText(
      'after',
      `
A backup is of no use without the master key, which is not in it. Keep the key elsewhere.
A database of DATABASE_URL is backed up with PostgreSQL's own tools. See docs/backup.md.

Example:
  npx interchange backup --to /srv/backup/2026-03-01`,
    )
    .action((options: Options) => run(environment, options));
}

async function run(environment: CommandEnvironment, options: Options): Promise<void> {
  const config = loadConfig(environment.env);
  if (config.database.kind === 'url')
    throw new CommandError(
      `interchange backup copies the embedded database only. Back up the database of DATABASE_URL with PostgreSQL's own tools, as docs/backup.md says: pg_dump reads the connection from a service file. Its arguments are no place for a password, because every user of the machine can read them.`,
    );
  if (isPutBackPlanned(config.dataDir)) await openDataFolder(config.dataDir);
  if (!existsSync(join(config.dataDir, 'postgresql')))
    throw new CommandError(
      `There is no database in ${config.dataDir}. Set DATA_DIR to the folder that has one.`,
    );
  const folder = resolve(options.to);
  const keyFile = options.writeKeyFile === undefined ? undefined : resolve(options.writeKeyFile);
  if (keyFile !== undefined) await refuseKeyFile(keyFile, folder);
  const masterKey = masterKeySource(config);
  const { dataDir } = config;
  const stopped = { what: 'backup', after: 'What it had copied was removed.' };
  const backup = await unlessSignalled(environment, stopped, (progress) =>
    backUp({ dataDir, folder, masterKey, progress }),
  );
  if (backup === undefined) return;
  if (keyFile !== undefined) await writeKeyFile(keyFile, { ...backup.masterKey, folder });
  const { manifest } = backup;
  const { takenAt, masterKeyIds } = manifest;
  const sizeBytes = sizeOf(manifest);
  environment.print(
    { folder, takenAt, sizeBytes, masterKeyIds, keyFile: keyFile ?? null },
    [
      `${folder} is a complete backup: ${megabytes(sizeBytes)}, everything up to ${takenAt}. A server started on it.`,
      keyFile === undefined
        ? `It needs the master key ${masterKeyIds.join(' or ')}, which is not in it. Keep that key elsewhere.`
        : `It needs the master key in ${keyFile}. Keep that file apart from the backup.`,
      `To replace this database with it: npx interchange restore --from ${shellWord(folder)} --replace`,
    ].join('\n'),
  );
}

/** Before the copying, which may take long. */
async function refuseKeyFile(keyFile: string, folder: string): Promise<void> {
  if (!relative(folder, keyFile).startsWith('..'))
    throw new UsageError(
      '--write-key-file must not be in the folder of the backup: the key opens what is there.',
    );
  if (existsSync(keyFile)) throw new CommandError(`${keyFile} exists, and was not changed. Name a new file.`);
  await access(dirname(keyFile), constants.W_OK | constants.X_OK).catch(({ code }: NodeJS.ErrnoException) => {
    throw new CommandError(
      code === 'ENOENT'
        ? `The folder ${dirname(keyFile)} does not exist, so nothing was copied. Make it, or name another one with --write-key-file.`
        : `The folder ${dirname(keyFile)} cannot be written to (${code}), so nothing was copied. Name another one with --write-key-file.`,
    );
  });
}

async function writeKeyFile(
  keyFile: string,
  { bytes, folder }: { bytes: Buffer; folder: string },
): Promise<void> {
  const options = { mode: 0o600, flag: 'wx', flush: true };
  await writeFile(keyFile, `${bytes.toString('hex')}\n`, options).catch(({ code }: NodeJS.ErrnoException) => {
    throw new CommandError(
      `${folder} is a complete backup, but the master key could not be written to ${keyFile} (${code}). Keep the key yourself: it is where MASTER_KEY, MASTER_KEY_FILE or DATA_DIR has it.`,
    );
  });
}
