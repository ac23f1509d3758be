import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { parseAnswers } from '../../../test-support/http/raw-http.ts';
import { createAllowedMethods } from './allowed-methods.ts';
import { createFaultAnswers } from './protocol-faults.ts';

test('a request that does not arrive in time is 408, and says what to do [HTTP-17]', async () => {
  const server = createServer(
    { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 10 },
    (request, response) => request.resume().on('end', () => response.end()),
  );
  const faults = createFaultAnswers(createAllowedMethods());
  faults.attach(server);
  server.on('clientError', faults.answerBroken);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    for (const beginning of [
      'GET / HTTP/1.1\r\nhost: x\r\nx-slow: ',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{',
    ]) {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.write(beginning);
      await once(socket, 'close');
      const [answer] = parseAnswers(Buffer.concat(chunks));
      assert.equal(answer?.status, 408);
      assert.match(JSON.parse(String(answer?.body)).message, /in time.*Send it again/);
    }
  } finally {
    server.close();
  }
});
