import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { baseUrlOf, loadConfig } from './config.ts';
import { ConfigError } from './environment.ts';

const KEY = randomBytes(32);
const DATABASE = { DATABASE_URL: 'postgres://localhost/interchange', MASTER_KEY: KEY.toString('hex') };

/** The faults that an environment has, without their bullets. */
function faults(env: Record<string, string>): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message.split('\n').flatMap((line) => (line.startsWith('  - ') ? [line.slice(4)] : []));
  }
}

test('nothing configured is the embedded database on loopback [OPS-1, OPS-13]', () => {
  const config = loadConfig({});
  assert.deepEqual(config.database, { kind: 'embedded' });
  assert.deepEqual(config.masterKey, { kind: 'made' });
  assert.deepEqual([config.host, config.port, config.logLevel], ['127.0.0.1', 3000, 'info']);
  assert.deepEqual([config.metricsPort, config.trustProxy], [undefined, []]);
  assert.equal(config.dataDir, join(process.cwd(), 'data'));
  assert.equal(baseUrlOf(config), 'http://127.0.0.1:3000/api/v1');
});

test('the numbers of sign-in are those of the contract, and may be others [SIGN-IN-14]', () => {
  const { accessTokenSeconds, refreshTokenSeconds, sessionSeconds } = loadConfig({}).signIn;
  assert.deepEqual([accessTokenSeconds, refreshTokenSeconds, sessionSeconds], [900, 2_592_000, 7_776_000]);
  const { signIn } = loadConfig({ ACCESS_TOKEN_SECONDS: '600', REFRESH_TOKEN_DAYS: '7', SESSION_DAYS: '14' });
  assert.deepEqual(
    [signIn.accessTokenSeconds, signIn.refreshTokenSeconds, signIn.sessionSeconds],
    [600, 604_800, 1_209_600],
  );
});

test('the ends of a session of the console are those of the contract, and may be others [SIGN-IN-53]', () => {
  const endsOf = (env: Record<string, string>) => {
    const { consoleIdleSeconds, consoleSessionSeconds } = loadConfig(env).signIn;
    return [consoleIdleSeconds, consoleSessionSeconds];
  };
  assert.deepEqual(endsOf({}), [1_800, 43_200]);
  assert.deepEqual(endsOf({ CONSOLE_IDLE_MINUTES: '5', CONSOLE_SESSION_HOURS: '1' }), [300, 3_600]);
});

test('docs/environment.md has every variable that is read, and no other [OPS-12]', async () => {
  const files = ['config.ts', 'delivery.ts', 'time-limits.ts', 'traces.ts'].map((name) =>
    readFile(new URL(name, import.meta.url), 'utf8'),
  );
  const code = (await Promise.all(files)).join('\n');
  const page = await readFile(new URL('../../../docs/environment.md', import.meta.url), 'utf8');
  const readInCode = [...code.matchAll(/'([A-Z][A-Z_]+)'(?=[,)])/g)].map(([, name]) => name);
  const documented = [...page.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name);
  assert.deepEqual([...new Set(readInCode)].sort(), documented.toSorted());
});

