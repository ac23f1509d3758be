/**
 * Two floors that rates are compared with: bare `node:http`, one prepared single-row read, nothing else.
 * (a) `/encounter/<id>`: a row of the table that the service reads, written as JSON.
 * (e) `/text/<number>`: a text that is finished (`finished-texts.ts`), sent as it is.
 *
 * `service.ts` starts it: node bench/floors/http.ts <database url> <port> <organisation id> <facility id>
 */
import { createServer } from 'node:http';
import pg from 'pg';

const [url = '', port = '0', organisationId = '', facilityId = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 10 });
// Without the text that the service keeps beside the columns: the floor would read the same twice.
const { rows: columns } = await pool.query<{ list: string }>(`
  select string_agg(quote_ident(attname), ', ' order by attnum) as list
  from pg_attribute
  where attrelid = 'encounter'::regclass
    and attnum > 0
    and not attisdropped
    and attname not like 'rendered%'`);
const encounterRow = `select ${columns[0]?.list} from encounter where organisation_id = $1 and facility_id = $2 and id = $3`;

async function answer(path: string): Promise<string> {
  const [, kind, id = ''] = path.split('/');
  if (kind === 'text') {
    const { rows } = await pool.query<{ body: string }>({
      name: 'text',
      text: 'select body from bench_text where number = $1',
      values: [Number(id)],
    });
    return rows[0]?.body ?? '';
  }
  const { rows } = await pool.query({
    name: 'encounter',
    text: encounterRow,
    values: [organisationId, facilityId, id],
  });
  return JSON.stringify(rows[0]);
}

const server = createServer((request, response) => {
  void answer(request.url ?? '').then((body) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(body);
  });
});
server.listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit());
