import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createLog } from '../log/log.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { addErrorHeaders } from './caught-errors.ts';
import { unavailable } from './errors.ts';
import { createServer } from './server.ts';

test('the log says what was not available, also where the code has several reasons', async () => {
  const lines = new PassThrough();
  let logged = '';
  lines.on('data', (chunk) => {
    logged += chunk;
  });
  const server = createServer({ log: createLog('info', lines), metrics: createMetrics() });
  const words = { en: 'Another import is running.', fr: 'Une autre importation est en cours.' };
  server.get('/busy', async () => {
    throw unavailable(words, 5);
  });
  server.get('/clock', async () => {
    throw unavailable({ en: 'The clock is off.', fr: 'L’horloge s’écarte.' }, 5, 'clock');
  });
  for (const url of ['/busy', '/clock'])
    assert.equal((await server.inject({ url, headers: { 'accept-language': 'fr' } })).statusCode, 503);
  const refused = () => logged.split('\n').filter((line) => line.includes('not available'));
  await waitUntil(() => refused().length === 2, 'both are logged');
  const [busy, clock] = refused().map((line) => JSON.parse(line) as Record<string, string>);
  assert.deepEqual([busy?.code, busy?.reason], ['unavailable', words.en]);
  assert.deepEqual([clock?.code, clock?.reason], ['clock', undefined]);
});

test('headers for the error of one request are not in the answer to another that fails with the same one', async () => {
  const server = createServer({ log: createLog('silent', new PassThrough()), metrics: createMetrics() });
  const shared = unavailable({ en: 'The database is away.', fr: 'La base est absente.' }, 5);
  server.get('/import', async ({ raw }) => {
    addErrorHeaders(raw, { 'x-import-id': 'a' });
    throw shared;
  });
  server.get('/other', async () => {
    throw shared;
  });
  const idOf = async (url: string) => (await server.inject({ url })).headers['x-import-id'];
  assert.deepEqual([await idOf('/import'), await idOf('/other')], ['a', undefined]);
});
