/** What the operation of the service refuses, and how it is worded. All of it is for the command line. */
import { domainErrors } from '../platform/domain-error.ts';

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
  },
  {},
);
