/**
 * `interchange import` of copies of real files, into an empty organisation in each round, beside floor (d). The times
 * are of the whole command, its start included.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportDocument } from '../../src/records/import/import-report.ts';
import type { Bench, Part, Row } from '../bench.ts';
import { compare } from '../compare.ts';
import { withTemporaryDatabase } from '../databases.ts';
import { copyFiles } from '../floors/copy-files.ts';
import { describe, rateOf } from '../measure.ts';
import { writeCopies } from '../records/copies.ts';
import { environmentOf, withService } from '../records/open-records.ts';
import { createPlace, type Place } from '../records/sign-in.ts';
import { times } from '../report.ts';
import { runCommand } from '../service.ts';
import { inMb } from './memory.ts';

export const DEMO_RECORDS = new URL('../../demo/records/', import.meta.url).pathname;

export const importFiles: Part = {
  name: 'import',
  summary: 'import of files: resources a second, and memory',
  async measure(bench) {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'interchange-bench-'));
    bench.say(`writing ${bench.options.copies} copies …`);
    await writeCopies(bench.options.importData ?? DEMO_RECORDS, folder.path, bench.options.copies);
    return await withTemporaryDatabase(bench.serverUrl, (url) => measureImport(bench, url, folder.path));
  },
};

async function measureImport(bench: Bench, databaseUrl: string, folder: string): Promise<Row[]> {
  let peakMb: number | undefined;
  let rejected = 0;
  let types: ReadonlySet<string> = new Set();
  const result = await compare(bench, {
    import: async () => {
      const place = await emptyPlace(databaseUrl);
      const done = await runCommand<ImportDocument>(
        ['import', '--organisation', place.organisationId, '--facility', place.facilityId, folder],
        environmentOf(databaseUrl),
      );
      if (done.peakMb !== undefined) peakMb = Math.max(peakMb ?? 0, done.peakMb);
      rejected = done.document.rejectedCount;
      types = new Set(Object.keys(done.document.resources));
      const taken = Object.values(done.document.resources).reduce((sum, count) => sum + count, 0);
      return rateOf(taken, done.seconds);
    },
    d: async () => {
      const startedMs = performance.now();
      const rows = await copyFiles(databaseUrl, await emptyPlace(databaseUrl), { folder, types });
      return rateOf(rows, (performance.now() - startedMs) / 1_000);
    },
  });
  const refused = rejected === 0 ? '' : `; ${rejected} REJECTED`;
  return [
    {
      what: `Import, ${bench.options.copies} copies of ${bench.options.importData === undefined ? 'the demo' : 'the folder given'}`,
      measured: `${describe(result.of('import'))} resources${refused}; (d) ${describe(result.of('d'))}`,
      reached: `${times(result.ratio('import', 'd'))} of (d)`,
      aim: '0.4 of (d), at least 5,000/s',
    },
    { what: 'Memory of the importer', measured: '', reached: `at most ${inMb(peakMb)}`, aim: 'under 400 MB' },
  ];
}

async function emptyPlace(databaseUrl: string): Promise<Place> {
  const place = { organisationId: randomUUID(), facilityId: randomUUID() };
  await withService(databaseUrl, (db) => createPlace(db, place));
  return place;
}
