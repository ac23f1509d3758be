import { open } from 'node:fs/promises';

/** The names in a folder are on the disk when this resolves, as its files are once they are flushed. Windows has no such thing. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}
