/** One Bundle of about 60 MB, posted to a service that has just started. Measured once: the peak is of a whole life. */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtempDisposable, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import type { ImportDocument } from '../../src/records/import/import-report.ts';
import type { Bench, Part, Row } from '../bench.ts';
import { withTemporaryDatabase } from '../databases.ts';
import { copiesOf } from '../records/copies.ts';
import { environmentOf, PLACE, withService } from '../records/open-records.ts';
import { createPlace, signIn } from '../records/sign-in.ts';
import { startService } from '../service.ts';
import { DEMO_RECORDS } from './import.ts';
import { inMb } from './memory.ts';

const BUNDLE_BYTES = 60_000_000;

export const bundlePart: Part = {
  name: 'bundle',
  summary: 'one Bundle of 60 MB over HTTP: time, and memory of the service',
  async measure(bench) {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'interchange-bench-'));
    const file = join(folder.path, 'bundle.json');
    await writeBundle(bench.options.importData ?? DEMO_RECORDS, file);
    return await withTemporaryDatabase(bench.serverUrl, (url) => measureBundle(bench, url, file));
  },
};

async function measureBundle({ say }: Bench, databaseUrl: string, file: string): Promise<Row[]> {
  const token = await withService(databaseUrl, async (db, keys) => {
    await createPlace(db, PLACE);
    return signIn(db, keys, PLACE);
  });
  const service = await startService(environmentOf(databaseUrl));
  try {
    const { nowMb: before } = await service.memory();
    const startedMs = performance.now();
    const document = await post(`${service.url}/api/v1/imports/fhir`, token, file);
    const seconds = (performance.now() - startedMs) / 1_000;
    const { peakMb } = await service.memory();
    say(`${seconds.toFixed(0)} s`);
    if (document.rejectedCount > 0)
      throw new Error(`The Bundle was refused: ${document.rejected[0]?.reason}`);
    const taken = Object.values(document.resources).reduce((sum, count) => sum + count, 0);
    return [
      {
        what: 'One Bundle of 60 MB over HTTP',
        measured: `${taken.toLocaleString('en')} resources; memory before ${inMb(before)}`,
        reached: `${seconds.toFixed(0)} s, at most ${inMb(peakMb)}`,
        aim: 'under 30 s and 500 MB',
      },
    ];
  } finally {
    await service.stop();
  }
}

async function post(url: string, token: string, file: string): Promise<ImportDocument> {
  const { size } = await stat(file);
  const sent = request(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/fhir+json',
      'content-length': size,
    },
  });
  const answered = new Promise<ImportDocument>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => {
      if (response.statusCode === 200) resolve(json(response) as Promise<ImportDocument>);
      else reject(new Error(`The service answered ${response.statusCode}.`));
    });
  });
  await Promise.all([pipeline(createReadStream(file), sent), answered]);
  return answered;
}

/** Entries of files, and of copies of them, until they are enough. */
async function writeBundle(folder: string, file: string): Promise<void> {
  const out = createWriteStream(file);
  let separator = '{"resourceType":"Bundle","type":"collection","entry":[';
  for await (const { bundle } of copiesOf(folder)) {
    for (const entry of bundle.entry ?? []) {
      if (!out.write(`${separator}${JSON.stringify(entry)}`)) await once(out, 'drain');
      separator = ',';
    }
    if (out.bytesWritten >= BUNDLE_BYTES) break;
  }
  out.end(']}');
  await finished(out);
}
