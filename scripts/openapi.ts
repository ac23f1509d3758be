/** Writes openapi.json from the routes, or with `--check` fails when the file differs. */
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApi } from '../src/app/build-api.ts';
import { loadConfig } from '../src/app/config/config.ts';
import { buildRuntime } from '../src/app/runtime/build-runtime.ts';
import { openDatabase, openKeys, requireSchema } from '../src/app/runtime/open-database.ts';
import { createLog } from '../src/platform/log/log.ts';

const LINE_LENGTH = 200;
const FILE = new URL('../openapi.json', import.meta.url);

async function generate(): Promise<string> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'interchange-openapi-'));
  const config = loadConfig({ DATA_DIR: folder.path, LOG_LEVEL: 'silent' });
  const log = createLog('silent');
  const opened = await openDatabase(config, log);
  try {
    await requireSchema(opened, config);
    const { keys } = await openKeys(opened, config);
    const runtime = await buildRuntime({ config, log, now: () => new Date(), url: opened.url, keys });
    const { server, openApi } = await buildApi(runtime);
    const document = openApi();
    await server.close();
    await runtime.close();
    return `${written(document)}\n`;
  } finally {
    await opened.release();
  }
}

/** JSON with one line for what fits in one. It is not indented: that alone would be a tenth of the file. */
function written(value: unknown): string {
  const line = JSON.stringify(value);
  if (value === null || typeof value !== 'object' || line.length <= LINE_LENGTH) return line;
  const members = Array.isArray(value)
    ? value.map(written)
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${written(one)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${members.join(',\n')}\n${close}`;
}

const document = await generate();
if (!process.argv.includes('--check')) await writeFile(FILE, document);
else if (document !== (await readFile(FILE, 'utf8').catch(() => ''))) {
  process.stderr.write('openapi.json does not match the routes. Run: npm run openapi\n');
  process.exitCode = 1;
}
