/** Traces over all routes, against a collector: what is in them, and what never is. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { buildDeliveries } from '../src/app/build-worker.ts';
import { loadConfig } from '../src/app/config/config.ts';
import { startTracing, type Tracing } from '../src/app/tracing/start-tracing.ts';
import { createLog } from '../src/platform/log/log.ts';
import { TRACE_ATTRIBUTES } from '../src/platform/trace/trace.ts';
import { connect, queue } from '../test-support/exchange/exchange-records.ts';
import { startExchange } from '../test-support/exchange/exchange-server.ts';
import { addressOf, type RegisteredRoute, sampleRequest } from '../test-support/http/route-requests.ts';
import { MARKS, type SeededRecords, seedRecords } from '../test-support/records/seed-tenant.ts';
import { startTestApi, type Tenant, type TestAccount, type TestApi } from '../test-support/service/api.ts';
import { type CollectedSpan, type Collector, startCollector } from '../test-support/service/collector.ts';
import { startCommand } from '../test-support/service/command.ts';
import { freePort } from '../test-support/service/free-port.ts';
import { waitUntil } from '../test-support/wait-until.ts';

describe('traces of all routes', () => {
  let collector: Collector;
  let tracing: Tracing;
  let api: TestApi;
  let tenant: Tenant;
  let seeds: SeededRecords;
  const accounts: TestAccount[] = [];
  /** Route by correlation id. */
  const called = new Map<string, RegisteredRoute>();

  before(async () => {
    collector = await startCollector();
    const { traces } = loadConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
      OTEL_SERVICE_NAME: 'test-interchange',
    });
    assert.ok(traces);
    tracing = startTracing(traces, createLog('silent'));
    api = await startTestApi();
    tenant = await api.createTenant();
    seeds = await seedRecords(api.database.pool, tenant);
    const { path } = api.api.routes.find(({ route }) => route.docs.operationId === 'searchPatients') ?? {};
    assert.ok(path);
    await deliver();
    for (const entry of api.api.routes) await visit(entry);
    const account = await newAccount();
    const odd = [
      `${path}?search=${MARKS.family}`,
      `${path}?search=${MARKS.family}&${MARKS.identifier}=1&limit=${encodeURIComponent(MARKS.phone)}`,
      `${path}/${MARKS.identifier}`,
      `/${MARKS.family}/${seeds.patientId}`,
    ];
    for (const address of odd) await api.call(api.origin + address, { token: account.token });
    await api.call(`${api.origin}/healthz`);
    await tracing.stop();
  });
  after(async () => {
    await api.close();
    await collector.close();
  });

  async function newAccount(): Promise<TestAccount> {
    const account = await api.createAccount(tenant);
    accounts.push(account);
    return account;
  }

  /** A change of the patient goes to an exchange. */
  async function deliver(): Promise<void> {
    const exchange = await startExchange();
    const { pool } = api.database;
    await connect({ pool, keys: api.keys }, tenant, { address: exchange.url });
    await queue(pool, tenant, [seeds.patientId]);
    const worker = buildDeliveries(api.runtime);
    worker.start();
    await waitUntil(() => exchange.arrivals.length > 0, 'it is delivered');
    await worker.stop();
    await exchange.close();
  }

  /** As who may, as nobody, and with values of a patient where they do not belong. */
  async function visit(entry: RegisteredRoute): Promise<void> {
    const { token } = await newAccount();
    const sample = sampleRequest(entry, seeds);
    const correlationId = `route-${called.size}`;
    called.set(correlationId, entry);
    const request = {
      method: sample.method,
      headers: { ...sample.headers, 'x-correlation-id': correlationId },
      ...(sample.body === undefined ? {} : { body: sample.body }),
    };
    const address = api.origin + addressOf(sample);
    await api.call(address, { ...request, token });
    const headers = {
      ...sample.headers,
      'x-correlation-id': `${MARKS.family} ${MARKS.phone}`,
      'x-facility-id': MARKS.identifier,
      baggage: `patient=${MARKS.identifier}`,
      tracestate: `patient=${MARKS.family}`,
      traceparent: `00-${MARKS.identifier}-${MARKS.family}-01`,
      'user-agent': MARKS.family,
    };
    await api.call(`${address}${address.includes('?') ? '&' : '?'}x=${MARKS.family}`, {
      ...request,
      headers,
    });
  }

  const serverSpan = (correlationId: string) =>
    collector.spans.find(
      ({ kind, attributes }) => kind === 2 && attributes['interchange.correlation_id'] === correlationId,
    );
  const partsOf = ({ traceId, spanId }: CollectedSpan) =>
    collector.spans.filter((span) => span.traceId === traceId && span.spanId !== spanId);

  test('each call is a span by the pattern of its route, with its correlation id [OPS-36]', () => {
    assert.ok(called.size > 40);
    for (const [correlationId, { method, path }] of called) {
      const span = serverSpan(correlationId);
      assert.ok(span, `${method} ${path}`);
      assert.equal(span.name, `${method} ${path}`);
      assert.equal(span.attributes['http.route'], path);
      assert.equal(span.attributes['http.request.method'], method);
      assert.ok(Number(span.attributes['http.response.status_code']) >= 200);
      assert.equal(span.service, 'test-interchange');
      assert.equal(span.parentSpanId, '');
    }
    assert.ok(!collector.spans.some(({ name }) => name.includes('healthz')), 'probes are left out');
  });

  test('statements of a call are parts of its trace, by name or kind [OPS-36]', () => {
    const withStatements = [...called.keys()].filter((id) => {
      const span = serverSpan(id);
      return span !== undefined && partsOf(span).some(({ attributes }) => 'db.system.name' in attributes);
    });
    assert.ok(withStatements.length > called.size / 2, `${withStatements.length} of ${called.size}`);
    const statements = collector.spans.filter(({ attributes }) => 'db.system.name' in attributes);
    for (const { name, kind, parentSpanId } of statements) {
      assert.match(name, /^[A-Za-z][A-Za-z0-9_-]{0,80}$/, 'no text of a statement');
      assert.equal(kind, 3);
      assert.notEqual(parentSpanId, '');
    }
  });

  test('a delivery is a span with its ids, and its request is a part of it [OPS-36]', () => {
    const tries = collector.spans.filter(({ name }) => name === 'delivery try');
    const [sent] = tries.filter(({ attributes }) => attributes['interchange.outcome'] === 'delivered');
    assert.ok(sent, `${tries.length} tries`);
    assert.match(String(sent.attributes['interchange.delivery_id']), /^[0-9a-f-]{36}$/);
    assert.match(String(sent.attributes['interchange.correlation_id']), /^[\w-]+$/);
    assert.ok(partsOf(sent).some(({ attributes }) => attributes['http.response.status_code'] === 200));
  });

  test('nothing that identifies a patient or opens anything is in any span [OPS-37]', () => {
    const { connectionId: _connection, deliveryId: _delivery, ...records } = seeds;
    const secrets = [
      ...Object.values(MARKS),
      ...Object.values(records),
      ...accounts.flatMap(({ token, email, sessionId }) => [...token.split('.'), email, sessionId]),
      'nobody@example.org',
      'HBA1C',
      'of-the-collector',
    ];
    const text = collector.bodies.join('\n').toLowerCase();
    assert.ok(collector.spans.length > 200, String(collector.spans.length));
    const found = secrets.filter((secret) =>
      [secret, encodeURIComponent(secret), secret.replace(/\W/g, '')].some((form) =>
        text.includes(form.toLowerCase()),
      ),
    );
    assert.deepEqual(found, []);
    const allowed = new Set<string>(TRACE_ATTRIBUTES);
    const names = new Set(collector.spans.flatMap(({ attributes }) => Object.keys(attributes)));
    assert.deepEqual(
      [...names].filter((name) => !allowed.has(name)),
      [],
    );
    for (const { attributes } of collector.spans)
      for (const [name, value] of Object.entries(attributes))
        if (name !== 'http.route') assert.doesNotMatch(String(value), /[/?\s]/, `${name}: ${value}`);
  });

  test('spans are posted to the address and with the headers of the environment [OPS-36]', () => {
    assert.ok(collector.requests.length > 0);
    for (const { path, headers } of collector.requests) {
      assert.equal(path, '/v1/traces');
      assert.equal(headers.authorization, 'Bearer of-the-collector');
    }
  });
});

