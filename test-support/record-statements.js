/**
 * Loaded before every process of a test run (`node --import`): writes each text of SQL that the service submits into a
 * file of STATEMENTS_FOLDER, once per process, for scripts/statement-check.ts. What tests submit themselves is left out:
 * the nearest file of the project that called tells which it is.
 */
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('..', import.meta.url).href;
const FOLDER = process.env.STATEMENTS_FOLDER;
/** They hand on what others submit. */
const PASSED_THROUGH =
  /^(?:src\/platform\/(?:db\/(?!write-watch|database-time|connection\/live-connection)|trace\/)|test-support\/database\/watched-pool)/;
const FRAMES = 40;

const [major = 0] = process.versions.node.split('.').map(Number);
// Tests also start programs under an older Node.js, which have no statements of ours.
if (FOLDER !== undefined && major >= 24) {
  const { default: pg } = await import('pg');
  const seen = new Set();
  const file = `${FOLDER}/${process.pid}-${Date.now()}.ndjson`;
  for (const { prototype } of [pg.Client, pg.Pool]) {
    const { query } = prototype;
    prototype.query = function (...given) {
      const [statement] = given;
      const text = typeof statement === 'string' ? statement : statement?.text;
      if (typeof text === 'string' && !seen.has(text)) {
        const from = caller();
        if (from !== undefined && /^(?:src|tools|local-postgres)\//.test(from) && !/\.test\.ts$/.test(from)) {
          seen.add(text);
          appendFileSync(file, `${JSON.stringify({ name: statement?.name, from, text })}\n`);
        }
      }
      return query.apply(this, given);
    };
  }
}

/** Migrations run on the coordinator, once. */
const MIGRATIONS = 'src/platform/db/migrate.ts';

/** The file that submits the statement, seen from the root of the project; undefined for what is not checked. */
function caller() {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  for (const [, url] of stack.matchAll(/(file:\/\/[^)\s]+?):\d+:\d+/g)) {
    if (!url.startsWith(ROOT) || url.includes('/node_modules/') || url === import.meta.url) continue;
    const path = fileURLToPath(url).slice(fileURLToPath(ROOT).length);
    if (path === MIGRATIONS) return undefined;
    if (!PASSED_THROUGH.test(path)) return path;
  }
  return undefined;
}
