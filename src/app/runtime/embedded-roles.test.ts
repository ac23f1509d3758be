/** What the service may do in the embedded database, and what the server knows of the service's secrets. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { createLog } from '../../platform/log/log.ts';
import { loadConfig } from '../config/config.ts';
import { type OpenDatabase, openDatabase, openKeys, requireSchema } from './open-database.ts';

const MASTER_KEY = 'ab'.repeat(32);
let dataDir: string;
let opened: OpenDatabase;
let service: pg.Client;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'interchange-roles-'));
  process.env.MASTER_KEY = MASTER_KEY;
  const config = loadConfig({ DATA_DIR: dataDir, MASTER_KEY });
  opened = await openDatabase(config, createLog('silent'));
  await requireSchema(opened, config);
  await requireSchema(opened, config);
  const { keys, serviceUrl } = await openKeys(opened, config);
  await keys.close();
  service = new pg.Client({ connectionString: serviceUrl });
  await service.connect();
});
after(async () => {
  await service?.end();
  await opened?.release();
  await rm(dataDir, { recursive: true, force: true });
});

test("the service's connection is the service's role, and cannot become another [OPS-7]", async () => {
  const { rows } = await service.query(
    'select session_user, current_user, rolsuper from pg_roles where rolname = session_user',
  );
  assert.deepEqual(rows, [
    { session_user: 'interchange_service', current_user: 'interchange_service', rolsuper: false },
  ]);
  const owner = new URL(opened.url).username;
  await assert.rejects(service.query(`set role ${owner}`), { code: '42501' });
  for (const sql of [
    'delete from access_log',
    'truncate access_log',
    "update access_log set action = 'x'",
    'drop table access_log',
  ])
    await assert.rejects(service.query(sql), { code: '42501' }, sql);
  await assert.rejects(service.query("select pg_read_binary_file('/proc/self/environ')"), { code: '42501' });
});

test('the server is not given the master key', {
  skip: process.platform !== 'linux' && 'reads /proc',
}, async () => {
  const [pid] = (await readFile(join(dataDir, 'postgresql', 'postmaster.pid'), 'utf8')).split('\n');
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
  assert.ok(environment.includes('LC_ALL=C'));
  assert.ok(!environment.includes(MASTER_KEY));
});
