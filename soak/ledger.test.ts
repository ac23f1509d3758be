/** A soak that finds nothing is worth as much as its checks: each fault that they are for is seen. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Arrival,
  type Finding,
  isGood,
  judgeDeliveries,
  judgePresence,
  judgeProvoked,
  judgePublishes,
  judgeValues,
} from './ledger.ts';

const arrival = (patient: number, round: number, more: Partial<Arrival> = {}): Arrival => ({
  deliveryId: `${patient}-${round}`,
  patient,
  round,
  sequence: round,
  nonce: `${patient}-${round}-1`,
  signed: true,
  ...more,
});
const counts = ({ lost, wrong }: Finding) => ({ lost, wrong });

describe('deliveries', () => {
  const rounds = new Map([
    [1, 3],
    [2, 1],
  ]);
  const all = [arrival(1, 1), arrival(2, 1), arrival(1, 2), arrival(1, 3)];
  const judged = (arrivals: Arrival[]) => judgeDeliveries({ rounds, arrivals });

  test('are good when each arrived in the order of its patient, also twice', () => {
    const again = arrival(1, 1, { nonce: 'again' });
    assert.ok(judged([...all.slice(0, 2), again, ...all.slice(2), again]).every(isGood));
  });

  test('are lost when a change arrived nowhere', () => {
    const [delivered] = judged(all.filter(({ deliveryId }) => deliveryId !== '2-1'));
    assert.deepEqual(counts(delivered as Finding), { lost: 1, wrong: 0 });
    assert.equal(delivered?.found, 3);
    const [last] = judged(all.slice(0, -1));
    assert.deepEqual(counts(last as Finding), { lost: 1, wrong: 0 });
  });

  test('are wrong when a later one came first, when one was left out, and when nobody asked for one', () => {
    const swapped = [arrival(1, 2), arrival(1, 1), arrival(1, 3), arrival(2, 1)];
    const [delivered] = judged(swapped);
    assert.ok((delivered?.wrong ?? 0) > 0);
    const [skipped] = judged([...all, arrival(2, 2, { sequence: 3 })]);
    assert.equal(skipped?.wrong, 1);
    const [old] = judged([...all, arrival(1, 1, { deliveryId: 'new', sequence: 4 })]);
    assert.equal(old?.wrong, 1, 'an old content under a new sequence');
    const doubled = [
      ...all.slice(0, 3),
      arrival(1, 2, { deliveryId: 'again', sequence: 3 }),
      arrival(1, 3, { sequence: 4 }),
    ];
    const [twice] = judged(doubled);
    assert.equal(twice?.wrong, 1, 'one change under two delivery ids');
    const [stranger] = judged([...all, arrival(9, 1)]);
    assert.equal(stranger?.wrong, 1);
  });

  test('are wrong when a signature was not good', () => {
    const [, signed] = judged([...all, arrival(1, 3, { signed: false })]);
    assert.deepEqual(counts(signed as Finding), { lost: 0, wrong: 1 });
  });
});

test('a soak in which the exchange never failed is no soak', () => {
  const many = Array.from({ length: 300 }, (_, index) => arrival(1, index + 1));
  assert.ok(!isGood(judgeProvoked({ arrivals: many, provoked: 0 })));
  assert.ok(isGood(judgeProvoked({ arrivals: many, provoked: 20 })));
});

test('what was answered and is not there is lost', () => {
  assert.deepEqual(judgePresence('x', ['a', 'b', 'a'], new Set(['a'])), {
    what: 'x',
    expected: 2,
    found: 1,
    lost: 1,
    wrong: 0,
  });
  assert.ok(isGood(judgePresence('x', ['a'], new Set(['a', 'z']))));
});

test('a value that is not the one that was answered is wrong', () => {
  const expected = new Map([
    ['a', '1'],
    ['b', '2'],
    ['c', '3'],
  ]);
  const found = new Map([
    ['a', '1'],
    ['b', '1'],
  ]);
  assert.deepEqual(counts(judgeValues('x', expected, found)), { lost: 1, wrong: 1 });
});

test('a publish is lost where the server has it in no version or an older one, and wrong where it has it twice', () => {
  const published = [
    { local: 'Observation/1', remote: 'Observation/a', version: 2 },
    { local: 'Observation/2', remote: 'Observation/b', version: 1 },
  ];
  const remote = [
    { key: 'Observation/a', version: 2, identity: 's|1' },
    { key: 'Observation/b', version: 3, identity: 's|2' },
  ];
  assert.ok(isGood(judgePublishes(published, remote)));
  assert.deepEqual(counts(judgePublishes(published, remote.slice(0, 1))), { lost: 1, wrong: 0 });
  const older = [{ ...remote[0], version: 1 } as (typeof remote)[0], ...remote.slice(1)];
  assert.deepEqual(counts(judgePublishes(published, older)), { lost: 1, wrong: 0 });
  const twice = [...remote, { key: 'Observation/c', version: 1, identity: 's|2' }];
  assert.deepEqual(counts(judgePublishes(published, twice)), { lost: 0, wrong: 1 });
  const nameless = [...remote, { key: 'Observation/d', version: 1, identity: '' }];
  assert.deepEqual(counts(judgePublishes(published, nameless)), { lost: 0, wrong: 1 });
});
