/** A database that was restored from a dump, which carries neither the service's role nor, sometimes, its rights. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ask, makeDataDir, openHere } from '../test-support/database/embedded.ts';
import { databaseUrl } from '../test-support/database/template.ts';
import { runCommand, runProcess, startCommand } from '../test-support/service/command.ts';

let data: Awaited<ReturnType<typeof makeDataDir>>;
let server: Awaited<ReturnType<typeof openHere>>;
let env: Record<string, string>;

before(async () => {
  // A server of its own: roles are shared by all databases of one.
  data = await makeDataDir();
  server = await openHere(data.path);
  env = { DATABASE_URL: server.url, MASTER_KEY: '17'.repeat(32), PORT: '0' };
});
after(async () => {
  await server.release();
  await data.remove();
});

const run = (...args: string[]) => runCommand(args, { env });

test('says what is missing, and migrate mends it [OPS-35]', async () => {
  assert.match(
    (await run('migrate')).stdout,
    /Made the database role interchange_service, which was missing/,
  );
  assert.equal((await run('organisation', 'create', '--name', 'Kept')).code, 0);
  for (const [restored, fault, mended] of [
    [
      'drop owned by interchange_service; drop role interchange_service',
      /role interchange_service is missing, as after the restore of a dump/,
      /^The schema is current\.\nMade the database role interchange_service, which was missing\.\n$/,
    ],
    [
      'drop owned by interchange_service',
      /role interchange_service has no rights in this database/,
      /^The schema is current\.\nMended the database role interchange_service, which had no rights\.\n$/,
    ],
  ] as const) {
    for (const statement of restored.split('; ')) await ask(server.url, statement);
    for (const refused of [await runProcess(['serve'], { env }), await run('organisation', 'list')]) {
      assert.equal(refused.code, 1, refused.stdout);
      assert.match(refused.stderr, fault);
      assert.match(refused.stderr, /Run: npx interchange migrate\n$/);
    }
    assert.match((await run('migrate', '--dry-run')).stdout, /Would m(ake|end) the database role/);
    assert.match((await run('migrate')).stdout, mended);
    assert.match((await run('migrate')).stdout, /^The schema is current\.\n$/);
    assert.match((await run('organisation', 'list')).stdout, /Kept/);
  }
});

async function serve(DATABASE_URL = server.url) {
  const service = startCommand(['serve'], { env: { ...env, DATABASE_URL } });
  const started = service.printed(/"event":"listening"/).then(
    () => true,
    () => false,
  );
  if (await started) service.child.kill('SIGTERM');
  return { started: await started, ...(await service.ended) };
}

test('a copy of a database is not served before it is marked [EXC-56]', async () => {
  assert.equal((await serve(server.url)).started, true);
  await ask(databaseUrl(server.url, 'postgres'), 'create database copied template interchange');
  const copied = databaseUrl(server.url, 'copied');
  for (const attempt of ['a first', 'a second']) {
    const { started, code, stderr } = await serve(copied);
    assert.deepEqual([started, code], [false, 1], attempt);
    assert.match(stderr, /was restored from a dump, or copied.* npx interchange restore --mark/);
  }
  const marked = await runCommand(['restore', '--mark'], { env: { ...env, DATABASE_URL: copied } });
  assert.equal(marked.code, 0, marked.stderr);
  assert.equal((await serve(copied)).started, true);
  assert.equal((await serve(server.url)).started, true, 'the one that it was copied from goes on');
});

test('a dump that was restored into the database that it was made of is not served before it is marked [EXC-56]', async () => {
  assert.equal((await serve()).started, true);
  // As pg_restore --clean does it.
  for (const statement of [
    'create table made_anew (like database_place including all)',
    'insert into made_anew table database_place',
    'drop table database_place',
    'alter table made_anew rename to database_place',
  ])
    await ask(server.url, statement);
  const { started, stderr } = await serve();
  assert.equal(started, false);
  assert.match(stderr, /was restored from a dump, or copied.* npx interchange restore --mark/);
  assert.equal((await run('restore', '--mark')).code, 0);
  assert.equal((await serve()).started, true);
});

test('a database whose place was written before tables were told apart is served [EXC-56]', async () => {
  const place = () => ask(server.url, 'select place from database_place');
  const found = await place();
  await ask(server.url, `update database_place set place = regexp_replace(place, '/\\d+$', '')`);
  assert.equal((await serve()).started, true);
  assert.deepEqual(await place(), found);
});
