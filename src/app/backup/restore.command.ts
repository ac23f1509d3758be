/** `interchange restore`. Contract: CMD-25, EXC-54. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { openDataFolder } from '../../../local-postgres/data-folder.ts';
import { isPutBackPlanned } from '../../../local-postgres/put-back.ts';
import { type CommandEnvironment, CommandError, UsageError } from '../../platform/command/command.ts';
import { createMasterKey, type MasterKeySource } from '../../platform/crypto/master-key.ts';
import { withPool } from '../../platform/db/database.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { masterKeyPath, masterKeySource, readKeyFile } from '../config/master-key.ts';
import { megabytes } from './back-up.ts';
import { type Mark, markRestored } from './mark-restored.ts';
import { type Restored, restore } from './restore.ts';
import { unlessSignalled } from './stopped-by-signal.ts';

interface Options {
  from?: string;
  keyFile?: string;
  replace?: boolean;
  mark?: boolean;
  dryRun?: boolean;
}

export function restoreCommand(environment: CommandEnvironment): Command {
  return new Command('restore')
    .description('put the embedded database back from a backup, or mark one that other tools put back')
    .option('--from <folder>', 'folder that interchange backup made')
    .option('--key-file <file>', 'file with the master key of the backup; it becomes the key of DATA_DIR')
    .option('--replace', 'replace the database that is there; it is kept beside the restored one')
    .option(
      '--mark',
      'the database was put back by other tools: number new deliveries higher, and note it in the access log',
    )
    .option('--dry-run', 'check the backup and the key, show what would be done, and do nothing')
    .addHelpText(
      'after',
      `
Stop the service first; only a dry run works beside it. The master key is that of MASTER_KEY, MASTER_KEY_FILE or
DATA_DIR, unless --key-file gives one. See docs/backup.md.

Examples:
  npx interchange restore --from /srv/backup/2026-03-01 --dry-run
  npx interchange restore --from /srv/backup/2026-03-01 --replace
  npx interchange restore --mark`,
    )
    .action(async (options: Options) => {
      const { from, mark, keyFile, replace } = options;
      if ((from === undefined) === (mark === undefined))
        throw new UsageError('Give --from with a backup, or --mark after a restore by other tools.');
      if (mark === true && (keyFile !== undefined || replace === true))
        throw new UsageError(
          '--mark changes a database that was put back already. Leave out --key-file and --replace.',
        );
      if (from === undefined) await markOnly(environment, options.dryRun === true);
      else await restoreFrom(environment, { ...options, from });
    });
}

async function restoreFrom(
  environment: CommandEnvironment,
  options: Options & { from: string },
): Promise<void> {
  const config = loadConfig(environment.env);
  if (config.database.kind === 'url')
    throw new CommandError(
      "interchange restore --from puts the embedded database back only. Restore the database of DATABASE_URL with PostgreSQL's own tools, then run: npx interchange restore --mark. See docs/backup.md.",
    );
  // An earlier restore that could not finish may have put the key aside.
  if (isPutBackPlanned(config.dataDir)) await openDataFolder(config.dataDir);
  const { dryRun = false, keyFile } = options;
  const stopped = { what: 'restore', after: 'Nothing was changed.' };
  const restored = await unlessSignalled(environment, stopped, (progress) =>
    restore({
      dataDir: config.dataDir,
      from: resolve(options.from),
      masterKey: keyOf(config, keyFile),
      keepKey: keyFile !== undefined,
      replace: options.replace === true,
      dryRun,
      now: environment.now(),
      progress,
    }),
  );
  if (restored === undefined) return;
  const { dataDir } = config;
  environment.print({ dryRun, dataDir, ...restored }, restoredText(restored, dataDir));
}

/** Unlike other commands, this one never makes a key: it would not open the backup. */
function keyOf(config: Config, keyFile: string | undefined): MasterKeySource {
  if (keyFile !== undefined) {
    if (config.masterKey.kind !== 'made')
      throw new UsageError('MASTER_KEY or MASTER_KEY_FILE is set. Leave out --key-file, or unset it.');
    return {
      name: keyFile,
      fixed: true,
      load: async () =>
        createMasterKey(await readKeyFile(`--key-file ${keyFile}`, resolve(keyFile), wrongOption)),
      remedy: async () => 'Give that key with --key-file.',
    };
  }
  const source = masterKeySource(config);
  return {
    ...source,
    async load() {
      if (config.masterKey.kind === 'made' && !existsSync(masterKeyPath(config)))
        throw new CommandError(
          `There is no master key in ${config.dataDir}. Nothing was changed. Give the master key of the backup with --key-file.`,
        );
      return source.load();
    },
  };
}

function wrongOption(fault: string): Error {
  return new CommandError(`${fault}. Nothing was changed.`);
}

function restoredText({ takenAt, sizeBytes, before, mark }: Restored, dataDir: string): string {
  if (mark === null)
    return [
      `The backup is complete and undamaged: ${megabytes(sizeBytes)}, everything up to ${takenAt}. The master key fits.`,
      before === null
        ? `It would be put into ${dataDir}.`
        : `It would replace the database in ${dataDir}, which would be kept in ${before}. That needs --replace, and the service stopped.`,
    ].join('\n');
  return [
    `The database in ${dataDir} is the backup: everything up to ${takenAt}.`,
    ...(before === null ? [] : [`The one before is in ${before}. Remove it when you no longer need it.`]),
    ...markLines(mark, false),
    'Start the service, and import again what came after the backup. See docs/backup.md, "After a restore".',
  ].join('\n');
}

async function markOnly(environment: CommandEnvironment, dryRun: boolean): Promise<void> {
  const mark = await environment.withSession(({ adminUrl, keys }) =>
    withPool({ url: adminUrl, max: 1, applicationName: 'interchange restore' }, (owner) =>
      markRestored(owner, keys, { backupTakenAt: null, dryRun }),
    ),
  );
  environment.print({ dryRun, mark }, markLines(mark, dryRun).join('\n'));
}

function markLines({ sequenceFloor, renumbered }: Mark, dryRun: boolean): string[] {
  const [are, note] = dryRun ? ['would be', 'would note'] : ['are', 'notes'];
  return [
    `New deliveries ${are} numbered above ${sequenceFloor}. Deliveries that wait and ${are} numbered anew: ${renumbered}.`,
    `The access log ${note} that the database was put back.`,
  ];
}
