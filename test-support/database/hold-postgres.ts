/**
 * A process that uses the embedded PostgreSQL of a folder (its argument) until its standard input ends, or
 * until it is killed. Prints the URL.
 */
import { once } from 'node:events';
import { openEmbeddedPostgres } from '../../local-postgres/embedded-postgres.ts';

const server = await openEmbeddedPostgres({
  dataDir: process.argv[2] ?? '',
  settings: { fsync: 'off', shared_buffers: '16MB' },
});
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
process.stdin.resume();
await once(process.stdin, 'end');
await server.release();
