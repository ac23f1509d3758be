import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createLog } from '../../platform/log/log.ts';
import { tellLostConnections } from './lost-connections.ts';

test('connections that are lost in a stop are told without saying that the service connects again [OPS-40]', async () => {
  const lines = new PassThrough();
  const lost = tellLostConnections(createLog('info', lines));
  lost.note(new Error('cut'));
  lost.close();
  lost.stopping();
  lost.note(new Error('cut'));
  lost.note(new Error('cut'));
  lost.close();
  lines.end();
  const told = (await text(lines)).trim().split('\n');
  assert.deepEqual(
    told.map((line) => JSON.parse(line)).map(({ count, msg }) => [count, msg]),
    [
      [1, 'connections to the database were lost; the service connects again by itself'],
      [2, 'connections to the database were lost while the service stopped'],
    ],
  );
});