describe('a trace and the world around it', () => {
  let collector: Collector;
  let api: TestApi;
  let account: TestAccount;
  before(async () => {
    collector = await startCollector();
    api = await startTestApi();
    account = await api.createAccount(await api.createTenant());
  });
  after(async () => {
    await api.close();
    await collector.close();
  });

  /** The spans of calls that run while traces are on with these settings. */
  async function tracesOf(
    env: Record<string, string>,
    calls: () => Promise<unknown>,
  ): Promise<CollectedSpan[]> {
    const { traces } = loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env });
    assert.ok(traces);
    const before = collector.spans.length;
    const tracing = startTracing(traces, createLog('silent'));
    await calls();
    await tracing.stop();
    return collector.spans.slice(before);
  }

  const caller = () => ({ traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') });
  const search = (headers: Record<string, string> = {}) =>
    api.call('/patients/base?search=nobody', { token: account.token, headers });

  test("the caller's trace is linked and is not the parent [OPS-36]", async () => {
    const { traceId, spanId } = caller();
    const spans = await tracesOf({}, () => search({ traceparent: `00-${traceId}-${spanId}-01` }));
    const [span] = spans.filter(({ kind }) => kind === 2);
    assert.ok(span);
    assert.deepEqual(
      span.links.map((link) => [link.traceId, link.spanId]),
      [[traceId, spanId]],
    );
    assert.equal(span.parentSpanId, '');
    assert.notEqual(span.traceId, traceId);
  });

  test('a caller cannot have its call sampled [OPS-36]', async () => {
    for (const sampler of [
      'traceidratio',
      'parentbased_traceidratio',
      'always_off',
      'parentbased_always_off',
    ]) {
      const env = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: '0' };
      const { traceId, spanId } = caller();
      const spans = await tracesOf(env, () => search({ traceparent: `00-${traceId}-${spanId}-01` }));
      assert.deepEqual(spans, [], sampler);
    }
  });

  test('a trace is sampled whole or not at all [OPS-36]', async () => {
    const env = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };
    const spans = await tracesOf(env, async () => {
      for (let call = 0; call < 60; call += 1) await search();
    });
    const roots = spans.filter(({ kind }) => kind === 2);
    assert.ok(roots.length > 5 && roots.length < 55, String(roots.length));
    const known = new Set(roots.map(({ traceId }) => traceId));
    assert.ok(spans.every(({ traceId }) => known.has(traceId)));
    for (const { traceId } of roots) assert.ok(spans.filter((span) => span.traceId === traceId).length > 1);
  });

  test('log lines of a call carry its trace, its span and its correlation id [OPS-36]', async () => {
    const spans = await tracesOf({}, () =>
      search({ 'x-correlation-id': 'joined-1', prefer: 'handling=strict' }),
    );
    const [span] = spans.filter(({ kind }) => kind === 2);
    const line = api
      .logs()
      .split('\n')
      .find((text) => text.includes('joined-1'));
    const { traceId, spanId } = JSON.parse(line ?? '{}');
    assert.deepEqual([traceId, spanId], [span?.traceId, span?.spanId]);
    await search({ 'x-correlation-id': 'without-1' });
    const without = api
      .logs()
      .split('\n')
      .find((text) => text.includes('without-1'));
    assert.equal(JSON.parse(without ?? '{}').traceId, undefined, 'traces are off again');
  });

  test('calls at once keep their statements apart, also where they share one', async () => {
    const spans = await tracesOf({}, () => Promise.all(Array.from({ length: 20 }, () => search())));
    const roots = spans.filter(({ kind }) => kind === 2);
    assert.equal(roots.length, 20);
    assert.equal(new Set(roots.map(({ traceId }) => traceId)).size, 20);
    const statements = spans.filter(({ attributes }) => 'db.system.name' in attributes);
    assert.ok(statements.length > 0);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    for (const { parentSpanId } of statements) assert.ok(ids.has(parentSpanId));
  });
});

