/** What an operator is told when the database of a command cannot be used. */
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { DatabaseError } from 'pg';
import { runCommand } from '../../../test-support/service/command.ts';
import { listenHere } from '../../../test-support/service/free-port.ts';
import { failureText } from './failure-text.ts';

async function told(DATABASE_URL: string): Promise<string> {
  const env = { DATABASE_URL, MASTER_KEY: '17'.repeat(32) };
  const { code, stdout, stderr } = await runCommand(['organisation', 'list'], { env });
  assert.deepEqual([code, stdout], [1, '']);
  return stderr;
}

test('a database that cannot be reached is told in words that say what to do [CMD-5]', async (t) => {
  let answer: (socket: Socket) => unknown = (socket) => socket.destroy();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    answer(socket);
  });
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const url = `postgres://user@127.0.0.1:${await listenHere(server)}/interchange`;
  const unreached =
    /^error: the database of DATABASE_URL cannot be reached, or ended the connection\. Check host and port, .*\n$/;
  assert.match(await told(url), unreached, 'it ends the connection');
  assert.match(
    await told('postgres:///interchange?host=/no/such/folder'),
    unreached,
    'it has no such socket',
  );
  answer = () => undefined;
  assert.match(await told(`${url}?connect_timeout=1`), unreached, 'it says nothing');
  answer = (socket) => socket.once('data', () => socket.end('N'));
  assert.match(
    await told(`${url}?sslmode=verify-full`),
    /^error: the database of DATABASE_URL takes no TLS, .* or change sslmode\.\n$/,
  );
});

test('a database that has no room, stops or takes no writes is told with what to do [CMD-5]', () => {
  const failed = (code: string) => failureText(Object.assign(new DatabaseError('', 0, 'error'), { code }));
  assert.match(failed('53300'), /has no connection left\. Raise max_connections/);
  assert.match(failed('53100'), /disk of the database is full\. Free some space/);
  assert.match(failed('25006'), /takes no writes: .* Connect to the primary/);
  assert.match(failed('57P03'), /is starting or stopping\. Try again/);
});

test('each other failure of the database is told by its code [CMD-5]', () => {
  const secret = 'what the driver says';
  const state = (code: string) => Object.assign(new DatabaseError(secret, 0, 'error'), { code });
  const system = (code: string, syscall = 'read') => Object.assign(new Error(secret), { code, syscall });
  for (const [error, text] of [
    [state('28P01'), 'the database refuses the user or password of DATABASE_URL. Correct them.'],
    [state('42P05'), /^a pooler in front .* another connection\. Set it to session mode\./],
    [state('26000'), /^a pooler in front /],
    [state('3D000'), 'the database named in DATABASE_URL does not exist. Create it first.'],
    [state('57P01'), /^the database of DATABASE_URL is starting or stopping\./],
    [state('42P01'), 'the database refused a statement (SQLSTATE 42P01)'],
    [
      system('ECONNREFUSED', 'connect'),
      'the database of DATABASE_URL refuses connections. Check that it is running.',
    ],
    [system('ENOTFOUND', 'getaddrinfo'), 'the host of DATABASE_URL is unknown. Correct the name.'],
    [
      system('EAI_AGAIN', 'getaddrinfo'),
      'the host of DATABASE_URL could not be looked up. Check the DNS of this machine, and the name.',
    ],
    [
      system('DEPTH_ZERO_SELF_SIGNED_CERT', 'connect'),
      'the certificate of the database of DATABASE_URL is not signed by an authority that this machine trusts. Name the file of the authority in the URL: sslmode=verify-full&sslrootcert=/path/to/ca.crt.',
    ],
    [system('SELF_SIGNED_CERT_IN_CHAIN'), /not signed by an authority/],
    [system('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'), /not signed by an authority/],
    [system('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), /not signed by an authority/],
    [
      system('ERR_TLS_CERT_ALTNAME_INVALID'),
      'the certificate of the database of DATABASE_URL is for another host name. Write the host in the URL as the certificate names it.',
    ],
    [system('CERT_HAS_EXPIRED'), /has expired, or is not valid yet\. Renew it there/],
    [system('ENETUNREACH', 'connect'), /^the database of DATABASE_URL cannot be reached, /],
    [system('ECONNRESET'), /^the database of DATABASE_URL cannot be reached, /],
    [system('ENOSPC', 'write'), 'the disk is full. Free some space, then try again.'],
    [system('EDQUOT', 'write'), 'the disk is full. Free some space, then try again.'],
  ] as const) {
    const told = failureText(error);
    if (typeof text === 'string') assert.equal(told, text);
    else assert.match(told, text);
    assert.doesNotMatch(told, /driver/);
  }
  assert.equal(failureText(system('EISDIR')), `Error (EISDIR): ${secret}`);
});
