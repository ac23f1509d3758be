/** A local exchange for the measurement of deliveries: reads each request and answers 200. Prints its address. */
import { createServer } from 'node:http';
import { listenHere } from '../test-support/service/free-port.ts';

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '2' });
    response.end('{}');
  });
});
process.stdout.write(`http://127.0.0.1:${await listenHere(server)}/patients\n`);
process.on('disconnect', () => process.exit());