test('docs/environment.md says the default of each variable [OPS-12]', async () => {
  const page = await readFile(new URL('../../../docs/environment.md', import.meta.url), 'utf8');
  const rows = page.matchAll(/^\| `([A-Z_]+)` \| ([^|]*) \|/gm);
  const defaults = [...rows].flatMap(([, name = '', text = '']) => {
    const [, value] = /^`?([^`\s]+)`?$/.exec(text) ?? [];
    return value === undefined || value === 'none' ? [] : [[name, value]];
  });
  assert.ok(defaults.length > 30, 'the page is read');
  assert.deepEqual(loadConfig(Object.fromEntries(defaults)), loadConfig({}));
});

test('docs/environment.md says from what to what each number may go [OPS-12]', async () => {
  const page = await readFile(new URL('../../../docs/environment.md', import.meta.url), 'utf8');
  const ranges = [...page.matchAll(/^\| `([A-Z_]+)` .*/gm)].flatMap(([row, name = '']) => {
    const [fault = ''] = faults({ [name]: 'x' }).filter((one) =>
      one.startsWith(`${name} must be a whole number`),
    );
    const [, range] = /from (\d+ to \d+)$/.exec(fault) ?? [];
    return range === undefined ? [] : [{ row, range }];
  });
  assert.ok(ranges.length > 30, `${ranges.length} numbers`);
  for (const { row, range } of ranges) assert.match(row, new RegExp(`\\b${range}\\b`));
});

test('addresses of the database may be in files, as secrets are mounted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'interchange-urls-'));
  try {
    const [url, serviceUrl] = [join(folder, 'url'), join(folder, 'service-url')];
    await writeFile(url, 'postgres://owner:secret@db/interchange\n');
    await writeFile(serviceUrl, 'postgres://service:secret@db/interchange\n');
    const env = {
      DATABASE_URL_FILE: url,
      DATABASE_SERVICE_URL_FILE: serviceUrl,
      MASTER_KEY: KEY.toString('hex'),
    };
    assert.deepEqual(loadConfig(env).database, {
      kind: 'url',
      url: 'postgres://owner:secret@db/interchange',
      serviceUrl: 'postgres://service:secret@db/interchange',
    });
    assert.deepEqual(faults({ ...env, DATABASE_URL: DATABASE.DATABASE_URL }), [
      'DATABASE_URL and DATABASE_URL_FILE are both set. Remove one of them',
    ]);
    const [missing = ''] = faults({ ...env, DATABASE_URL_FILE: join(folder, 'none') });
    assert.match(missing, /^DATABASE_URL_FILE cannot be read \(ENOENT\)/);
    await writeFile(url, 'mysql://x');
    assert.deepEqual(faults(env), ['DATABASE_URL must start with postgres:// or postgresql://']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('empty and blank variables are not set', () => {
  assert.deepEqual(loadConfig({ DATABASE_URL: ' ', PORT: '', MASTER_KEY: ' ' }), loadConfig({}));
});

test('each fault is named after its variable, without its value [OPS-11]', () => {
  const wrong: Record<string, string[]> = {
    DATABASE_URL: ['mysql://x', 'localhost', 'postgres://user:secret@[host'],
    DATABASE_CONNECTIONS: ['1', '201', '1.5', 'x', '-5'],
    DATABASE_STATEMENT_SECONDS: ['-1', '86401', '0.5'],
    DATABASE_LOCK_SECONDS: ['-1', 'x'],
    DATABASE_LONG_STATEMENT_SECONDS: ['-1', 'x'],
    PORT: ['-1', '65536', '3000x', '0x10'],
    PUBLIC_BASE_URL: [
      'x',
      'ftp://x/api/v1',
      'http://x/',
      'http://u:p@x/api/v1',
      'http://:p@x/api/v1',
      'http://x/api/v1?a=b',
      'http://x/api/v1#a',
    ],
    MASTER_KEY: ['short', '0'.repeat(63), 'g'.repeat(64)],
    LOG_LEVEL: ['loud', 'INFO'],
    METRICS_PORT: ['x', '99999'],
    TRUST_PROXY: ['x', '10.0.0.0/33', '10.0.0.1/', '10.0.0.1/8/8', '::1/129', '10.0.0.1 10.0.0.2'],
    SIGN_IN_LOCK_FAILURES: ['0', '101'],
    SIGN_IN_LOCK_WINDOW_SECONDS: ['0'],
    SIGN_IN_LOCK_SECONDS: ['-1'],
    PASSWORD_HASH_CONCURRENCY: ['0', '65'],
    PASSWORD_HASH_QUEUE: ['-1'],
    ACCESS_TOKEN_SECONDS: ['59', '3601', '15m'],
    REFRESH_TOKEN_DAYS: ['0', '366'],
    SESSION_DAYS: ['0', '366'],
    CONSOLE_IDLE_MINUTES: ['0', '1441'],
    CONSOLE_SESSION_HOURS: ['0', '169'],
    DRAIN_SECONDS: ['-1', '3601', '1.5'],
    IMPORT_MAX_BYTES: ['1', 'x'],
    IMPORT_IDLE_SECONDS: ['0', '3601'],
    IMPORT_UNDERSTOOD_EXTENSIONS: ['negation', 'https://a.example/x https://a.example/y'],
    EXCHANGE_ALLOW_PRIVATE_ADDRESSES: ['yes', '1'],
  };
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) {
      const found = faults({ ...DATABASE, [name]: value });
      assert.equal(found.length, 1, `${name}=${value}: ${found}`);
      const [fault = ''] = found;
      assert.ok(fault.startsWith(`${name} `), fault);
      if (value.length > 3) assert.ok(!fault.includes(value), fault);
    }
});

test('traces are off without an endpoint, whatever else is set [OPS-36]', () => {
  const others = { OTEL_SERVICE_NAME: 'x', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'x' };
  assert.equal(loadConfig({ ...DATABASE, ...others }).traces, undefined);
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  assert.equal(loadConfig({ ...DATABASE, ...endpoint, OTEL_SDK_DISABLED: 'true' }).traces, undefined);
  assert.equal(loadConfig({ ...DATABASE, ...endpoint, OTEL_TRACES_EXPORTER: 'none' }).traces, undefined);
});

test('traces are set by the variables of OpenTelemetry [OPS-36]', () => {
  const traces = (env: Record<string, string>) => loadConfig({ ...DATABASE, ...env }).traces;
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.org/otlp/' };
  assert.deepEqual(traces(endpoint), {
    url: 'https://collector.example.org/otlp/v1/traces',
    headers: {},
    serviceName: 'interchange',
    ratio: 1,
  });
  const all = {
    ...endpoint,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/in',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x%2Cy, x-scope = all ,',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-scope=traces',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_SERVICE_NAME: 'ward',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '.25',
  };
  assert.deepEqual(traces(all), {
    url: 'http://127.0.0.1:4318/in',
    headers: { authorization: 'Bearer x,y', 'x-scope': 'traces' },
    serviceName: 'ward',
    ratio: 0.25,
  });
  const ratios = { always_on: 1, always_off: 0, parentbased_always_off: 0, traceidratio: 1 };
  for (const [sampler, ratio] of Object.entries(ratios))
    assert.equal(traces({ ...endpoint, OTEL_TRACES_SAMPLER: sampler })?.ratio, ratio, sampler);
});

test('each fault of the variables of OpenTelemetry is named, without its value [OPS-11]', () => {
  const wrong: Record<string, string[]> = {
    OTEL_EXPORTER_OTLP_ENDPOINT: [
      'collector:4318',
      'http://u:geheim@x',
      'http://x/?token=geheim',
      'http://x/#y',
    ],
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ['geheim'],
    OTEL_EXPORTER_OTLP_HEADERS: ['geheim', 'a b=geheim', 'a=%zz', 'a=%0Ageheim'],
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: ['=geheim'],
    OTEL_EXPORTER_OTLP_PROTOCOL: ['grpc', 'http/protobuf'],
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: ['grpc'],
    OTEL_TRACES_SAMPLER: ['sometimes'],
    OTEL_TRACES_EXPORTER: ['zipkin'],
    OTEL_SDK_DISABLED: ['yes'],
  };
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) {
      const found = faults({ ...DATABASE, ...endpoint, [name]: value });
      assert.equal(found.length, 1, `${name}=${value}: ${found}`);
      const [fault = ''] = found;
      assert.ok(fault.startsWith(`${name} `), fault);
      assert.ok(!fault.includes('geheim'), fault);
    }
  for (const ratio of ['1.1', '-0.1', 'half', '1e-1']) {
    const env = { ...endpoint, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: ratio };
    assert.match(faults({ ...DATABASE, ...env })[0] ?? '', /^OTEL_TRACES_SAMPLER_ARG must be/);
  }
});

test('all faults are told at once [OPS-11]', () => {
  assert.equal(faults({ PORT: 'x', LOG_LEVEL: 'x', DATABASE_URL: 'x', DATABASE_CONNECTIONS: 'x' }).length, 5);
  const files = { DATABASE_URL_FILE: '/no/such/url', MASTER_KEY_FILE: '/no/such/key' };
  assert.deepEqual(
    faults({ PORT: 'x', ...files }).map((fault) => fault.split(' ')[0]),
    ['DATABASE_URL_FILE', 'PORT', 'MASTER_KEY_FILE'],
  );
});

test('a database of the operator needs a master key, one only [OPS-14]', () => {
  assert.match(
    faults({ DATABASE_URL: DATABASE.DATABASE_URL })[0] ?? '',
    /^MASTER_KEY or MASTER_KEY_FILE is required/,
  );
  assert.match(faults({ ...DATABASE, MASTER_KEY_FILE: '/x' })[0] ?? '', /^MASTER_KEY and MASTER_KEY_FILE/);
  assert.deepEqual(faults(DATABASE), []);
});

test('the public base address is what links carry [HTTP-22, OPS-13]', () => {
  const base = (env: Record<string, string>) => baseUrlOf(loadConfig({ ...DATABASE, ...env }));
  assert.equal(base({ PUBLIC_BASE_URL: 'https://x.example.org/api/v1/' }), 'https://x.example.org/api/v1');
  assert.equal(
    base({ PUBLIC_BASE_URL: 'https://x.example.org/clinic/api/v1' }),
    'https://x.example.org/clinic/api/v1',
  );
  for (const unusual of [
    'https://x.example.org/api/v1?',
    'https://x.example.org/api/v1/#',
    'HTTPS:\\\\X.example.org\\api\\v1',
  ])
    assert.equal(base({ PUBLIC_BASE_URL: unusual }), 'https://x.example.org/api/v1', unusual);
  assert.equal(base({ HOST: '0.0.0.0', PORT: '81' }), 'http://localhost:81/api/v1');
  assert.equal(base({ HOST: '::1' }), 'http://[::1]:3000/api/v1');
});

test('proxies are addresses, ranges or names of ranges', () => {
  const { trustProxy } = loadConfig({ ...DATABASE, TRUST_PROXY: ' 10.0.0.0/8 , ::1,loopback,,fd00::/8' });
  assert.deepEqual(trustProxy, ['10.0.0.0/8', '::1', 'loopback', 'fd00::/8']);
});
