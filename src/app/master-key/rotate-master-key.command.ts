/** `interchange master-key rotate` */
import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import type { MasterKeySource } from '../../platform/crypto/master-key.ts';
import type { Resealed } from '../../platform/crypto/sealed-table.ts';
import { ADVISORY_LOCKS } from '../../platform/db/advisory-locks.ts';
import { type Pool, transaction, withPool } from '../../platform/db/database.ts';
import { loadConfig } from '../config/config.ts';
import { masterKeyPath } from '../config/master-key.ts';
import { openKeys, requireSchema, withDatabase } from '../runtime/open-database.ts';
import { type NewKeyOptions, nextKey, previousPath, readNewKey, replaceKeyFile } from './new-key.ts';
import {
  addMasterKey,
  cancelRotation,
  finishRotation,
  planRotation,
  readRotation,
} from './rotate-master-key.ts';

interface Options extends NewKeyOptions {
  finish?: boolean;
  cancel?: boolean;
  dryRun?: boolean;
}

/** What a rotation works on. */
interface Site {
  environment: CommandEnvironment;
  options: Options;
  owner: Pool;
  source: MasterKeySource;
  /** The key file that belongs to the embedded database; undefined where the operator keeps the key. */
  ownFile: { dataDir: string; path: string } | undefined;
}

export function rotateMasterKeyCommand(environment: CommandEnvironment): Command {
  return new Command('rotate')
    .description('replace the master key while the service runs, and seal every secret again')
    .option('--new-key-file <file>', 'file that contains the new key')
    .option('--new-key-stdin', 'read the new key from standard input')
    .option(
      '--write-new-key-file <file>',
      'create the new key and write it to this file, which must not exist',
    )
    .option(
      '--finish',
      'last step, with the new key configured: refuse the old key and seal every secret again',
    )
    .option('--cancel', 'undo, with the old key configured: refuse the new key')
    .option('--dry-run', 'show what would be done, and do nothing')
    .addHelpText(
      'after',
      `
With the embedded database one call does everything, and takes no option. Otherwise, with the old key configured:

  npx interchange master-key rotate --write-new-key-file new.key

Both keys work now. Give every process the new key: replace the file of MASTER_KEY_FILE, which needs no restart, or
restart with the new MASTER_KEY, one process after another. Then, with the new key configured:

  npx interchange master-key rotate --finish

See docs/operations.md, "The master key".

Example:
  npx interchange master-key rotate --dry-run`,
    )
    .action((options: Options) => withSite(environment, options, rotate));
}

async function withSite(
  environment: CommandEnvironment,
  options: Options,
  work: (site: Site) => Promise<void>,
): Promise<void> {
  const config = loadConfig(environment.env);
  refuseContradictions(options, config.masterKey.kind === 'made');
  await withDatabase(config, async (opened) => {
    await requireSchema(opened, config);
    await (await openKeys(opened, config)).keys.close();
    const { dataDir, masterKey } = config;
    const ownFile = masterKey.kind === 'made' ? { dataDir, path: masterKeyPath(config) } : undefined;
    await withPool({ url: opened.url, max: 2, applicationName: 'interchange keys' }, (owner) =>
      work({ environment, options, owner, source: opened.masterKey, ownFile }),
    );
  });
}

function refuseContradictions(
  { finish, cancel, newKeyFile, newKeyStdin, writeNewKeyFile }: Options,
  isOwnFile: boolean,
): void {
  if (finish === true && cancel === true) throw new UsageError('Give --finish or --cancel, not both.');
  if (newKeyFile === undefined && newKeyStdin === undefined && writeNewKeyFile === undefined) return;
  if (finish === true || cancel === true)
    throw new UsageError('--finish and --cancel use the configured key. Leave out the options of a new key.');
  if (isOwnFile)
    throw new UsageError(
      'This command creates the key of the embedded database itself. Leave out the options of a new key.',
    );
}

async function rotate(site: Site): Promise<void> {
  const { options, owner, ownFile } = site;
  if (options.dryRun === true) return showPlan(site);
  if (ownFile !== undefined)
    return transaction(owner, async (client) => {
      // Two at once would take the key files from each other.
      await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.keyFile]);
      return options.cancel === true ? cancel(site) : rotateOwnFile(site, ownFile);
    });
  if (options.cancel === true) return cancel(site);
  return options.finish === true ? finish(site) : begin(site);
}

async function begin({ environment, options, owner, source }: Site): Promise<void> {
  const old = await source.load();
  const added = await readNewKey(options, environment.stdin);
  const { dataKeys } = await addMasterKey(owner, source, added);
  environment.print(
    { masterKeyId: added.key.id, oldMasterKeyId: old.id, dataKeys, finished: false },
    `Master keys ${added.key.id} (new) and ${old.id} (old) both open the database now.
Next:
  1. Give every process of the service the new key: set MASTER_KEY, or replace the file of MASTER_KEY_FILE, and restart
     them one after another. Processes with the old key keep working until then.
  2. With the new key configured, run: npx interchange master-key rotate --finish`,
  );
}

/** Each step leaves a key file that opens the database; an interrupted call is done again. */
async function rotateOwnFile(
  site: Site,
  { dataDir, path }: { dataDir: string; path: string },
): Promise<void> {
  const { owner, source, options } = site;
  const { masterKeyIds } = await readRotation(owner);
  const isReplaced = masterKeyIds.length > 1 && masterKeyIds[0] === (await source.load()).id;
  if (!isReplaced && options.finish !== true) {
    await addMasterKey(owner, source, await nextKey(dataDir, path));
    await replaceKeyFile(dataDir, path);
  }
  await finish(site);
}

async function finish({ environment, owner, source, ownFile }: Site): Promise<void> {
  const resealed = await finishRotation(owner, source);
  const { id } = await source.load();
  const kept = ownFile === undefined ? 'The old key' : `The old key, in ${previousPath(ownFile.path)},`;
  environment.print(
    { masterKeyId: id, finished: true, resealed },
    `Master key ${id} is now the only one that opens the database. Sealed again:
${resealed.map(describe).join('\n')}
${kept} opens only older backups. Keep it with them, or destroy it.
If it leaked together with a copy of the database, the secrets in that copy are known too. Then replace them as well:
key rotate --revoke-others, connection rotate-secret, target rotate-secret.`,
  );
}

function describe({ name, resealed, unreadable }: Resealed): string {
  const left =
    unreadable === 0 ? '' : `; ${unreadable} more cannot be opened with any key and were not changed`;
  return `  ${resealed} ${name}${left}`;
}

async function cancel({ environment, owner, source }: Site): Promise<void> {
  await cancelRotation(owner, source);
  const { id } = await source.load();
  environment.print(
    { masterKeyId: id, cancelled: true },
    `Master key ${id} is again the only one that opens the database.`,
  );
}

async function showPlan({ environment, owner, source }: Site): Promise<void> {
  const { id } = await source.load();
  const { masterKeyIds, dataKeys } = await readRotation(owner);
  const { sealed, otherHolders } = await planRotation(owner, id);
  environment.print(
    { dryRun: true, masterKeyId: id, masterKeyIds, dataKeys, sealed, otherHolders },
    `Master key ${id} is configured. The database opens with: ${masterKeyIds.join(', ')}.
A rotation would seal again:
${sealed.map(({ name, rows }) => `  ${rows} ${name}`).join('\n')}
Processes of the service that do not have key ${id}: ${otherHolders.join('; ') || 'none'}.
Nothing was changed.`,
  );
}
