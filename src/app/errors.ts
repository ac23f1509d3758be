/** What the operation of the service refuses, and how it is worded. All of it is for the command line. */
import { domainErrors } from '../platform/domain-error.ts';

/** Why a file was not made, by the code of the system. */
const NOT_WRITTEN: Readonly<Record<string, string>> = {
  EEXIST: 'the file exists already: use it with --new-key-file, or name another file',
  ENOENT: 'its folder does not exist: make it, or name another file',
};

const anotherHost = (option: string) =>
  `Give an address of this machine with ${option}, such as 127.0.0.1 or 0.0.0.0.`;

export const appError = domainErrors(
  {
    backup_exists: {
      text: ({ folder }: { folder: string }) =>
        `${folder} exists, and was not changed. Name a folder that does not exist yet.`,
    },
    backup_in_data_folder: {
      text: ({ folder, dataDir }: { folder: string; dataDir: string }) =>
        `${folder} is in the data folder ${dataDir}, and was not made. Name a folder outside, best on another disk.`,
    },
    backup_running: {
      text: ({ draft }: { draft: string }) =>
        `Another backup writes to ${draft} at the moment. Wait for it, or name another folder.`,
    },
    draft_in_use: {
      text: ({ draft }: { draft: string }) =>
        `Another process uses the database in ${draft}. Stop it, then try again.`,
    },
    draft_of_others: {
      text: ({ draft }: { draft: string }) =>
        `${draft} exists and is not what a killed backup of this user left. It was not changed. Move it away, or name another folder with --to.`,
    },
    backup_not_writable: {
      text: ({ folder, code }: { folder: string; code: string | undefined }) =>
        code === 'ENOENT'
          ? `The folder ${folder} does not exist. Make it, or name another one with --to.`
          : `The folder ${folder} cannot be written to (${code}). Name another one with --to.`,
    },
    no_space_for_backup: {
      text: ({ needed, folder, free }: { needed: string; folder: string; free: string }) =>
        `The backup needs ${needed}, but ${folder} has ${free} free. Free some space, or name another disk with --to.`,
    },
    name_not_kept: {
      text: ({ path }: { path: string }) =>
        `The database folder holds ${JSON.stringify(path)}, a name that a backup cannot keep. Move it away, then try again.`,
    },
    no_backup: {
      text: ({ folder, code }: { folder: string; code: string | undefined }) =>
        `${folder} is not a complete backup: its manifest.json cannot be read (${code}). Name a folder that interchange backup finished.`,
    },
    unknown_manifest: {
      text: ({ folder }: { folder: string }) =>
        `The manifest.json of ${folder} is damaged, or a newer version of interchange wrote it. Nothing was changed. Use another backup, or that version.`,
    },
    bad_path_in_manifest: {
      text: ({ folder, path }: { folder: string; path: string }) =>
        `The manifest.json of ${folder} names ${JSON.stringify(path)}, which is no path of a backup. Nothing was changed. Use another backup.`,
    },
    backup_damaged: {
      text: ({ folder, path }: { folder: string; path: string }) =>
        `The backup in ${folder} is damaged: ${path} is missing or was changed. Nothing was changed. Use another backup.`,
    },
    key_of_another_backup: {
      text: ({ name, id, needed }: { name: string; id: string; needed: readonly string[] }) =>
        `${name} is key ${id}, but the backup needs master key ${needed.join(' or ')}. Nothing was changed. Give that key with --key-file.`,
    },
    database_in_use: {
      text: ({ dataDir }: { dataDir: string }) =>
        `The database in ${dataDir} is in use. Nothing was changed. Stop the service and every command, then try again.`,
    },
    database_present: {
      text: ({ dataDir }: { dataDir: string }) =>
        `There is a database in ${dataDir} already. Nothing was changed. To replace it, add --replace: it is then kept beside the restored one.`,
    },
    mount_in_the_way: {
      text: ({ mount, folder }: { mount: string; folder: string }) =>
        `${mount} is mounted by itself or on another file system, so a restore cannot replace it. Nothing was changed. Mount the whole folder ${folder} instead, then try again.`,
    },
    no_space_for_restore: {
      text: ({ needed, folder, free }: { needed: string; folder: string; free: string }) =>
        `The restore needs ${needed}, but ${folder} has ${free} free. Nothing was changed. Free some space, then try again.`,
    },
    clock_behind_restore: {
      text: ({ now, earlier }: { now: Date; earlier: Date }) =>
        `The clock of the database says ${now.toISOString()}, but an earlier restore was marked at ${earlier.toISOString()} or later. Nothing was changed. Correct the clock, then try again.`,
    },
    unmarked_copy: {
      text: ({ fault }: { fault: string }) =>
        `${fault} Say so with: npx interchange restore --mark. See docs/backup.md, "After a restore".`,
    },
    no_new_key: {
      exitCode: 2,
      text: 'Say where the new master key comes from: give one of --new-key-file, --new-key-stdin and --write-new-key-file.',
    },
    bad_new_key: {
      exitCode: 2,
      text: ({ fault }: { fault: string }) => `The key on standard input ${fault}.`,
    },
    new_key_not_written: {
      text: ({ path, code }: { path: string; code: string | undefined }) =>
        `The new key cannot be written to ${path} (${NOT_WRITTEN[code ?? ''] ?? code}). Nothing was changed.`,
    },
    new_key_in_use: {
      text: 'The new master key is the key in use. Make another one with: openssl rand -hex 32',
    },
    other_rotation: {
      text: ({ pending, given }: { pending: string; given: string }) =>
        `A rotation to another master key, ${pending}, is not finished. The key given is ${given}. Nothing was changed. Configure key ${pending} and run --finish, or configure the old key and run --cancel.`,
    },
    resealing_refused: {
      text: 'The database refused while everything was sealed again. Nothing was changed. Its log says why. Run --finish again when all of it answers.',
    },
    no_rotation: {
      text: ({ id }: { id: string }) =>
        `No rotation of the master key is under way: key ${id} alone opens the database. If that is the key that you want, there is nothing left to do. To see how to begin one, run: npx interchange master-key rotate --help`,
    },
    old_key_configured: {
      text: ({ old, newer }: { old: string; newer: string }) =>
        `The configured key is the old master key ${old}, but --finish needs the new one. Nothing was changed. Set MASTER_KEY or MASTER_KEY_FILE to key ${newer}, then run --finish again. Or undo the rotation with --cancel.`,
    },
    new_key_configured: {
      text: ({ name, id }: { name: string; id: string }) =>
        `${name} is the new master key ${id}, but --cancel needs the old one. Nothing was changed. Set ${name} to the old key, then run --cancel again.`,
    },
    held_by_processes: {
      text: ({ id, holders }: { id: string; holders: readonly string[] }) =>
        `${holders.length} process(es) of the service do not have master key ${id}: ${holders.join('; ')}. Nothing was changed. Restart them with that key, then run this command again. They keep working until then.`,
    },
    tables_not_placeable: {
      text: ({ problems }: { problems: readonly string[] }) =>
        ['The tables cannot be placed.', ...problems.map((problem) => `  - ${problem}`)].join('\n'),
    },
    service_connected: {
      text: ({ sessions }: { sessions: readonly { name: string; sessions: number }[] }) =>
        `The service is connected to the database: ${sessions.map(({ name, sessions: count }) => `${name} (${count})`).join(', ')}. Its calls would fail while tables move. Stop every process of the service, then run this again.`,
    },
    table_not_placed: {
      text: ({ table, code }: { table: string; code: unknown }) =>
        `Table ${table} was not placed${typeof code === 'string' ? ` (${code})` : ''}. The log of the coordinator says why. Mend that, then run interchange scale-out again: it goes on with this table.`,
    },
    schema_too_old: {
      text: ({ missing }: { missing: readonly string[] }) =>
        `The database schema is too old: ${missing.length} migration(s) are missing, from ${missing[0]} on. Run: npx interchange migrate`,
    },
    service_role: {
      text: ({ fault }: { fault: string }) => `${fault} Run: npx interchange migrate`,
    },
    service_user: {
      text: ({ text, remedy }: { text: string; remedy: string }) => `${text} ${remedy}`,
    },
    process_ended: {
      text: 'A process of the service ended while it started. Its own message above says why.',
    },
    address_in_use: {
      text: ({ host, port, option }: { host: string; port: number; option: string }) =>
        `Another program uses ${host}:${port}. Choose another port with ${option}.`,
    },
    port_not_allowed: {
      text: ({ port, option }: { port: number; option: string }) =>
        `This user may not listen on port ${port}. Choose a port of 1024 or more with ${option}.`,
    },
    address_not_here: {
      text: ({ host, option }: { host: string; option: string }) =>
        `This machine does not have the address ${host}. ${anotherHost(option)}`,
    },
    host_unknown: {
      text: ({ host, option }: { host: string; option: string }) =>
        `The host name ${host} is unknown. ${anotherHost(option)}`,
    },
  },
  {},
);
