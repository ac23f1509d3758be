// Builds the console where its tools are installed: for npm ci and npm start. Without them the service runs without it.
import { createRequire } from 'node:module';

const TYPESCRIPT_SINCE = 24;

const major = Number.parseInt(process.versions.node, 10);
if (major < TYPESCRIPT_SINCE) leave(`Node.js ${process.version} cannot build it`);
else if (!isInstalled('vite')) leave('its tools are not installed (npm ci without --omit=dev installs them)');
else await import('./build.ts').catch((error) => leave(error.message));

/** @param {string} reason */
function leave(reason) {
  process.stderr.write(`The console is not built: ${reason}. The service runs without it.\n`);
}

/** @param {string} name */
function isInstalled(name) {
  try {
    createRequire(import.meta.url).resolve(`${name}/package.json`);
    return true;
  } catch {
    return false;
  }
}
