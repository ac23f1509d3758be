import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { DatabaseUrlError, readDatabaseUrl } from './database-url.ts';

const hostsOf = (url: string) => readDatabaseUrl(url).hosts.map(({ host, port }) => `${host} ${port}`);

test('one host is left to pg, whatever stands beside it', () => {
  for (const url of [
    'postgres://localhost/interchange',
    'postgresql://user:secret@[::1]:5433/interchange?sslmode=verify-full',
    'postgres:///interchange?host=/run/postgresql',
    'postgres:///interchange?host=db.example.org&port=5433',
  ]) {
    const address = readDatabaseUrl(url);
    assert.deepEqual(address, { url, hosts: [], mustWrite: false, connectMs: 10_000 });
  }
  assert.equal(readDatabaseUrl('postgres://localhost/x?target_session_attrs=read-write').mustWrite, true);
  assert.equal(readDatabaseUrl('postgres://localhost/x?connect_timeout=2').connectMs, 2_000);
});

test('TLS that is asked for checks the certificate, and pg has nothing to warn of', () => {
  const modeOf = (query: string) => new URL(readDatabaseUrl(`postgres://db/x?${query}`).url).search;
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
    assert.equal(modeOf(`sslmode=${mode}&sslrootcert=/ca`), '?sslmode=verify-full&sslrootcert=/ca', mode);
  for (const query of ['sslmode=disable', 'sslmode=no-verify', 'uselibpqcompat=true&sslmode=require'])
    assert.equal(modeOf(query), `?${query}`);
  assert.match(readDatabaseUrl('postgres://one,two/x?sslmode=require').url, /\bsslmode=verify-full\b/);
});

test('several hosts are read as libpq reads them [OPS-31]', () => {
  const of = (hosts: string, query = '') => hostsOf(`postgres://user:a,b@${hosts}/interchange${query}`);
  assert.deepEqual(of('one:5433,two:5434'), ['one 5433', 'two 5434']);
  assert.deepEqual(of('one,two:5434'), ['one 5432', 'two 5434']);
  assert.deepEqual(of('[::1]:5433,[2001:db8::1]'), ['::1 5433', '2001:db8::1 5432']);
  assert.deepEqual(of('%2Frun%2Fpostgresql,two'), ['/run/postgresql 5432', 'two 5432']);
  assert.deepEqual(of('one,two', '?port=5433'), ['one 5433', 'two 5433']);
  assert.deepEqual(hostsOf('postgres:///x?host=one,two&port=5433,5434'), ['one 5433', 'two 5434']);
  assert.deepEqual(of('ignored:1', '?host=one,/run/postgresql'), ['one 5432', '/run/postgresql 5432']);
});

test('pg gets the first of several hosts, with the user and everything else of the URL', () => {
  const { url } = readDatabaseUrl(
    'postgres://us%40er:p%2Fw@one:5433,[::1]/data%20base?options=-c%20work_mem%3D5MB&sslmode=disable',
  );
  const client = new pg.Client({ connectionString: url });
  assert.deepEqual(
    [client.host, client.port, client.user, client.password, client.database, client.ssl],
    ['one', 5433, 'us@er', 'p/w', 'data base', false],
  );
});

test('a server that takes no writes is passed over, unless the URL says that any will do [OPS-31]', () => {
  const mustWrite = (attributes: string) =>
    readDatabaseUrl(`postgres://one,two/x${attributes && `?target_session_attrs=${attributes}`}`).mustWrite;
  assert.deepEqual(['', 'read-write', 'primary', 'any'].map(mustWrite), [true, true, true, false]);
});

test('nonsense is told in words that do not repeat it [OPS-31]', () => {
  for (const [url, words] of [
    ['mysql://one,two/x', /must start with postgres/],
    ['postgres://user:secret@[one,two/x', /is not a URL/],
    ['postgres://one:5433,two:x/y', /port that is not a number/],
    ['postgres://one:5433,two:0/y', /port that is not a number/],
    ['postgres://one,two/x?port=70000', /port that is not a number/],
    ['postgres://one/x?port=two', /port that is not a number/],
    ['postgres://one,two,three/x?port=1,2', /3 host\(s\) and 2 ports/],
    ['postgres://one/x?port=1,2', /1 host\(s\) and 2 ports/],
    ['postgres://one,,two/x', /empty name/],
    ['postgres://one;two/x', /hosts with a semicolon. Separate them with a comma/],
    ['postgres://one:5433;two:5434/x', /with a semicolon/],
    ['postgres://one/x?host=one;two', /with a semicolon/],
    ['postgres://one,/x', /empty name/],
    ['postgres://one,%E0%A4%A/x', /is not a URL/],
    ['postgres://one,two/x?target_session_attrs=standby', /cannot use/],
    ['postgres://one/x?target_session_attrs=read-only', /cannot use/],
    ['postgres://one/x?connect_timeout=0', /connect_timeout/],
    ['postgres://one/x?connect_timeout=soon', /connect_timeout/],
  ] as const)
    assert.throws(
      () => readDatabaseUrl(url),
      (error: Error) =>
        error instanceof DatabaseUrlError &&
        words.test(error.message) &&
        !/secret|two|%E0/.test(error.message),
      url,
    );
});
