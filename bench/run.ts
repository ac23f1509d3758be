/** npm run bench: `--help` says what it takes, docs/performance.md how it measures. */
import type { Bench, Part } from './bench.ts';
import { openServer } from './databases.ts';
import { helpText, readOptions } from './options.ts';
import { bundlePart } from './parts/bundle.ts';
import { costs } from './parts/costs.ts';
import { deliveries } from './parts/deliveries.ts';
import { encounters } from './parts/encounters.ts';
import { fetches } from './parts/fetches.ts';
import { growth } from './parts/growth.ts';
import { importFiles } from './parts/import.ts';
import { lab } from './parts/lab.ts';
import { logins } from './parts/logins.ts';
import { memory } from './parts/memory.ts';
import { patients } from './parts/patients.ts';
import { processes } from './parts/processes.ts';
import { profile } from './parts/profile.ts';
import { publish } from './parts/publish.ts';
import { refresh } from './parts/refresh.ts';
import { start } from './parts/start.ts';
import { asMarkdown, asText, type ReportRow, whatWasMeasured } from './report.ts';

const PARTS: readonly Part[] = [
  encounters,
  lab,
  fetches,
  patients,
  growth,
  logins,
  refresh,
  deliveries,
  publish,
  importFiles,
  bundlePart,
  memory,
  start,
  processes,
  costs,
  profile,
];

async function main(): Promise<void> {
  const options = readOptions(
    process.argv.slice(2),
    PARTS.map(({ name }) => name),
  );
  if (options.help) return say(helpText(PARTS));
  const rows: ReportRow[] = [];
  const server = await openServer();
  try {
    const bench: Bench = { options, serverUrl: server.url, say };
    for (const part of PARTS.filter(({ name }) => options.parts.includes(name))) {
      const startedMs = performance.now();
      say(`\n${part.name}`);
      for (const row of await part.measure(bench)) rows.push({ part: part.name, ...row });
      say(`took ${Math.round((performance.now() - startedMs) / 1_000)} s`);
    }
  } finally {
    await server.release();
  }
  say(`\n${whatWasMeasured(options)}\n`);
  say(options.markdown ? asMarkdown(rows) : asText(rows));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();