describe('a process with traces', () => {
  let api: TestApi;
  let collector: Collector;
  before(async () => {
    [api, collector] = await Promise.all([startTestApi(), startCollector()]);
  });
  after(async () => {
    await api.close();
    await collector.close();
  });

  /** Names on stderr every module of OpenTelemetry that is loaded, but for the API, which prom-client loads. */
  const NAMING = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        if (/@opentelemetry.(?!api.)/.test(url)) process.stderr.write('loaded ' + url + '\\n');
        return next(url, context);
      },
    });`)}`;

  async function startService(env: Record<string, string>) {
    const service = startCommand(['serve'], {
      env: { ...api.env, PORT: '0', NODE_OPTIONS: `--import "${NAMING}"`, ...env },
    });
    const [line] = await service.printed(/.*"event":"listening".*/);
    const get = () =>
      fetch(`http://127.0.0.1:${JSON.parse(line ?? '').port}/api/v1/patients/base`, {
        headers: { connection: 'close' },
      });
    return { service, get };
  }

  test('without an endpoint nothing of the OpenTelemetry SDK is loaded [OPS-36]', async () => {
    const named = {
      OTEL_SERVICE_NAME: 'x',
      OTEL_TRACES_SAMPLER: 'always_on',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    };
    const offs = [named, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true' }];
    for (const env of offs) {
      const { service, get } = await startService(env);
      assert.equal((await get()).status, 401);
      service.child.kill('SIGTERM');
      const { code, stderr } = await service.ended;
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stderr, /loaded/);
    }
    const { service, get } = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await get();
    service.child.kill('SIGTERM');
    assert.match((await service.ended).stderr, /loaded .*@opentelemetry/, 'the test sees what is loaded');
    assert.ok(
      collector.spans.some(({ service }) => service === 'interchange'),
      'what was left was sent at the end',
    );
  });

  test('a collector that is away, refuses or hangs is one warning, and holds nobody up [OPS-36]', async () => {
    for (const behaviour of ['away', 'refuses', 'silent'] as const) {
      collector.behaviour = behaviour === 'away' ? 'takes' : behaviour;
      const url = behaviour === 'away' ? `http://127.0.0.1:${await freePort()}` : collector.url;
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a-secret-of-ours' };
      const { service, get } = await startService(env);
      const before = collector.requests.length;
      // More than one batch: the second one that is lost is no second warning.
      const batches = { away: 0, refuses: 2, silent: 1 }[behaviour];
      do assert.equal((await get()).status, 401);
      while (collector.requests.length < before + batches);
      const reason = behaviour === 'refuses' ? 'answers with HTTP status 400' : 'does not answer';
      if (behaviour !== 'silent')
        await service.printed(new RegExp(`traces\\.lost.*the collector ${reason}\\.`));
      service.child.kill('SIGTERM');
      const { code, stdout, stderr } = await service.ended;
      assert.equal(code, 0, stderr);
      assert.match(stdout, /"event":"stopped"/);
      assert.ok(stdout.split('traces.lost').length <= 2, 'one warning');
      assert.doesNotMatch(stdout + stderr, /a-secret-of-ours/);
    }
    collector.behaviour = 'takes';
  });
});
