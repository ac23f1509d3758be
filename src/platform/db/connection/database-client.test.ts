import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { connectClient } from '../database.ts';

/** AuthenticationOk and ReadyForQuery (PostgreSQL, "Message Formats"). */
const WELCOME = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');
/** A DataRow that says that it has one column, and has none. */
const BROKEN_ROW = Buffer.from('D\0\0\0\x06\0\x01', 'latin1');

test('an answer that cannot be read fails its statement, and the process goes on', async () => {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(WELCOME);
      socket.once('data', () => socket.write(BROKEN_ROW));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const url = `postgres://somebody:secret@127.0.0.1:${port}/any`;
    await assert.rejects(connectClient({ url, applicationName: 'test' }), RangeError);
  } finally {
    server.close();
  }
});
