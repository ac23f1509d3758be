import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Make a folder and those above it; false when it was there. `mkdir` with `recursive` is not used: it tries for ever
 * in a file system that takes no new folders, such as /proc.
 */
export async function makeFolder(path: string, mode?: number): Promise<boolean> {
  const make = () => mkdir(path, mode).then(() => true);
  const above = dirname(path);
  try {
    return await make().catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT' || above === path) throw error;
      await makeFolder(above, mode);
      return make();
    });
  } catch (error) {
    // It was there, or another process has just made it. The code is not always EEXIST: a root folder has others.
    if (await isFolder(path)) return false;
    throw error;
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
