/** What a callback of an exchange does. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { useCallbacks } from '../test-support/exchange/callback-calls.ts';
import { connect, queue, rename } from '../test-support/exchange/exchange-records.ts';

const { t, api, pool, sign, callback, accepted, counts } = await useCallbacks();

async function fhirPatient(id = t.patientId) {
  return (await api.call(`/patients/base/${id}/clinical/fhir`, { token: t.account.token })).json;
}

describe('callback', () => {
  test('records the assigned id on the patient, as an identifier of the FHIR Patient and for search [PAT-8, EXC-34]', async () => {
    const before = await fhirPatient();
    const answer = await callback(accepted('HIE-77', { message: 'welcome' }));
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.json, { deliveryId: t.deliveryId, status: 'accepted', assignedId: 'HIE-77' });
    const after = await fhirPatient();
    assert.deepEqual(after.identifier.at(-1), {
      system: `urn:uuid:${t.connection.id}`,
      value: 'HIE-77',
      assigner: { display: 'Test exchange' },
    });
    assert.equal(after.identifier.length, before.identifier.length + 1);
    assert.notEqual(after.meta.versionId, before.meta.versionId);
    const found = await api.call('/patients/base?search=hie-77', { token: t.account.token });
    assert.deepEqual(
      found.json.items.map((item: { id: string }) => item.id),
      [t.patientId],
    );
  });

  test('causes no delivery: an assigned id is not a change of the patient [EXC-44]', async () => {
    await callback(accepted());
    assert.equal(await queue(pool(), t.tenant, [t.patientId], 'updated'), 0);
    assert.equal(await rename(pool(), t.tenant, [t.patientId], 'New'), 1);
    const { rows } = await pool().query<{ body: string }>(
      'select body from exchange_delivery where organisation_id = $1 order by id desc limit 1',
      [t.tenant.organisationId],
    );
    assert.match(rows[0]?.body ?? '', /"value":"HIE-1"/);
  });

  test('is refused like any other when the stored secret cannot be read', async () => {
    await pool().query(
      `update exchange_secret set sealed = $2 where connection_id = $1 and direction = 'callback'`,
      [t.connection.id, Buffer.alloc(64)],
    );
    const answer = await callback(accepted());
    assert.equal(answer.status, 401, answer.text);
  });

  test('takes the digest with and without sha256=, in either case [EXC-35]', async () => {
    for (const [index, prefix] of ['sha256=', ''].entries()) {
      const body = JSON.stringify(accepted('HIE-1', { message: `m${index}` }));
      assert.equal((await callback(body, { signature: prefix + sign(body) })).status, 200);
      assert.equal((await callback(body, { signature: prefix + sign(body).toUpperCase() })).status, 200);
    }
  });

  test('answers a repeat of the same bytes as the first time and changes nothing, also at once [EXC-41]', async () => {
    const body = JSON.stringify(accepted());
    const answers = await Promise.all(Array.from({ length: 8 }, () => callback(body)));
    answers.push(await callback(body));
    assert.deepEqual(
      [...new Set(answers.map(({ status, text }) => `${status} ${text}`))],
      [`200 ${answers[0]?.text}`],
    );
    assert.deepEqual(await counts(), [1, 1]);
    const version = (await fhirPatient()).meta.versionId;
    await callback(body);
    assert.equal((await fhirPatient()).meta.versionId, version);
  });

  test('takes ids in either case, and answers with them as they are stored [EXC-35, EXC-41]', async () => {
    const body = JSON.stringify({ ...accepted(), deliveryId: t.deliveryId.toUpperCase() });
    for (const id of [t.connection.id, t.connection.id.toUpperCase()]) {
      const { status, json } = await callback(body, { id });
      assert.deepEqual(
        [status, json],
        [200, { deliveryId: t.deliveryId, status: 'accepted', assignedId: 'HIE-1' }],
        id,
      );
    }
    assert.deepEqual(await counts(), [1, 1]);
  });

  test('records a rejection and leaves the patient as it is [EXC-34, EXC-43]', async () => {
    const answer = await callback({
      deliveryId: t.deliveryId,
      status: 'rejected',
      message: 'no such district',
    });
    assert.deepEqual(
      [answer.status, answer.json],
      [200, { deliveryId: t.deliveryId, status: 'rejected', assignedId: null }],
    );
    assert.deepEqual(await counts(), [1, 0]);
    const listed = await api.call(`/exchange/deliveries/${t.deliveryId}`, { token: t.account.token });
    assert.deepEqual(listed.json.confirmation, { status: 'rejected', assignedId: null });
    await callback({ deliveryId: t.deliveryId, status: 'rejected', assignedId: 'HIE-1' });
    assert.deepEqual(await counts(), [2, 0], 'an id beside a rejection is assigned to nobody');
  });

  test('answers 409 to another id, keeps it for review and overwrites nothing [EXC-40]', async () => {
    await callback(accepted('HIE-1'));
    const second = JSON.stringify(accepted('HIE-2'));
    for (let time = 0; time < 2; time += 1) {
      const answer = await callback(second);
      assert.equal(answer.status, 409);
      assert.deepEqual(Object.keys(answer.json).sort(), ['error', 'message', 'statusCode']);
      assert.ok(!answer.text.includes('HIE-'));
    }
    assert.equal((await fhirPatient()).identifier.at(-1).value, 'HIE-1');
    const review = await api.call('/exchange/callbacks?outcome=conflict', { token: t.account.token });
    assert.deepEqual(
      review.json.items.map((item: { assignedId: string; deliveryId: string }) => [
        item.assignedId,
        item.deliveryId,
      ]),
      [['HIE-2', t.deliveryId]],
    );
    const { patientId } = review.json.items[0];
    const { rows } = await pool().query(
      `select outcome, purpose_of_use from access_log
       where organisation_id = $1 and patient_id = $2 and action = 'callback.list'`,
      [t.tenant.organisationId, patientId],
    );
    assert.deepEqual(rows, [{ outcome: 'allowed', purpose_of_use: 'OPS' }]);
    for (const [status, count] of Object.entries({ accepted: 2, rejected: 0 })) {
      const list = await api.call(`/exchange/callbacks?status=${status}`, { token: t.account.token });
      assert.equal(list.json.items.length, count, status);
    }
    await pool().query(
      `update patient set refused_purposes = '{PAYMENT}' where organisation_id = $1 and id = $2`,
      [t.tenant.organisationId, patientId],
    );
    const hidden = await api.call('/exchange/callbacks?purposeOfUse=PAYMENT', { token: t.account.token });
    assert.deepEqual(
      [hidden.json.items[0].patientId, hidden.json.items[0].assignedId, hidden.json.items[0].message],
      [null, null, null],
    );
    assert.ok(!hidden.text.includes(patientId) && !hidden.text.includes('HIE-'));
    assert.equal(
      (await callback(accepted('HIE-1', { message: 'again' }))).status,
      200,
      'the same id is no conflict',
    );
  });

  test('takes one of two ids that race [EXC-40]', async () => {
    const answers = await Promise.all(['A', 'B', 'C', 'D'].map((id) => callback(accepted(id))));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
    assert.deepEqual(await counts(), [4, 1]);
  });

  test('answers 404 to a delivery that is not of this connection [EXC-39]', async () => {
    const other = await connect({ pool: pool(), keys: api.keys }, t.tenant, {
      address: 'https://hie.example.org/2',
    });
    const body = JSON.stringify(accepted());
    const foreign = await callback(body, { id: other.id, signature: sign(body, other.callbackSecret) });
    const unknown = await callback({ ...accepted(), deliveryId: crypto.randomUUID() });
    const malformed = await callback({ ...accepted(), deliveryId: 'nonsense' });
    assert.deepEqual([foreign.status, unknown.status, malformed.status], [404, 404, 404]);
    assert.equal(foreign.text, unknown.text);
    // An exchange sends no facility headers, and is not told of them.
    assert.match(unknown.json.message, /deliveryId/);
    assert.doesNotMatch(unknown.json.message, /header|facility/i);
    assert.deepEqual(await counts(), [0, 0]);
  });

  test('answers 400 to what is signed and not a callback [EXC-38]', async () => {
    const bad = [
      '',
      'no json',
      '[]',
      '{}',
      'null',
      '"text"',
      JSON.stringify({ deliveryId: t.deliveryId, status: 'accepted' }),
      JSON.stringify({ deliveryId: t.deliveryId, status: 'maybe', assignedId: '1' }),
      JSON.stringify({ status: 'accepted', assignedId: '1' }),
      JSON.stringify({ deliveryId: t.deliveryId, status: 'accepted', assignedId: '' }),
      JSON.stringify({ deliveryId: t.deliveryId, status: 'accepted', assignedId: 7 }),
      JSON.stringify({ deliveryId: t.deliveryId, status: 'accepted', assignedId: 'x'.repeat(257) }),
      JSON.stringify({ deliveryId: t.deliveryId, status: 'accepted', assignedId: 'a\0b' }),
      JSON.stringify({ deliveryId: t.deliveryId, status: 'rejected', message: 7 }),
    ];
    for (const body of bad) {
      const answer = await callback(body);
      assert.equal(answer.status, 400, body);
      assert.equal(answer.json.statusCode, 400);
    }
    assert.equal((await callback(Buffer.from([0x7b, 0xff, 0x7d]))).status, 400);
    const long = await callback(
      JSON.stringify({ deliveryId: t.deliveryId, status: 'rejected', message: 'x'.repeat(4_001) }),
    );
    assert.equal(long.status, 400);
    assert.match(long.json.message, /a message of at most 4000/);
    assert.deepEqual(await counts(), [0, 0]);
  });

  test('takes no assigned id that nobody could see or type', async () => {
    for (const id of [
      ' ',
      '\t',
      '\u00a0',
      '\u200b',
      'a\nb',
      'a\u001b[2J',
      'a\u0007',
      'a\u2028b',
      'a\u0085b',
    ]) {
      const answer = await callback(accepted(id));
      assert.equal(answer.status, 400, JSON.stringify(id));
      assert.equal(
        (await callback({ deliveryId: t.deliveryId, status: 'rejected', assignedId: id })).status,
        400,
      );
    }
    assert.deepEqual(await counts(), [0, 0]);
    assert.equal((await callback(accepted('№ 12/é 3'))).status, 200);
  });

  test('answers 413 past 256 KiB and takes what is just below [HTTP-16, EXC-42]', async () => {
    const padded = (size: number) => {
      const body = JSON.stringify(accepted());
      return body + ' '.repeat(size - body.length);
    };
    assert.equal((await callback(padded(262_144))).status, 200);
    assert.equal((await callback(padded(262_145))).status, 413);
  });
});
