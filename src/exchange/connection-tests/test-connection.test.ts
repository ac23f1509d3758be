import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { startExchange, type TestExchange } from '../../../test-support/exchange/exchange-server.ts';
import { documentedCalls } from '../../../test-support/http/documented-answers.ts';
import {
  type Answer,
  type Tenant,
  type TestAccount,
  type TestNode,
  useEmptyApi,
} from '../../../test-support/service/api.ts';
import { BY_OPERATOR } from '../connections/connection.ts';
import { createConnection } from '../connections/create-connection.ts';
import { takeTestSlot } from './test-slot.store.ts';

let exchange: TestExchange;
let tenant: Tenant;
let account: TestAccount;
let id: string;

const api = await useEmptyApi();
const documented = await documentedCalls(api);
beforeEach(async () => {
  exchange = await startExchange('/in?from=us');
  tenant = await api.createTenant();
  account = await api.createAccount(tenant, { permissions: ['exchange.connections.manage'] });
  const connection = await createConnection(
    {
      db: api.database.pool,
      keys: api.keys,
      publicBaseUrl: api.baseUrl,
      now: api.clock.now,
      author: BY_OPERATOR,
    },
    tenant,
    {
      name: 'exchange',
      address: exchange.url,
      clientId: 'hospital-7',
      facilityIds: [tenant.facilityId],
      timeoutMs: 30_000,
    },
  );
  id = connection.id;
  exchange.trust = {
    clientId: 'hospital-7',
    secrets: [connection.outboundSecret],
    now: () => api.clock.now,
  };
});

/** As soon as it may be tested again. */
async function check({ token } = account, which = id): Promise<Answer> {
  api.clock.now = new Date(api.clock.now.getTime() + 5_000);
  return checkNow(token, which);
}

async function checkNow(token = account.token, which = id, node: TestNode = api): Promise<Answer> {
  const path = `/exchange/connections/${which}/test`;
  return documented('POST', path, await node.call(path, { method: 'POST', token }));
}

test('one request, signed as a delivery is, and what came back [ADM-60, ADM-61]', async (t) => {
  t.after(() => exchange.close());
  const { status, json } = await check();
  assert.equal(status, 200);
  assert.deepEqual([json.status, json.message], [200, 'The exchange took the test request.']);
  assert.deepEqual([json.result, json.cause], ['taken', null]);
  assert.ok(Number.isInteger(json.latencyMs));
  assert.equal(exchange.arrivals.length, 1);
  const [arrival] = exchange.arrivals;
  assert.deepEqual([arrival?.verdict, arrival?.method, arrival?.target], ['valid', 'POST', '/in?from=us']);
  const { deliveryId, occurredAt: _occurredAt, ...envelope } = JSON.parse(arrival?.body ?? '{}');
  assert.deepEqual(envelope, {
    event: 'connection.test',
    organisationId: tenant.organisationId,
    connectionId: id,
  });
  assert.equal(arrival?.headers['x-idempotency-key'], deliveryId);
  for (const table of ['exchange_delivery', 'exchange_attempt', 'exchange_head', 'access_log']) {
    const text = `select from ${table} where organisation_id = $1`;
    assert.equal((await api.database.pool.query(text, [tenant.organisationId])).rowCount, 0, table);
  }
});

test('a refusal, a silence and a closed port are told by words and a code, once each [ADM-60, ADM-61, ADM-75]', async () => {
  for (const [status, words, result] of [
    [401, /outbound secret/, 'not-authorised'],
    [422, /connection\.test/, 'not-taken'],
    [302, /Redirects/, 'redirected'],
    [503, /operator/, 'failing'],
  ] as const) {
    exchange.behave = () => ({ status, body: 'Okafor' });
    const answer = await check();
    assert.equal(answer.json.status, status);
    assert.match(answer.json.message, words);
    assert.deepEqual([answer.json.result, answer.json.cause], [result, null]);
    assert.doesNotMatch(answer.text, /Okafor/);
  }
  exchange.behave = () => 'drop';
  assert.deepEqual([(await check()).json.status, exchange.arrivals.length], [null, 5]);
  await exchange.close();
  const { json } = await check();
  assert.equal(json.status, null);
  assert.match(json.message, /could not be reached \(ECONNREFUSED\)/);
  assert.deepEqual([json.result, json.cause], ['unreachable', 'ECONNREFUSED']);
});

