/** The files of the console, as web/build.ts left them in web/dist: each as it is, and compressed. */
import { globSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { WEB_FOLDER } from './console-build.ts';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

export interface ConsoleFile {
  contentType: string;
  plain: Buffer;
  gzip: Buffer | undefined;
  br: Buffer | undefined;
}

export interface ConsoleFiles {
  index: string;
  /** By their name below the console, such as `assets/index-C0ffee.js`. */
  assets: ReadonlyMap<string, ConsoleFile>;
}

/** Reads them at the first call, and again after they were built anew. undefined while there are none. */
export function createConsoleFiles(dist = join(WEB_FOLDER, 'dist')): () => ConsoleFiles | undefined {
  let held: { files: ConsoleFiles; builtAt: number } | undefined;
  return () => {
    const builtAt = statSync(join(dist, 'index.html'), { throwIfNoEntry: false })?.mtimeMs;
    if (builtAt === undefined) return undefined;
    if (held?.builtAt !== builtAt) held = { files: readFiles(dist), builtAt };
    return held.files;
  };
}

function readFiles(dist: string): ConsoleFiles {
  const names = globSync('assets/*', { cwd: dist }).map((name) => name.replaceAll('\\', '/'));
  const assets = new Map<string, ConsoleFile>();
  const bytesOf = (name: string) => (names.includes(name) ? readFileSync(join(dist, name)) : undefined);
  for (const name of names) {
    const contentType = MEDIA_TYPES[extname(name)];
    const plain = contentType === undefined ? undefined : bytesOf(name);
    if (contentType === undefined || plain === undefined) continue;
    assets.set(name, { contentType, plain, gzip: bytesOf(`${name}.gz`), br: bytesOf(`${name}.br`) });
  }
  return { index: readFileSync(join(dist, 'index.html'), 'utf8'), assets };
}
