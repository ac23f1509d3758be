/** How a callback of an exchange is authenticated. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { updateConnection } from '../src/exchange/connections/connection.store.ts';
import { rotateSecret } from '../src/exchange/connections/rotate-secret.ts';
import { useCallbacks } from '../test-support/exchange/callback-calls.ts';
import { connect, insertPatients, queue } from '../test-support/exchange/exchange-records.ts';

const { t, api, pool, sign, callback, accepted, counts } = await useCallbacks();
const HOUR_MS = 3_600_000;
const rotating = () => ({
  db: pool(),
  keys: api.keys,
  publicBaseUrl: api.baseUrl,
  databaseTime: api.clock.now,
});

describe('callback signature', () => {
  test('refuses everything unauthenticated with one and the same 401 [EXC-36, EXC-37, EXC-52, SEC-18]', async () => {
    const body = JSON.stringify(accepted());
    const good = sign(body);
    const other = await connect({ pool: pool(), keys: api.keys }, t.tenant, {
      address: 'https://hie.example.org/2',
    });
    const disabled = await connect({ pool: pool(), keys: api.keys }, t.tenant, {
      address: 'https://hie.example.org/3',
    });
    await updateConnection(pool(), { ...t.tenant, connectionId: disabled.id }, { disabled: true });
    const bare = await connect({ pool: pool(), keys: api.keys }, t.tenant, {
      address: 'https://hie.example.org/4',
    });
    await pool().query('delete from exchange_secret where organisation_id = $1 and connection_id = $2', [
      t.tenant.organisationId,
      bare.id,
    ]);
    const before = await refusals();
    const answers = await Promise.all([
      callback(body, { signature: null }),
      callback(body, { signature: '' }),
      callback(body, { signature: 'nonsense' }),
      callback(body, { signature: '0'.repeat(64) }),
      callback(body, { signature: sign(`${body} `) }),
      callback(body, { signature: good.slice(1) }),
      callback(body, { signature: `sha1=${good}` }),
      callback(body, { signature: `${good}, ${good}` }),
      callback(body, { signature: sign(body, other.callbackSecret) }),
      callback(body, { signature: sign(body, t.connection.outboundSecret) }),
      callback(body, { id: crypto.randomUUID() }),
      callback(body, { id: 'not-a-uuid' }),
      callback(body, { id: other.id }),
      callback(body, { id: disabled.id, signature: sign(body, disabled.callbackSecret) }),
      callback(body, { id: bare.id, signature: sign(body, bare.callbackSecret) }),
      callback('not json', { signature: good }),
      callback(body, { signature: null, headers: { 'content-type': 'json' } }),
      callback(body, { signature: null, headers: { authorization: `Bearer ${t.account.token}` } }),
      callback(`${body} `, { signature: good }),
      callback(JSON.stringify(JSON.parse(body), null, 1), { signature: good }),
    ]);
    const [first] = answers;
    assert.deepEqual(first?.json, { statusCode: 401, message: first?.json.message, error: 'Unauthorized' });
    for (const [index, answer] of answers.entries()) {
      assert.equal(answer.status, 401, `case ${index}`);
      assert.equal(answer.text, first?.text, `case ${index}`);
      assert.equal(answer.headers.get('www-authenticate'), 'Signature', `case ${index}`);
    }
    assert.deepEqual(await counts(), [0, 0]);
    assert.equal((await refusals()) - before, answers.length, 'and each is counted');
  });

  const refusals = async () => {
    const text = await api.runtime.metrics.registry.metrics();
    return Number(/^interchange_exchange_callbacks_total\{status="401"\} (\d+)/m.exec(text)?.[1] ?? 0);
  };

  test('refuses a header that is sent twice [EXC-37]', async () => {
    const body = JSON.stringify(accepted());
    const status = await new Promise<number>((resolve, reject) => {
      const sending = request(
        `${api.baseUrl}/exchange/connections/${t.connection.id}/callback`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-signature': [sign(body), sign(body)] },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      sending.on('error', reject);
      sending.end(body);
    });
    assert.equal(status, 401);
  });

  test('reads the header that was agreed for the connection [EXC-35]', async () => {
    const own = await connect({ pool: pool(), keys: api.keys }, t.tenant, {
      address: 'https://hie.example.org/5',
      callbackHeader: 'x-hub-signature-256',
    });
    const [id = ''] = await insertPatients(pool(), t.tenant, 1);
    await queue(pool(), t.tenant, [id]);
    const { rows } = await pool().query<{ id: string }>(
      'select id from exchange_delivery where connection_id = $1',
      [own.id],
    );
    const body = JSON.stringify({ ...accepted(), deliveryId: rows[0]?.id });
    const signature = sign(body, own.callbackSecret);
    assert.equal((await callback(body, { id: own.id, signature })).status, 401, 'not in the default header');
    const headers = { 'x-hub-signature-256': `sha256=${signature}` };
    assert.equal((await callback(body, { id: own.id, signature: null, headers })).status, 200);
  });

  test('takes the old and the new secret until the overlap ends [EXC-46]', async () => {
    const key = { organisationId: t.tenant.organisationId, connectionId: t.connection.id };
    const { now } = api.clock;
    const rotated = await rotateSecret({ ...rotating(), now }, key, {
      overlapSeconds: 3_600,
    });
    const statuses = async (message: string) => {
      const body = JSON.stringify(accepted('HIE-1', { message }));
      const answers = await Promise.all([
        callback(body),
        callback(body, { signature: sign(body, rotated.callbackSecret) }),
      ]);
      return answers.map(({ status }) => status);
    };
    assert.deepEqual(await statuses('at once'), [200, 200]);
    api.clock.now = new Date(now.getTime() + 3_599_000);
    assert.deepEqual(await statuses('just before'), [200, 200]);
    api.clock.now = new Date(now.getTime() + 3_600_000);
    assert.deepEqual(await statuses('after'), [401, 200]);
    api.clock.now = now;
  });

  test('ends the old secret by the clock of the database, whatever the clocks of others say [EXC-47]', async () => {
    const key = { organisationId: t.tenant.organisationId, connectionId: t.connection.id };
    const body = JSON.stringify(accepted());
    const later = new Date(api.clock.now.getTime() + HOUR_MS);
    await rotateSecret({ ...rotating(), now: later }, key, { overlapSeconds: 0 });
    assert.equal((await callback(body)).status, 401, 'the clock of who rotated is ahead');
    const behind = await api.addNode({ aheadSeconds: -3_600 });
    const answer = await behind.call(`/exchange/connections/${t.connection.id}/callback`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-signature': sign(body) },
    });
    assert.equal(answer.status, 401, 'the clock of the node is behind');
    await behind.close();
  });

  test('notes what the secret was last used for [EXC-48]', async () => {
    await callback(accepted());
    const shown = await api.call(`/exchange/connections/${t.connection.id}`, { token: t.account.token });
    const secret = shown.json.secrets.find((one: { direction: string }) => one.direction === 'callback');
    assert.equal(secret.lastUsedFor, `callback ${t.deliveryId}`);
    assert.equal(secret.lastUsedAt, api.clock.now.toISOString());
  });

  test('keeps nothing of an id that is none, which a terminal would obey [EXC-48]', async () => {
    assert.equal((await callback(accepted('HIE-1', { deliveryId: '\u001b[2Jgone\n' }))).status, 404);
    const { rows } = await pool().query(
      'select last_used_for from exchange_secret where connection_id = $1 and last_used_for is not null',
      [t.connection.id],
    );
    assert.deepEqual(rows, [{ last_used_for: 'callback' }]);
  });
});