test('what is said of a refused test fits its status: the path, a pause, the method or the event [ADM-60]', async (t) => {
  t.after(() => exchange.close());
  const event = 'does not take the event connection.test. It may take deliveries all the same.';
  const path = 'Most likely the path of the address is wrong: check it first.';
  for (const [status, words, result] of [
    [404, path, 'not-taken'],
    [410, path, 'not-taken'],
    [408, 'asks for a pause. Test it again in a minute.', 'not-taken'],
    [425, 'asks for a pause. Test it again in a minute.', 'not-taken'],
    [429, 'asks for a pause. Test it again in a minute.', 'not-taken'],
    [415, 'does not take JSON, which deliveries are sent as. Ask its operator.', 'not-taken'],
    [405, `${event} If it does not, check the path of the address.`, 'not-taken'],
    [400, event, 'not-taken'],
    [409, event, 'not-taken'],
    [501, 'does not take POST requests. Check the address first: it may lead to another server.', 'failing'],
  ] as const) {
    exchange.behave = () => ({ status });
    const { json } = await check();
    assert.deepEqual([json.status, json.result], [status, result]);
    assert.ok(
      json.message.startsWith(`The exchange answered ${status}. It can be reached, but `),
      json.message,
    );
    assert.ok(json.message.includes(words), json.message);
    if (status !== 405) assert.equal(json.message.includes('all the same'), words === event, json.message);
  }
});

test('addresses and time-outs are those of deliveries; a disabled connection is not tested [ADM-62]', async (t) => {
  t.after(() => exchange.close());
  const change = (text: string) =>
    api.database.pool.query(`update exchange_connection set ${text} where id = $1`, [id]);
  exchange.behave = () => ({ status: 200, after: new Promise(() => undefined) });
  await change('timeout_ms = 1000');
  const silent = (await check()).json;
  assert.match(silent.message, /did not answer \(TIMEOUT\)/);
  assert.deepEqual([silent.result, silent.cause], ['unanswered', 'TIMEOUT']);
  // No operator chose the address now, so it may not lead to this machine.
  await change('operator_address = false');
  const refused = (await check()).json;
  assert.deepEqual([refused.status, /not allowed/.test(refused.message)], [null, true]);
  assert.deepEqual([refused.result, refused.cause], ['address-refused', null]);
  await change('operator_address = true, disabled_at = now()');
  const disabled = await check();
  assert.equal(disabled.status, 409);
  assert.equal(exchange.arrivals.length, 1);
});

test('only who manages the connection may test it [ADM-60]', async (t) => {
  t.after(() => exchange.close());
  const elsewhere = { ...tenant, facilityId: await api.createFacility(tenant.organisationId) };
  assert.equal((await check(await api.createAccount(elsewhere))).status, 404);
  assert.equal((await check(await api.createAccount(await api.createTenant()))).status, 404);
  assert.equal((await check(account, 'nothing')).status, 404);
  const reader = await api.createAccount(tenant, { permissions: ['exchange.deliveries.read'] });
  assert.equal((await check(reader)).status, 403);
  assert.equal((await api.call(`/exchange/connections/${id}/test`, { method: 'POST' })).status, 401);
  assert.equal(exchange.arrivals.length, 0);
});

test('a connection is tested once at a time, and once in five seconds, by all processes together [ADM-71]', async (t) => {
  t.after(() => exchange.close());
  const node = await api.addNode();
  t.after(() => node.close());
  await api.database.pool.query('update exchange_connection set timeout_ms = 60000 where id = $1', [id]);
  const refused = (answer: Answer) => {
    assert.equal(answer.status, 429, answer.text);
    const seconds = Number(answer.headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 5, `${seconds}`);
  };
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  exchange.behave = () => ({ status: 200, after: answered });
  const first = checkNow();
  await exchange.waitFor(1);
  // However long the exchange takes, up to its time-out.
  api.clock.now = new Date(api.clock.now.getTime() + 5_500);
  refused(await checkNow(account.token, id, node));
  answer();
  assert.equal((await first).json.status, 200);
  exchange.behave = () => ({ status: 200 });
  const racing = await Promise.all([checkNow(), checkNow(account.token, id, node), checkNow()]);
  assert.deepEqual(racing.map(({ status }) => status).sort(), [200, 429, 429]);
  for (const one of racing) if (one.status !== 200) refused(one);
  assert.equal(exchange.arrivals.length, 2);
  const other = await createConnection(
    {
      db: api.database.pool,
      keys: api.keys,
      publicBaseUrl: api.baseUrl,
      now: api.clock.now,
      author: BY_OPERATOR,
    },
    tenant,
    { name: 'other', address: exchange.url, clientId: 'hospital-7', facilityIds: [tenant.facilityId] },
  );
  assert.equal((await checkNow(account.token, other.id)).status, 200);
});

test('a test whose process died stops no other for longer than it could have taken [ADM-71]', async (t) => {
  t.after(() => exchange.close());
  const key = { organisationId: tenant.organisationId, connectionId: id };
  const slot = { databaseTime: api.clock.now, timeoutMs: 1_000 };
  assert.notEqual(await takeTestSlot(api.database.pool, key, slot), undefined);
  assert.equal((await checkNow()).status, 429);
  api.clock.now = new Date(api.clock.now.getTime() + 6_000);
  assert.equal((await checkNow()).status, 200);
});
