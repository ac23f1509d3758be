/**
 * Locks between processes that the operating system frees when their holder dies, however it dies.
 *
 * Node.js has no file locks of its own; an SQLite connection takes them on every platform. The file stays
 * empty.
 */

import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const SQLITE_BUSY = 5;
const POLL_MS = 25;

export interface FileLock {
  release(): void;
}

/** Take the lock at `path` now, or return nothing. Shared locks exclude exclusive ones, here and in other processes. */
export function tryLock(path: string, mode: 'shared' | 'exclusive'): FileLock | undefined {
  const connection = new DatabaseSync(path, { timeout: 0 });
  try {
    // Else a lock needs room on the disk.
    connection.exec('pragma journal_mode = memory');
    if (mode === 'exclusive') connection.exec('begin exclusive');
    else connection.exec('begin; select count(*) from sqlite_master');
    return { release: () => (connection.isOpen ? connection.close() : undefined) };
  } catch (error) {
    connection.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

/** Wait for an exclusive lock; nothing when it is not free within `timeoutMs`. */
export async function waitForLock(path: string, timeoutMs: number): Promise<FileLock | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const lock = tryLock(path, 'exclusive');
    if (lock !== undefined || performance.now() > deadline) return lock;
    await sleep(POLL_MS);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;
}
