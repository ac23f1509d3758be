/**
 * An embedded PostgreSQL on a file system of its own that is small enough to fill. The file system is mounted where
 * only the processes of the server see it, so that nothing is left behind, and an ordinary user may do it, too.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Holder, openElsewhere } from './embedded.ts';

export interface SmallDisk {
  /** Of the owner of the database. */
  url: string;
  /** Takes what is left of the room. */
  fill(): Promise<void>;
  /** Gives it back. */
  free(): Promise<void>;
  close(): Promise<void>;
}

const SIZE = '192m';
/** For unshare: what is mounted is seen by the process alone. */
export const OWN_MOUNTS = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount'];

/** Why this system does not let a test mount a file system; undefined when it does. */
export function whyNoSmallDisk(): string | undefined {
  const mount = ['mount', '-t', 'tmpfs', 'none', tmpdir()];
  return works(mount)
    ? undefined
    : 'this system lets no process mount a file system of its own (unshare --mount)';
}

/** Why this system does not let a test limit its own shared memory; undefined when it does. */
export function whyNoMemoryLimit(): string | undefined {
  const limit = ['--ipc', 'sh', '-c', 'echo 0 > /proc/sys/kernel/shmmni'];
  return works(limit)
    ? undefined
    : 'this system lets no process limit shared memory of its own (unshare --ipc)';
}

function works(program: readonly string[]): boolean {
  return spawnSync('unshare', [...OWN_MOUNTS, ...program]).status === 0;
}

export async function openSmallDisk(): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'interchange-disk-'));
  const mount = `mount -t tmpfs -o size=${SIZE},mode=711 none "${folder}" && exec "$@"`;
  const holder: Holder = await openElsewhere(join(folder, 'data'), [
    'unshare',
    ...OWN_MOUNTS,
    'sh',
    '-c',
    mount,
    'sh',
  ]);
  const ballast = join('/proc', String(holder.process.pid), 'root', folder, 'ballast');
  return {
    url: holder.url,
    async fill() {
      const file = await open(ballast, 'a');
      try {
        for (let sizeBytes = 2 ** 20; sizeBytes >= 1; )
          await file.write(Buffer.alloc(sizeBytes)).catch(({ code }: NodeJS.ErrnoException) => {
            if (code !== 'ENOSPC') throw new Error(`The ballast cannot be written (${code}).`);
            sizeBytes /= 2;
          });
      } finally {
        await file.close();
      }
    },
    free: () => rm(ballast),
    async close() {
      await holder.release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
