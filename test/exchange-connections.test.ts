/** Connections of the exchange, over HTTP. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { callDuring } from '../test-support/call-during.ts';
import { useExchangeCalls } from '../test-support/exchange/exchange-calls.ts';
import { connect } from '../test-support/exchange/exchange-records.ts';
import { startTestApi } from '../test-support/service/api.ts';

const { api, caller, address, get, post, pool } = await useExchangeCalls();

describe('/exchange/connections', () => {
  const create = (more: object = {}, token?: string) =>
    post('/exchange/connections', { name: 'HIE', address, clientId: 'clinic', ...more }, token);

  test('creates one, shows the secrets once, and lists it for the facility [EXC-1, EXC-45]', async () => {
    const created = await create();
    assert.equal(created.status, 201, created.text);
    assert.deepEqual(Object.keys(created.json).sort(), [
      'callbackSecret',
      'callbackUrl',
      'id',
      'outboundSecret',
    ]);
    const { id, outboundSecret, callbackSecret, callbackUrl } = created.json;
    assert.equal(callbackUrl, `${api.baseUrl}/exchange/connections/${id}/callback`);
    assert.notEqual(outboundSecret, callbackSecret);
    const listed = await get('/exchange/connections');
    assert.equal(listed.json.items.length, 1);
    assert.ok(!listed.text.includes(outboundSecret) && !listed.text.includes(callbackSecret));
    const { secrets, createdAt, ...view } = listed.json.items[0];
    assert.deepEqual(view, {
      id,
      organisationId: caller.tenant.organisationId,
      name: 'HIE',
      address,
      clientId: 'clinic',
      callbackHeader: 'x-signature',
      callbackUrl,
      identifierSystem: `urn:uuid:${id}`,
      purposeOfUse: 'OPS',
      maxInFlight: 16,
      timeoutMs: 10_000,
      facilityIds: [caller.tenant.facilityId],
      enabled: true,
      circuitOpenSince: null,
    });
    assert.deepEqual(
      secrets.map((secret: { direction: string; goodUntil: null; lastUsedAt: null }) => [
        secret.direction,
        secret.goodUntil,
        secret.lastUsedAt,
      ]),
      [
        ['outbound', null, null],
        ['callback', null, null],
      ],
    );
    assert.ok(!api.logs().includes(outboundSecret) && !api.logs().includes(callbackSecret));
    const { rows } = await pool().query<{ sealed: Buffer }>(
      'select sealed from exchange_secret where connection_id = $1',
      [id],
    );
    for (const { sealed } of rows)
      assert.ok(!sealed.includes(outboundSecret) && !sealed.includes(callbackSecret), 'sealed at rest');
    assert.ok(createdAt);
  });

  test('shows of each what is its own: facilities, secrets and state [EXC-49]', async () => {
    const { id } = (await create()).json;
    const facilityId = await api.createFacility(caller.tenant.organisationId);
    const facilityIds = [caller.tenant.facilityId, facilityId];
    const both = await api.createAccount(caller.tenant, { facilityIds });
    const body = { name: 'Another', address, clientId: 'clinic', facilityIds };
    const other = await post('/exchange/connections', body, both.token);
    assert.equal(other.status, 201, other.text);
    await pool().query('update exchange_circuit set opened_at = now() where connection_id = $1', [
      other.json.id,
    ]);
    const items: { id: string; facilityIds: string[]; secrets: object[]; circuitOpenSince: string | null }[] =
      (await get('/exchange/connections', both.token)).json.items;
    assert.deepEqual(
      items.map((one) => [one.id, one.facilityIds.length, one.secrets.length, one.circuitOpenSince === null]),
      [
        [other.json.id, 2, 2, false],
        [id, 1, 2, true],
      ],
    );
  });

  test('refuses settings that cannot be [SEC-24]', async () => {
    const bad: object[] = [
      { address: 'http://hie.example.org/in' },
      { address: 'http://10.0.0.8/in' },
      { address: 'https://169.254.169.254/latest' },
      { address: 'https://[fe80::1]/in' },
      { address: 'https://[::ffff:169.254.1.1]/in' },
      { address: 'https://0xa9fea9fe/in' },
      { address: 'https://0.0.0.0/in' },
      { address: 'https://user:secret@hie.example.org/in' },
      { address: 'https://hie.example.org/in#x' },
      { address: 'ftp://hie.example.org/in' },
      { address: 'hie.example.org' },
      { address: 'https://hie.example.org/in\n' },
      { address: 'https://hie.exa\r\nmple.org/in' },
      { address: 'http://127.0.0.1:9999/in' },
      { address: 'https://localhost/in' },
      { address: 'https://10.0.0.8/in' },
      { address: 'https://[::1]/in' },
      { address: 'https://[64:ff9b::a00:8]/in' },
      { address: 'https://[2002:a00:8::]/in' },
      { address: 'https://[::10.0.0.8]/in' },
      { address: 'https://[fd00::8]/in' },
      { clientId: 'two words' },
      { clientId: 'line\nbreak' },
      { callbackHeader: 'content-type' },
      { callbackHeader: 'Bad Header' },
      { callbackHeader: 'authorization' },
      { identifierSystem: 'not a uri' },
      { name: '' },
      { maxInFlight: 0 },
      { maxInFlight: 1.5 },
      { timeoutMs: 5 },
      { purposeOfUse: 'CURIOSITY' },
      { facilityIds: ['nonsense'] },
      { facilityIds: [] },
    ];
    for (const more of bad) {
      const answer = await create(more);
      assert.equal(answer.status, 400, JSON.stringify(more));
      assert.equal(answer.json.error, 'Bad Request');
    }
    assert.match((await create({ address: 'https://10.0.0.8/in' })).json.message, /address.*public internet/);
  });

  test('takes only what a terminal shows and does not obey', async () => {
    const bad: object[] = [
      { name: 'HIE\u001b[2J' },
      { name: 'HIE\u0007' },
      { name: 'HIE\u009b2J' },
      { name: 'one\u2028two' },
      { name: 'exchange \u202elanoitan' },
      { identifierSystem: 'urn:x:\u2066y' },
      { identifierSystem: 'urn:x:\u001b[2J' },
      { identifierSystem: 'urn:x:\u0085' },
    ];
    const { id } = (await create()).json;
    for (const body of bad) {
      assert.equal((await create(body)).status, 400, JSON.stringify(body));
      assert.equal((await patch(id, body)).status, 400, JSON.stringify(body));
    }
    assert.equal((await create({ name: 'Santé à Genève №1', identifierSystem: 'urn:x:é' })).status, 201);
  });

  test('takes texts of an earlier version that are sent again as they are', async () => {
    const { id } = (await create()).json;
    const texts = { name: 'exchange \u202elanoitan', identifierSystem: 'urn:x:\u2066y' };
    await api.database.pool.query({
      text: 'update exchange_connection set name = $2, identifier_system = $3 where id = $1',
      values: [id, texts.name, texts.identifierSystem],
    });
    const { status, json } = await patch(id, { ...texts, maxInFlight: 3 });
    assert.deepEqual([status, json.name, json.maxInFlight], [200, texts.name, 3]);
    assert.equal((await patch(id, { name: `${texts.name}!` })).status, 400);
  });

  test('takes no setting that it does not know', async () => {
    const { id } = (await create()).json;
    assert.equal((await create({ unknown: 1 })).status, 400);
    assert.equal((await create({ facilityId: caller.tenant.facilityId })).status, 400);
    assert.equal((await patch(id, { timeoutMS: 5_000 })).status, 400);
    assert.equal((await patch(id, { disabled: true })).status, 400);
    assert.equal(
      (await post(`/exchange/connections/${id}/rotate-secret`, { overlap: 0 })).status,
      400,
      'or the old secret would stay good',
    );
    assert.equal((await get(`/exchange/connections/${id}`)).json.secrets.length, 2);
  });

  test('takes no header for signatures that means something else or that every request has', async () => {
    for (const callbackHeader of [
      '__proto__',
      'constructor',
      'pragma',
      'sec-fetch-mode',
      'sec-websocket-key',
      'proxy-authenticate',
      'x-forwarded-proto',
      'x-forwarded-host',
      'x-idempotency-key',
      'x-real-ip',
      'x-correlation-id',
    ])
      assert.equal((await create({ callbackHeader })).status, 400, callbackHeader);
    assert.equal(
      (await create({ callbackHeader: 'Authorization' })).json.message.includes('another use'),
      true,
    );
    for (const callbackHeader of ['x-hub-signature-256', 'X-Hie.Signature']) {
      const { status, json } = await create({ callbackHeader });
      assert.equal(status, 201, callbackHeader);
      const made = (await get(`/exchange/connections/${json.id}`)).json;
      assert.equal(made.callbackHeader, callbackHeader.toLowerCase());
    }
  });

  const addressOf = async (id: string) => {
    const { rows } = await pool().query<{ address: string; operator_address: boolean }>(
      'select address, operator_address from exchange_connection where id = $1',
      [id],
    );
    return [rows[0]?.address, rows[0]?.operator_address];
  };
  const patch = (id: string, body: object, token = caller.account.token) =>
    api.call(`/exchange/connections/${id}`, { token, method: 'PATCH', body });

  test('keeps an address as it is sent to, and who set it', async () => {
    const { id } = (await create({ address: 'HTTPS://hie.example.org:443/a/../in' })).json;
    assert.deepEqual(await addressOf(id), ['https://hie.example.org/in', false]);
    const inside = await connect({ pool: pool(), keys: api.keys }, caller.tenant, {
      address: 'https://10.0.0.8',
      facilityIds: [caller.tenant.facilityId],
    });
    assert.deepEqual(await addressOf(inside.id), ['https://10.0.0.8/', true]);
    assert.equal((await patch(inside.id, { name: 'Renamed', address: 'https://10.0.0.8' })).status, 200);
    assert.deepEqual(
      await addressOf(inside.id),
      ['https://10.0.0.8/', true],
      'the address stays the operator’s',
    );
    assert.equal((await patch(inside.id, { address: 'https://10.0.0.9/' })).status, 400);
    assert.deepEqual(await addressOf(inside.id), ['https://10.0.0.8/', true]);
    assert.equal((await patch(inside.id, { address })).status, 200);
    assert.deepEqual(await addressOf(inside.id), [address, false]);
    assert.equal(
      (await patch(inside.id, { address: 'https://10.0.0.8/' })).status,
      400,
      'and does not come back',
    );
  });

  test('takes private addresses where the operator allows them', async () => {
    const allowing = await startTestApi({ env: { EXCHANGE_ALLOW_PRIVATE_ADDRESSES: 'true' } });
    try {
      const { token } = await allowing.createAccount(await allowing.createTenant());
      const open = (to: string) =>
        allowing.call('/exchange/connections', {
          token,
          method: 'POST',
          body: { name: 'HIE', address: to, clientId: 'clinic' },
        });
      assert.equal((await open('https://10.0.0.8/in')).status, 201);
      assert.equal((await open('http://127.0.0.1:9999/in')).status, 201);
      assert.equal((await open('https://169.254.169.254/')).status, 400);
      assert.equal((await open('http://10.0.0.8/in')).status, 400);
    } finally {
      await allowing.close();
    }
  });

  test('changes, disables, enables and rotates [EXC-49]', async () => {
    const { id, callbackSecret } = (await create()).json;
    const changed = await api.call(`/exchange/connections/${id}`, {
      token: caller.account.token,
      method: 'PATCH',
      body: { name: 'Other', timeoutMs: 5_000, address: 'https://hie.example.org/v2' },
    });
    assert.deepEqual(
      [changed.json.name, changed.json.timeoutMs, changed.json.address, changed.json.clientId],
      ['Other', 5_000, 'https://hie.example.org/v2', 'clinic'],
    );
    assert.equal((await post(`/exchange/connections/${id}/disable`)).json.enabled, false);
    assert.equal((await post(`/exchange/connections/${id}/enable`)).json.enabled, true);
    const rotated = await post(`/exchange/connections/${id}/rotate-secret`, {
      direction: 'callback',
      overlapSeconds: 60,
    });
    assert.deepEqual(Object.keys(rotated.json).sort(), [
      'callbackSecret',
      'callbackUrl',
      'id',
      'oldGoodUntil',
    ]);
    assert.notEqual(rotated.json.callbackSecret, callbackSecret);
    assert.equal(rotated.json.oldGoodUntil, new Date(api.clock.now.getTime() + 60_000).toISOString());
    const both = await post(`/exchange/connections/${id}/rotate-secret`, {});
    assert.ok(both.json.outboundSecret && both.json.callbackSecret);
    assert.equal((await get(`/exchange/connections/${id}`)).json.secrets.length, 5);
  });

  test('signs with the new secret when it is told to', async () => {
    const { id } = (await create()).json;
    const rotate = (body: object) => post(`/exchange/connections/${id}/rotate-secret`, body);
    const activate = (token?: string) =>
      post(`/exchange/connections/${id}/activate-secret`, undefined, token);
    const outbound = async () =>
      (await get(`/exchange/connections/${id}`)).json.secrets.filter(
        (secret: { direction: string }) => secret.direction === 'outbound',
      );
    assert.deepEqual((await activate()).json, {
      statusCode: 409,
      message: 'There is no new outbound secret to activate. Rotate the secret first.',
      error: 'Conflict',
    });
    const waiting = await rotate({ direction: 'outbound' });
    assert.deepEqual(Object.keys(waiting.json).sort(), [
      'callbackUrl',
      'id',
      'outboundActiveFrom',
      'outboundSecret',
    ]);
    assert.equal(waiting.json.outboundActiveFrom, null);
    assert.deepEqual(
      (await outbound()).map((secret: { activeFrom: string | null; goodUntil: string | null }) => [
        secret.activeFrom === null,
        secret.goodUntil,
      ]),
      [
        [false, null],
        [true, null],
      ],
      'the old one is good until the new one is activated',
    );
    const reader = await api.createAccount(caller.tenant, { permissions: ['exchange.deliveries.read'] });
    assert.equal((await activate(reader.token)).status, 403);
    const stranger = await api.createAccount(await api.createTenant());
    assert.equal((await activate(stranger.token)).status, 404);
    const activated = await activate();
    assert.equal(activated.status, 200, activated.text);
    const [old, current] = await outbound();
    assert.equal(old.goodUntil, current.activeFrom);
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const scheduled = await rotate({ activateAt: at });
    assert.equal(scheduled.json.outboundActiveFrom, at);
    const again = await rotate({ activateNow: true });
    assert.equal(again.json.discardedWaiting, true);
    for (const bad of [
      { activateAt: 'soon' },
      { activateAt: '2030-01-01' },
      { activateAt: '2020-01-01T00:00:00Z' },
      { activateAt: at, activateNow: true },
      { activateNow: true, direction: 'callback' },
    ])
      assert.equal((await rotate(bad)).status, 400, JSON.stringify(bad));
  });

  test('hides connections of other facilities and tenants [EXC-49]', async () => {
    const { id } = (await create()).json;
    const elsewhere = await api.createTenant();
    const stranger = await api.createAccount(elsewhere);
    const facilityId = await api.createFacility(caller.tenant.organisationId);
    const neighbour = await api.createAccount(
      { ...caller.tenant, facilityId },
      { facilityIds: [facilityId] },
    );
    for (const token of [stranger.token, neighbour.token]) {
      for (const path of [`/exchange/connections/${id}`]) assert.equal((await get(path, token)).status, 404);
      assert.equal((await post(`/exchange/connections/${id}/disable`, undefined, token)).status, 404);
      assert.equal((await post(`/exchange/connections/${id}/rotate-secret`, {}, token)).status, 404);
      assert.equal(
        (await api.call(`/exchange/connections/${id}`, { token, method: 'PATCH', body: { name: 'x' } }))
          .status,
        404,
      );
      assert.deepEqual((await get('/exchange/connections', token)).json.items, []);
    }
    assert.equal((await create({ facilityIds: [facilityId] })).status, 403, 'not a facility of the account');
    assert.equal((await get(`/exchange/connections/nonsense`)).status, 404);
  });

  test('leaves a connection of every facility to those who may use every facility', async () => {
    const whole = await connect({ pool: pool(), keys: api.keys }, caller.tenant, { address });
    await api.createFacility(caller.tenant.organisationId);
    assert.equal((await get(`/exchange/connections/${whole.id}`)).status, 200);
    assert.equal((await post(`/exchange/connections/${whole.id}/disable`)).status, 403);
  });

  describe('while somebody else changes it', () => {
    /**
     * Sends `call` while another change of the connection is under way. Once the call waits for it, `before` is done, and
     * that change ends.
     */
    const meanwhile = <T>(
      id: string,
      change: string,
      call: () => Promise<T>,
      before: () => Promise<unknown> = async () => undefined,
    ): Promise<T> =>
      callDuring(pool(), {
        change: (client) => client.query({ text: change, values: [id] }),
        call,
        meanwhile: before,
      });
    const EXTEND = 'update exchange_connection set all_facilities = true where id = $1';
    const TOUCH = 'update exchange_connection set version = version where id = $1';
    const narrow = (id: string) =>
      pool().query({
        text: 'update exchange_connection set all_facilities = false where id = $1',
        values: [id],
      });
    const act = (id: string, what: string, body?: object) =>
      post(`/exchange/connections/${id}/${what}`, body).then(({ status }) => status);

    test('leaves it to those who may use what it covers by then [EXC-49]', async () => {
      await api.createFacility(caller.tenant.organisationId);
      const { id } = (await create()).json;
      await post(`/exchange/connections/${id}/rotate-secret`, { direction: 'outbound' });
      const before = (await readRow(id)).address;
      const calls = [
        () => patch(id, { address: 'https://elsewhere.example.org/in' }).then(({ status }) => status),
        () => act(id, 'disable'),
        () => act(id, 'rotate-secret', {}),
        () => act(id, 'activate-secret'),
      ];
      for (const call of calls) {
        assert.equal(await meanwhile(id, EXTEND, call), 403);
        await narrow(id);
      }
      const { address: now, disabled_at: disabledAt, secrets } = await readRow(id);
      assert.deepEqual([now, disabledAt, secrets], [before, null, 3]);
    });

    for (const { what, statement, isExtended } of [
      { what: 'it covers', statement: EXTEND, isExtended: false },
      { what: 'it is to cover', statement: TOUCH, isExtended: true },
    ])
      test(`leaves it to those who may use by then what ${what} [EXC-49, ACC-18]`, async () => {
        const { organisationId, facilityId } = caller.tenant;
        const other = await api.createFacility(organisationId);
        const facilityIds = [facilityId, other];
        const account = await api.createAccount(caller.tenant, { facilityIds });
        const { id } = (await create()).json;
        const before = await get(`/exchange/connections/${id}`);
        const body = isExtended ? { facilityIds } : { name: 'Mine' };
        const change = () => patch(id, body, account.token).then(({ status }) => status);
        const lose = () =>
          pool().query({
            text: 'delete from account_facility where organisation_id = $1 and account_id = $2 and facility_id = $3',
            values: [organisationId, account.userId, other],
          });
        assert.equal(await meanwhile(id, statement, change, lose), 403);
        await narrow(id);
        assert.deepEqual((await get(`/exchange/connections/${id}`)).json, before.json);
      });

    test('keeps on record what each change found [ADM-31, ADM-34]', async () => {
      const { id } = (await create()).json;
      const rename = `update exchange_connection set name = 'Between' where id = $1`;
      assert.equal((await meanwhile(id, rename, () => patch(id, { name: 'HIE' }))).json.name, 'HIE');
      const { rows } = await pool().query({
        text: `
          select before, after
          from administration_audit
          where subject_id = $1
            and action = 'connection.change'`,
        values: [id],
      });
      assert.deepEqual(rows, [{ before: { name: 'Between' }, after: { name: 'HIE' } }]);
    });

    test('writes the connection once', async () => {
      const { id } = (await create()).json;
      for (const change of [
        () => patch(id, { name: 'Other', facilityIds: [caller.tenant.facilityId] }),
        () => post(`/exchange/connections/${id}/rotate-secret`, {}),
        () => post(`/exchange/connections/${id}/activate-secret`),
      ]) {
        const { version: before } = await readRow(id);
        assert.equal((await change()).status, 200);
        assert.equal((await readRow(id)).version, before + 1);
      }
    });

    async function readRow(id: string) {
      const { rows } = await pool().query({
        text: `
          select address, disabled_at, version, (
            select count(*)::integer from exchange_secret s where s.connection_id = c.id
          ) as secrets
          from exchange_connection c
          where id = $1`,
        values: [id],
      });
      return rows[0];
    }
  });

  test('needs its permission and the exchange module [EXC-49]', async () => {
    const reader = await api.createAccount(caller.tenant, { permissions: ['exchange.deliveries.read'] });
    assert.equal((await get('/exchange/connections', reader.token)).status, 403);
    assert.equal((await create({}, reader.token)).status, 403);
    const without = await api.createTenant({ modules: ['patients'] });
    const off = await api.createAccount(without);
    assert.equal((await get('/exchange/connections', off.token)).status, 403);
    assert.equal((await get('/exchange/deliveries', off.token)).status, 403);
  });
});
