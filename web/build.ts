/**
 * Builds the console into web/dist, each file compressed beside it: `npm run console:build`. With `--if-needed`, only where
 * its sources are newer. What it makes is served by src/app/console/.
 */
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { consoleBuild, WEB_FOLDER } from '../src/app/console/console-build.ts';

const DIST = join(WEB_FOLDER, 'dist');
/** Nearly as small as at 11, in a twentieth of the time. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

async function build(): Promise<void> {
  const { build: buildWithVite } = await import('vite');
  const startedAt = new Date();
  await buildWithVite({ configFile: join(WEB_FOLDER, 'vite.config.ts') });
  const assets = join(DIST, 'assets');
  for (const name of readdirSync(assets)) {
    const bytes = readFileSync(join(assets, name));
    writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }));
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes, BROTLI));
  }
  // What changes from now on is newer.
  utimesSync(join(DIST, 'index.html'), startedAt, startedAt);
}

if (!process.argv.includes('--if-needed') || consoleBuild() !== 'built') await build();
