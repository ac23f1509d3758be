/**
 * The floor that rates are compared with: bare `node:http`, one prepared single-row read from the same table,
 * JSON out, nothing else. service.ts starts it as a process of its own:
 * `node bench/floors/http.ts <database url> <port> <organisation id> <facility id>`.
 */
import { createServer } from 'node:http';
import pg from 'pg';

const [url = '', port = '0', organisationId = '', facilityId = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 10 });

const server = createServer((request, response) => {
  const id = request.url?.slice(1) ?? '';
  void pool
    .query({
      name: 'floor',
      text: 'select * from encounter where organisation_id = $1 and facility_id = $2 and id = $3',
      values: [organisationId, facilityId, id],
    })
    .then(({ rows }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(rows[0]));
    });
});
server.listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
process.on('SIGTERM', () => process.exit(0));
