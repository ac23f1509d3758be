/** The review of deliveries, over HTTP. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { updateConnection } from '../src/exchange/connections/connection.store.ts';
import { callDuring } from '../test-support/call-during.ts';
import { useExchangeCalls } from '../test-support/exchange/exchange-calls.ts';
import { connect, insertPatients, queue, rename } from '../test-support/exchange/exchange-records.ts';
import type { Json } from '../test-support/service/api.ts';

const { api, caller, address, get, post, pool } = await useExchangeCalls();

describe('/exchange/deliveries', () => {
  let connectionId: string;
  let patients: string[];

  /** Five patients with three deliveries each; the heads of the first two are held. */
  beforeEach(async () => {
    ({ id: connectionId } = await connect({ pool: pool(), keys: api.keys }, caller.tenant, { address }));
    patients = await insertPatients(pool(), caller.tenant, 5);
    await queue(pool(), caller.tenant, patients);
    await rename(pool(), caller.tenant, patients, 'a');
    await rename(pool(), caller.tenant, patients, 'b');
    for (const [index, reason] of ['retries_exhausted', 'refused_422'].entries())
      await hold(patients[index] ?? '', reason);
  });
  const hold = (patientId: string, reason: string) =>
    pool().query(
      `update exchange_head set held_at = now(), held_reason = $3, due_at = null, attempts = 9
       where organisation_id = $1 and patient_id = $2`,
      [caller.tenant.organisationId, patientId, reason],
    );
  const trace = async (patientId: string) => {
    const { rows } = await pool().query<{ action: string; outcome: string; purpose_of_use: string }>(
      `select action, outcome, purpose_of_use from access_log
       where organisation_id = $1 and patient_id = $2 order by occurred_at, sequence`,
      [caller.tenant.organisationId, patientId],
    );
    return rows;
  };
  const list = async (query = '', token?: string) => (await get(`/exchange/deliveries${query}`, token)).json;
  const heldIds = async () => (await list('?status=held')).items.map(({ id }: { id: string }) => id);

  test('lists by status, connection, patient and time [EXC-28]', async () => {
    assert.equal((await list()).items.length, 15);
    assert.equal((await list('?status=held')).items.length, 2);
    assert.equal((await list('?status=queued')).items.length, 13);
    assert.equal((await list('?status=delivered')).items.length, 0);
    assert.equal((await list(`?patient=${patients[0]}`)).items.length, 3);
    assert.equal((await list(`?connection=${connectionId}&status=held`)).items.length, 2);
    assert.equal((await list(`?connection=${crypto.randomUUID()}`)).items.length, 0);
    assert.equal((await list('?since=2100-01-01')).items.length, 0);
    assert.equal((await list('?since=2020-01-01&until=2100-01-01')).items.length, 15);
    assert.equal((await list('?until=2020-01-01')).items.length, 0);
    const [held] = (await list(`?status=held&patient=${patients[0]}`)).items;
    assert.deepEqual(
      [held.sequence, held.event, held.status, held.heldReason, held.nextAttemptAt],
      [1, 'patient.created', 'held', 'retries_exhausted', null],
    );
    for (const bad of [
      '?status=lost',
      '?connection=x',
      '?patient=x',
      '?since=yesterday',
      '?limit=0',
      '?limit=101',
      '?cursor=x',
    ])
      assert.equal((await get(`/exchange/deliveries${bad}`)).status, 400, bad);
  });

  test('pages without losing or repeating any', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: { id: string }[]; nextCursor: string | null } = await list(
        `?limit=4${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.equal(new Set(seen).size, 15);
    assert.deepEqual(seen, seen.toSorted().reverse(), 'newest first');
    const foreign = (await list('?limit=4')).nextCursor;
    assert.equal((await get(`/exchange/deliveries?limit=4&status=held&cursor=${foreign}`)).status, 400);
  });

  test('reads one with its attempts and decisions, and its payload only with the permission, logged [EXC-33]', async () => {
    const [id = ''] = await heldIds();
    const patientId = (await get(`/exchange/deliveries/${id}`)).json.patientId;
    const nonce = crypto.randomUUID();
    await pool().query(
      `insert into exchange_attempt (organisation_id, connection_id, patient_id, sequence, nonce, started_at,
         duration_ms, outcome, status, response_hash, counted)
       values ($1, $2, $3, 1, $4, '2026-03-01T10:00:00Z', 12, 'failed', 503, '\\xab', true)`,
      [caller.tenant.organisationId, connectionId, patientId, nonce],
    );
    await post('/exchange/deliveries/replay', { deliveryIds: [id] });
    const { attempts, reviews, lastAttempt } = (await get(`/exchange/deliveries/${id}`)).json;
    assert.deepEqual(attempts, [
      {
        nonce,
        startedAt: '2026-03-01T10:00:00.000Z',
        durationMs: 12,
        outcome: 'failed',
        status: 503,
        failure: null,
        responseHash: 'ab',
        counted: true,
      },
    ]);
    assert.deepEqual(lastAttempt, {
      startedAt: '2026-03-01T10:00:00.000Z',
      outcome: 'failed',
      status: 503,
      failure: null,
    });
    assert.deepEqual([reviews[0].action, reviews[0].accountId], ['replay', caller.account.userId]);
    assert.ok(!(await get(`/exchange/deliveries/${id}`)).text.includes('Zoë'), 'no payload');

    const reader = await api.createAccount(caller.tenant, { permissions: ['exchange.deliveries.read'] });
    assert.equal((await get(`/exchange/deliveries/${id}/payload`, reader.token)).status, 403);
    const payload = await get(`/exchange/deliveries/${id}/payload`);
    assert.equal(payload.json.resource.id, patientId);
    const { rows } = await pool().query<{ body: string }>(
      'select body from exchange_delivery where id = $1',
      [id],
    );
    assert.equal(payload.text, rows[0]?.body, 'byte for byte');
    const read = (await trace(patientId)).filter(({ action }) => action === 'patient.delivery-payload.read');
    assert.deepEqual(read, [
      { action: 'patient.delivery-payload.read', outcome: 'allowed', purpose_of_use: 'OPS' },
    ]);
    await pool().query(
      `update patient set refused_purposes = '{RESEARCH}' where organisation_id = $1 and id = $2`,
      [caller.tenant.organisationId, patientId],
    );
    assert.equal((await get(`/exchange/deliveries/${id}/payload?purposeOfUse=RESEARCH`)).status, 403);
    assert.equal((await get(`/exchange/deliveries/${id}/payload?purposeOfUse=NONSENSE`)).status, 400);
  });

  test('traces each patient that a list or a delivery shows, once, before it is shown [EXC-32]', async () => {
    const [first = '', second = '', , , last = ''] = patients;
    const groups = await api.runtime.metrics.registry.getSingleMetric('interchange_access_log_groups_total');
    const written = async () => (await groups?.get())?.values[0]?.value ?? 0;
    const before = await written();
    await list('?limit=100');
    assert.equal((await written()) - before, 1, 'one write for the page');
    for (const patientId of patients)
      assert.deepEqual(await trace(patientId), [
        { action: 'delivery.list', outcome: 'allowed', purpose_of_use: 'OPS' },
      ]);
    await list(`?patient=${first}&purposeOfUse=TREATMENT`);
    const [held] = (await list(`?status=held&patient=${first}`)).items;
    await get(`/exchange/deliveries/${held.id}`);
    assert.deepEqual(
      (await trace(first)).slice(1).map(({ action, purpose_of_use }) => [action, purpose_of_use]),
      [
        ['delivery.list', 'TREATMENT'],
        ['delivery.list', 'OPS'],
        ['delivery.read', 'OPS'],
      ],
    );
    assert.equal((await trace(second)).length, 1);
    assert.equal((await trace(last)).length, 1);
  });

  test('names no patient who refuses the purpose, and still lets the delivery be reviewed [EXC-32]', async () => {
    const [refusing = ''] = patients;
    await pool().query(
      `update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = $2`,
      [caller.tenant.organisationId, refusing],
    );
    const all = await get('/exchange/deliveries?limit=100');
    assert.ok(!all.text.includes(refusing));
    const hidden = all.json.items.filter(({ patientId }: { patientId: string | null }) => patientId === null);
    assert.equal(hidden.length, 3);
    const held = hidden.find(({ status }: { status: string }) => status === 'held');
    assert.deepEqual([held.heldReason, held.confirmation], ['retries_exhausted', null]);
    assert.equal((await get(`/exchange/deliveries/${held.id}`)).status, 403);
    assert.equal((await get(`/exchange/deliveries?patient=${refusing}`)).status, 403);
    assert.deepEqual(
      (await trace(refusing)).map(({ action, outcome }) => [action, outcome]),
      [
        ['delivery.list', 'refused'],
        ['delivery.read', 'refused'],
        ['delivery.list', 'refused'],
      ],
    );
    const treating = await get(`/exchange/deliveries/${held.id}?purposeOfUse=TREATMENT`);
    assert.equal(treating.json.patientId, refusing);
    assert.equal((await get('/exchange/deliveries?purposeOfUse=NONSENSE')).status, 400);
    assert.equal(
      (await post('/exchange/deliveries/skip', { deliveryIds: [held.id], reason: 'x' })).json.count,
      1,
    );
  });

  test('asks about the patient of a list or a review, also where nothing is found [EXC-32, LOG-7]', async () => {
    const [patientId = ''] = await insertPatients(pool(), caller.tenant, 1);
    const lists = `/exchange/deliveries?patient=${patientId.toUpperCase()}`;
    const review = () => post('/exchange/deliveries/replay', { patientId });
    assert.deepEqual((await get(lists)).json.items, []);
    assert.equal((await review()).json.count, 0);
    await pool().query(
      `update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = $2`,
      [caller.tenant.organisationId, patientId],
    );
    assert.equal((await get(lists)).status, 403);
    assert.equal((await review()).status, 403);
    assert.deepEqual(
      (await trace(patientId)).map(({ action, outcome }) => [action, outcome]),
      ['allowed', 'allowed', 'refused', 'refused'].map((outcome) => ['delivery.list', outcome]),
    );
    const elsewhere = await api.createTenant();
    const [foreign = ''] = await insertPatients(pool(), elsewhere, 1);
    for (const id of [foreign, crypto.randomUUID()])
      assert.deepEqual((await get(`/exchange/deliveries?patient=${id}`)).json, {
        items: [],
        nextCursor: null,
      });
    assert.deepEqual(await trace(foreign), []);
  });

  test('does not tell of which of two patients a held delivery is, where they refuse [EXC-32]', async () => {
    const [id = ''] = await heldIds();
    await pool().query(`update patient set refused_purposes = '{OPS}' where organisation_id = $1`, [
      caller.tenant.organisationId,
    ]);
    for (const patientId of patients.slice(0, 2)) {
      const before = await trace(patientId);
      const review = await post('/exchange/deliveries/replay', {
        deliveryIds: [id],
        patientId,
        dryRun: true,
      });
      assert.equal(review.status, 403);
      assert.deepEqual(
        (await trace(patientId)).slice(before.length).map(({ outcome }) => outcome),
        ['refused'],
      );
    }
  });

  test('replays by id and by filter, in place, and only says so with dryRun [EXC-29, EXC-31]', async () => {
    const dry = await post('/exchange/deliveries/replay', { dryRun: true });
    assert.deepEqual([dry.json.dryRun, dry.json.count, dry.json.deliveryIds.length], [true, 2, 2]);
    assert.deepEqual((await post('/exchange/deliveries/replay?dryRun=true', {})).json, dry.json);
    assert.equal((await heldIds()).length, 2);
    const filtered = await post('/exchange/deliveries/replay', { heldReason: 'refused_422' });
    assert.deepEqual([filtered.json.dryRun, filtered.json.count], [false, 1]);
    const [id = ''] = await heldIds();
    assert.equal((await post('/exchange/deliveries/replay', { deliveryIds: [id] })).json.count, 1);
    const { rows } = await pool().query(
      'select sequence, attempts, held_at, due_at <= now() as due from exchange_head where organisation_id = $1',
      [caller.tenant.organisationId],
    );
    assert.ok(
      rows.every((row) => row.sequence === 1 && row.attempts === 0 && row.held_at === null && row.due),
    );
    for (const dryRun of [false, true]) {
      const { status } = await post('/exchange/deliveries/replay', { deliveryIds: [id], dryRun });
      assert.equal(status, 409, 'not held any more');
    }
  });

  test('says how many are held again, because their connection does not cover the facility [EXC-59]', async () => {
    const before = await post('/exchange/deliveries/replay', { dryRun: true });
    assert.deepEqual([before.json.count, before.json.heldAgain], [2, undefined]);
    const elsewhere = await api.createFacility(caller.tenant.organisationId);
    await updateConnection(pool(), { ...caller.tenant, connectionId }, { facilityIds: [elsewhere] });
    for (const dryRun of [true, false]) {
      const { json } = await post('/exchange/deliveries/replay', { dryRun });
      assert.deepEqual([json.count, json.heldAgain], [2, 2]);
    }
  });

  test('keeps on record how many deliveries were decided about, and by what filter [ADM-35]', async () => {
    const record = async () =>
      (await get('/administration/audit')).json.items
        .filter(({ action }: { action: string }) => action.startsWith('delivery.'))
        .map(({ action, subject, facilityId, after: kept }: Json) => ({ action, subject, facilityId, kept }));
    await post('/exchange/deliveries/replay', { dryRun: true });
    await post('/exchange/deliveries/replay', { heldReason: 'of nothing' });
    assert.deepEqual(await record(), [], 'nothing was changed');
    const [id = ''] = await heldIds();
    await post('/exchange/deliveries/skip', { deliveryIds: [id], reason: 'entered twice' });
    const since = '2020-01-01T00:00:00.000Z';
    await post('/exchange/deliveries/replay', { since });
    const { facilityId } = caller.tenant;
    const subject = { type: 'deliveries', id: facilityId };
    assert.deepEqual(await record(), [
      { action: 'delivery.replay', subject, facilityId, kept: { count: 1, since } },
      { action: 'delivery.skip', subject, facilityId, kept: { count: 1, named: 1 } },
    ]);
  });

  test('refuses a filter that it does not know, rather than take it for none', async () => {
    for (const body of [{ connection: connectionId }, { conectionId: connectionId }, { status: 'held' }]) {
      const replayed = await post('/exchange/deliveries/replay', body);
      assert.equal(replayed.status, 400, JSON.stringify(body));
      assert.equal((await post('/exchange/deliveries/skip', { ...body, reason: 'x' })).status, 400);
    }
    for (const name of ['connectionId', 'patientId']) {
      const { status, json } = await post('/exchange/deliveries/replay', { [name]: 'x' });
      assert.deepEqual([status, json.message], [400, `${name} must be a UUID.`]);
    }
    assert.equal((await heldIds()).length, 2);
  });

  test('decides on an id only when the rest of the filter fits it, and on nothing when one does not fit', async () => {
    const ids = await heldIds();
    const [fits = '', other = ''] = ids;
    const { patientId, heldReason } = (await get(`/exchange/deliveries/${fits}`)).json;
    const decideOn = (body: object) => post('/exchange/deliveries/replay', { deliveryIds: [fits], ...body });
    for (const body of [
      { connectionId: crypto.randomUUID() },
      { patientId: crypto.randomUUID() },
      { heldReason: 'refused_400' },
      { since: '2100-01-01' },
      { until: '2020-01-01' },
      { deliveryIds: [fits, other], heldReason },
      { dryRun: true, heldReason: 'refused_400' },
    ])
      assert.equal((await decideOn(body)).status, 409, JSON.stringify(body));
    assert.deepEqual(await heldIds(), ids);
    assert.equal((await decideOn({ connectionId, patientId, heldReason })).json.count, 1);
  });

  test('decides on nothing when one that is named is replayed by somebody else at the same time [EXC-29]', async () => {
    const [first = '', second = ''] = await heldIds();
    const { status } = await callDuring(pool(), {
      change: (client) =>
        client.query(
          `update exchange_head h set held_at = null, held_reason = null, due_at = now()
           from exchange_delivery d
           where d.id = $1
             and (h.organisation_id, h.connection_id, h.patient_id) = (d.organisation_id, d.connection_id, d.patient_id)`,
          [first],
        ),
      call: () => post('/exchange/deliveries/replay', { deliveryIds: [first, second] }),
    });
    assert.equal(status, 409);
    assert.deepEqual(await heldIds(), [second]);
  });

  test('traces the patient whose deliveries are asked for, and tells nothing where the purpose is refused', async () => {
    const [held = '', refusing = '', free = ''] = patients;
    const dry = (patientId: string) => post('/exchange/deliveries/replay', { patientId, dryRun: true });
    assert.equal((await dry(held)).json.count, 1);
    assert.equal((await dry(free)).json.count, 0);
    assert.deepEqual(await trace(held), [
      { action: 'delivery.list', outcome: 'allowed', purpose_of_use: 'OPS' },
    ]);
    await pool().query(
      `update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = $2`,
      [caller.tenant.organisationId, refusing],
    );
    assert.equal((await dry(refusing)).status, 403);
    assert.equal((await post('/exchange/deliveries/replay', { patientId: refusing })).status, 403);
    assert.equal((await post('/exchange/deliveries/skip', { patientId: refusing, reason: 'x' })).status, 403);
    assert.equal((await heldIds()).length, 2, 'nothing was done');
    assert.deepEqual(
      (await trace(refusing)).filter(({ outcome }) => outcome === 'refused').length >= 3,
      true,
    );
    const [id] = (await get('/exchange/deliveries?status=held&purposeOfUse=TREATMENT')).json.items
      .filter(({ patientId }: { patientId: string }) => patientId === refusing)
      .map((item: { id: string }) => item.id);
    assert.equal((await post('/exchange/deliveries/replay', { deliveryIds: [id] })).json.count, 1);
  });

  test('skips for no reason that a terminal would obey', async () => {
    for (const reason of ['', ' ', 'a\nb', '\u001b[2Jgone', 'bell\u0007'])
      assert.equal((await post('/exchange/deliveries/skip', { reason })).status, 400, JSON.stringify(reason));
    assert.equal((await heldIds()).length, 2);
  });

  test('skips with a reason, and what is behind goes on [EXC-30]', async () => {
    assert.equal((await post('/exchange/deliveries/skip', {})).status, 400, 'a reason is needed');
    const [id = ''] = await heldIds();
    const skipped = await post('/exchange/deliveries/skip', { deliveryIds: [id], reason: 'entered twice' });
    assert.equal(skipped.json.count, 1);
    const read = (await get(`/exchange/deliveries/${id}`)).json;
    assert.equal(read.status, 'skipped');
    assert.deepEqual([read.reviews[0].action, read.reviews[0].reason], ['skip', 'entered twice']);
    const { rows } = await pool().query(
      'select sequence, due_at <= now() as due from exchange_head where organisation_id = $1 and patient_id = $2',
      [caller.tenant.organisationId, read.patientId],
    );
    assert.deepEqual(rows, [{ sequence: 2, due: true }]);
    const [listed, ...others] = (await list('?status=skipped')).items;
    assert.deepEqual(others, []);
    assert.deepEqual(listed.lastReview, read.reviews[0]);
    assert.deepEqual(
      [listed.lastReview.action, listed.lastReview.reason, listed.lastReview.accountId],
      ['skip', 'entered twice', caller.account.userId],
    );
    await pool().query(
      `update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = $2`,
      [caller.tenant.organisationId, read.patientId],
    );
    const [unnamed] = (await list('?status=skipped')).items;
    assert.deepEqual(
      unnamed.lastReview,
      { ...listed.lastReview, reason: null },
      'the reason may name the patient',
    );
    await pool().query(`update patient set refused_purposes = '{}' where organisation_id = $1 and id = $2`, [
      caller.tenant.organisationId,
      read.patientId,
    ]);
    for (let rest = 0; rest < 2; rest += 1) {
      await hold(read.patientId, 'refused_400');
      await post('/exchange/deliveries/skip', { patientId: read.patientId, reason: 'all of them' });
    }
    const left = await pool().query(
      'select from exchange_head where organisation_id = $1 and patient_id = $2',
      [caller.tenant.organisationId, read.patientId],
    );
    assert.equal(left.rowCount, 0);
    assert.equal(await rename(pool(), caller.tenant, [read.patientId], 'later'), 1, 'the lane goes on');
  });

  test('shows and decides nothing of other facilities and tenants', async () => {
    const [id = ''] = await heldIds();
    const stranger = await api.createAccount(await api.createTenant());
    const facilityId = await api.createFacility(caller.tenant.organisationId);
    const neighbour = await api.createAccount(
      { ...caller.tenant, facilityId },
      { facilityIds: [facilityId] },
    );
    for (const { token } of [stranger, neighbour]) {
      assert.deepEqual((await list('', token)).items, []);
      assert.equal((await get(`/exchange/deliveries/${id}`, token)).status, 404);
      assert.equal((await get(`/exchange/deliveries/${id}/payload`, token)).status, 404);
      assert.equal((await post('/exchange/deliveries/replay', { deliveryIds: [id] }, token)).status, 404);
      assert.equal(
        (await post('/exchange/deliveries/skip', { deliveryIds: [id], reason: 'x' }, token)).status,
        404,
      );
      assert.equal((await post('/exchange/deliveries/replay', {}, token)).json.count, 0);
    }
    assert.equal((await heldIds()).length, 2);
    const reader = await api.createAccount(caller.tenant, { permissions: ['exchange.deliveries.read'] });
    assert.equal((await post('/exchange/deliveries/replay', {}, reader.token)).status, 403);
    assert.equal((await get('/exchange/deliveries/nonsense')).status, 404);
    assert.equal((await post('/exchange/deliveries/replay', { deliveryIds: ['nonsense'] })).status, 404);
    assert.equal((await post('/exchange/deliveries/replay', { deliveryIds: [] })).status, 400);
    assert.equal((await post('/exchange/deliveries/replay', { since: 'yesterday' })).status, 400);
  });

  test('tells Prometheus what waits and what is held [EXC-28, EXC-52]', async () => {
    const text = await api.runtime.metrics.registry.metrics();
    const value = (name: string) =>
      Number(new RegExp(`^${name}\\{connection="${connectionId}"\\} (\\S+)`, 'm').exec(text)?.[1]);
    assert.equal(value('interchange_exchange_held'), 2);
    assert.equal(value('interchange_exchange_queued'), 13);
    assert.equal(value('interchange_exchange_circuit_open'), 0);
    assert.ok(value('interchange_exchange_oldest_waiting_seconds') >= 0);
  });
});
